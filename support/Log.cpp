//===- Log.cpp - Messages to the person at the terminal -------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only file that sees spdlog, because its headers are slow to parse. Information is printed as
// it is; other levels carry their name in front.
//
//===----------------------------------------------------------------------===//

#include "support/Log.h"

#include "support/Format.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace k3 {

namespace {

/// "error: text" and "warning: text", but plain text for information.
class LineFormatter final : public spdlog::formatter {
public:
  void format(const spdlog::details::log_msg &message, spdlog::memory_buf_t &out) override {
    std::string_view prefix = message.level == spdlog::level::err     ? "error: "
                              : message.level == spdlog::level::warn  ? "warning: "
                              : message.level == spdlog::level::debug ? "debug: "
                                                                      : "";
    out.append(prefix.data(), prefix.data() + prefix.size());
    out.append(message.payload.data(), message.payload.data() + message.payload.size());
    out.push_back('\n');
  }
  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<LineFormatter>();
  }
};

spdlog::logger &logger() {
  static spdlog::logger instance = [] {
    spdlog::logger made("k3", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made.set_formatter(std::make_unique<LineFormatter>());
    made.flush_on(spdlog::level::trace);
    return made;
  }();
  return instance;
}

spdlog::string_view_t view(std::string_view text) { return {text.data(), text.size()}; }

} // namespace

void setLogLevel(LogLevel level) {
  switch (level) {
  case LogLevel::Error:
    return logger().set_level(spdlog::level::err);
  case LogLevel::Warning:
    return logger().set_level(spdlog::level::warn);
  case LogLevel::Info:
    return logger().set_level(spdlog::level::info);
  case LogLevel::Debug:
    return logger().set_level(spdlog::level::debug);
  }
}

void logError(std::string_view message) { logger().log(spdlog::level::err, view(message)); }
void logWarning(std::string_view message) { logger().log(spdlog::level::warn, view(message)); }
void logInfo(std::string_view message) { logger().log(spdlog::level::info, view(message)); }

int reportStatus(const Status &status) {
  if (!status.isOk())
    logError(printable(status.message()));
  return status.exitCode();
}

} // namespace k3
