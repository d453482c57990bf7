//===- Report.cpp - Benchmarks as table and JSON --------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every number of the table is in the JSON too, with all its digits.
//
//===----------------------------------------------------------------------===//

#include "runtime/bench/Report.h"

#include <fmt/format.h>

using namespace k3;
using Json = nlohmann::json;

std::string k3::formatSeconds(double seconds) {
  const struct {
    double unit;
    const char *name;
  } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}};
  for (const auto &[unit, name] : units) {
    const double value = seconds / unit;
    if (value >= 100)
      return fmt::format("{:.0f} {}", value, name);
    if (value >= 10)
      return fmt::format("{:.1f} {}", value, name);
    if (value >= 1)
      return fmt::format("{:.2f} {}", value, name);
  }
  return fmt::format("{:.2f} us", seconds * 1e6);
}

std::string k3::modelTable(std::span<const ModelBenchCase> cases) {
  std::string text = fmt::format("{:>5} {:>8}  {:>11} {:>19}  {:>10} {:>10}  {:>10} {:>19}\n",
                                 "batch", "context", "first token", "(least to most)", "token p50",
                                 "p99", "tokens/s", "(least to most)");
  for (const ModelBenchCase &one : cases) {
    text += fmt::format("{:>5} {:>8}  {:>11} {:>19}  {:>10} {:>10}  {:>10.1f} {:>19}\n", one.batch,
                        one.context, formatSeconds(one.firstToken.median),
                        fmt::format("{} to {}", formatSeconds(one.firstToken.least),
                                    formatSeconds(one.firstToken.most)),
                        formatSeconds(one.token50), formatSeconds(one.token99), one.rate.median,
                        fmt::format("{:.1f} to {:.1f}", one.rate.least, one.rate.most));
  }
  return text;
}

static Json spreadJson(const Spread &spread) {
  return {{"median", spread.median}, {"least", spread.least}, {"most", spread.most}};
}

Json k3::subjectJson(const BenchSubject &subject) {
  return {{"k3", K3_VERSION},
          {"date", subject.date},
          {"plan", subject.plan},
          {"model", subject.model},
          {"target", subject.target},
          {"device", subject.device},
          {"threads", subject.threads ? Json(subject.threads) : Json()},
          {"weights", subject.weights},
          {"plan_bytes", subject.planBytes},
          {"host_peak_bytes", subject.hostPeakBytes}};
}

Json k3::modelJson(const BenchSubject &subject, const ModelBenchOptions &options,
                   std::span<const ModelBenchCase> cases) {
  Json json = subjectJson(subject);
  json["new_tokens"] = options.newTokens;
  json["repeats"] = options.repeats;
  json["cases"] = Json::array();
  for (const ModelBenchCase &one : cases) {
    json["cases"].push_back(
        {{"batch", one.batch},
         {"context", one.context},
         {"first_token_s", spreadJson(one.firstToken)},
         {"prefill_tokens_per_s", spreadJson(one.prefillRate)},
         {"token_s", {{"p50", one.token50}, {"p99", one.token99}, {"steps", one.steps}}},
         {"tokens_per_s", spreadJson(one.rate)},
         {"host_s_per_step", one.hostPerStep > 0 ? Json(one.hostPerStep) : Json()}});
  }
  return json;
}
