//===- Process.cpp - What commands ask of the system ----------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The files under /proc are read as text; where they are missing an answer is unknown, not an
// error.
//
//===----------------------------------------------------------------------===//

#include "runtime/tools/Process.h"

#include "runtime/device/cpu/ThreadPool.h"
#include "support/Log.h"

#include <cstdio>
#include <ctime>
#include <new>
#include <string_view>

using namespace k3;

/// What follows PREFIX in the first line of the file at PATH that begins with it.
static std::string lineAfter(const char *path, std::string_view prefix) {
  std::string found;
  if (FILE *file = std::fopen(path, "r")) {
    char line[512];
    while (found.empty() && std::fgets(line, sizeof(line), file)) {
      const std::string_view text(line);
      if (text.starts_with(prefix))
        found = text.substr(prefix.size());
    }
    std::fclose(file);
  }
  while (!found.empty() && (found.back() == '\n' || found.back() == ' '))
    found.pop_back();
  const size_t begin = found.find_first_not_of(" \t:");
  return begin == std::string::npos ? std::string() : found.substr(begin);
}

uint64_t k3::peakMemory() {
  return std::strtoull(lineAfter("/proc/self/status", "VmHWM:").c_str(), nullptr, 10) * 1024;
}

std::string k3::processorName() {
  std::string name = lineAfter("/proc/cpuinfo", "model name");
  return name.empty() ? "unknown" : name;
}

std::string k3::utcNow() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

int k3::runOnKernelStack(const std::function<Status()> &work) {
  struct Call {
    const std::function<Status()> &work;
    Status status;
  } call{work, {}};
  const Status started = runOnKernelStack(
      [](void *context) {
        Call *call = static_cast<Call *>(context);
        // Arenas and staging report for themselves; what is left are the small things of the host.
        try {
          call->status = call->work();
        } catch (const std::bad_alloc &) {
          call->status = Status::failed("memory: the host has none left; free some memory");
        }
      },
      &call);
  return reportStatus(started.isOk() ? call.status : started);
}
