//===- Plot.cpp - A picture of a benchmark --------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both axes begin at zero, so a line that looks twice as high is. Lengths of prompts stand at equal
// distances: they are doublings more often than not.
//
//===----------------------------------------------------------------------===//

#include "runtime/bench/Plot.h"

#include "runtime/bench/Report.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <set>
#include <vector>

using namespace k3;

namespace {

constexpr double Width = 340, Height = 220, Left = 64, Top = 52, Gap = 84, Bottom = 64;
/// Colours that people with any sight of colours tell apart, on white.
constexpr const char *Colours[] = {"#0072b2", "#d55e00", "#009e73",
                                   "#cc79a7", "#56b4e9", "#e69f00"};

const char *colourOf(size_t line) { return Colours[line % std::size(Colours)]; }

std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else
      result += static_cast<unsigned char>(c) < 32 ? ' ' : c;
  }
  return result;
}

/// The least of 1, 2 or 5 times a power of ten that is at least VALUE.
double roundUp(double value) {
  const double power = std::pow(10, std::floor(std::log10(std::max(value, 1e-12))));
  for (double factor : {1.0, 2.0, 5.0})
    if (factor * power >= value * (1 - 1e-9))
      return factor * power;
  return 10 * power;
}

struct Value {
  double at, low, high; // the point and its whisker
};

struct Panel {
  std::string title;
  std::function<Value(const ModelBenchCase &)> value;
  std::function<std::string(double)> label; // of a tick
};

class Drawing {
public:
  Drawing(std::string_view title, std::span<const ModelBenchCase> cases);
  void add(const Panel &panel);
  std::string finish();

private:
  /// Where a line has its point; lines stand a little apart, so that their whiskers can be seen.
  double x(uint64_t context, double line) const;
  void line(double x1, double y1, double x2, double y2, const char *colour, double width);
  void text(double x, double y, const char *anchor, std::string_view words);
  void addAxes(const Panel &panel, double most);
  void addLines(const Panel &panel, double most);

  std::span<const ModelBenchCase> cases_;
  std::vector<uint64_t> batches_, contexts_;
  double left_ = Left; // of the panel at hand
  std::string svg_;
};

Drawing::Drawing(std::string_view title, std::span<const ModelBenchCase> cases) : cases_(cases) {
  std::set<uint64_t> batches, contexts;
  for (const ModelBenchCase &one : cases) {
    batches.insert(one.batch);
    contexts.insert(one.context);
  }
  batches_.assign(batches.begin(), batches.end());
  contexts_.assign(contexts.begin(), contexts.end());
  const double width = Left + 2 * Width + Gap + 24, height = Top + Height + Bottom;
  svg_ =
      fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
                  "height=\"{1}\" font-family=\"sans-serif\" font-size=\"11\" fill=\"#222\">\n"
                  "<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
                  width, height);
  text(Left, 20, "start", title);
  for (size_t i = 0; i < batches_.size(); ++i) {
    const double at = Left + 80 * static_cast<double>(i);
    line(at, height - 12, at + 18, height - 12, colourOf(i), 2);
    text(at + 22, height - 8, "start", fmt::format("batch {}", batches_[i]));
  }
}

double Drawing::x(uint64_t context, double line) const {
  const auto at = std::ranges::find(contexts_, context) - contexts_.begin();
  const double middle = (static_cast<double>(batches_.size()) - 1) / 2;
  return 5 * (line - middle) + left_ +
         Width * (static_cast<double>(at) + 0.5) / static_cast<double>(contexts_.size());
}

void Drawing::line(double x1, double y1, double x2, double y2, const char *colour, double width) {
  svg_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
                      "stroke-width=\"{}\"/>\n",
                      x1, y1, x2, y2, colour, width);
}

void Drawing::text(double x, double y, const char *anchor, std::string_view words) {
  svg_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y,
                      anchor, escaped(words));
}

void Drawing::addAxes(const Panel &panel, double most) {
  text(left_, Top - 10, "start", panel.title);
  for (int tick = 0; tick <= 4; ++tick) {
    const double y = Top + Height * (1 - tick / 4.0);
    line(left_, y, left_ + Width, y, tick ? "#ddd" : "#222", 1);
    text(left_ - 6, y + 4, "end", panel.label(most * tick / 4));
  }
  for (uint64_t context : contexts_)
    text(x(context, (static_cast<double>(batches_.size()) - 1) / 2), Top + Height + 16, "middle",
         fmt::format("{}", context));
  text(left_ + Width / 2, Top + Height + 32, "middle", "tokens of the prompt");
}

void Drawing::addLines(const Panel &panel, double most) {
  const auto y = [most](double value) { return Top + Height * (1 - value / most); };
  for (size_t i = 0; i < batches_.size(); ++i) {
    const ModelBenchCase *before = nullptr;
    const auto at = [&](uint64_t context) { return x(context, static_cast<double>(i)); };
    for (uint64_t context : contexts_) {
      const auto one = std::ranges::find_if(cases_, [&](const ModelBenchCase &candidate) {
        return candidate.batch == batches_[i] && candidate.context == context;
      });
      if (one == cases_.end())
        continue;
      const Value value = panel.value(*one);
      if (before)
        line(at(before->context), y(panel.value(*before).at), at(context), y(value.at), colourOf(i),
             2);
      line(at(context), y(value.low), at(context), y(value.high), colourOf(i), 1);
      svg_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n",
                          at(context), y(value.at), colourOf(i));
      before = &*one;
    }
  }
}

void Drawing::add(const Panel &panel) {
  double most = 0;
  for (const ModelBenchCase &one : cases_)
    most = std::max(most, panel.value(one).high);
  most = roundUp(most);
  addAxes(panel, most);
  addLines(panel, most);
  left_ += Width + Gap;
}

std::string Drawing::finish() {
  svg_ += "</svg>\n";
  return std::move(svg_);
}

} // namespace

std::string k3::plotModel(std::string_view title, std::span<const ModelBenchCase> cases) {
  Drawing drawing(title, cases);
  drawing.add(
      {"time of a token, p50 to p99",
       [](const ModelBenchCase &one) { return Value{one.token50, one.token50, one.token99}; },
       [](double value) { return value > 0 ? formatSeconds(value) : "0"; }});
  drawing.add({"new tokens a second, all sequences",
               [](const ModelBenchCase &one) {
                 return Value{one.rate.median, one.rate.least, one.rate.most};
               },
               [](double value) { return fmt::format("{:g}", value); }});
  return drawing.finish();
}
