//===- Compile.cpp - All kernels of a plan through NVRTC ------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads take kernels one by one. What was compiled before lies in a folder under the hash of all
// that decides the bytes, and an unreadable file there is only a kernel to compile again.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cuda/Header.h"
#include "compiler/codegen/cuda/Nvrtc.h"
#include "support/File.h"
#include "support/Sha256.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>

namespace k3::cuda {

static std::string cacheFolder(const std::string &setting) {
  if (setting == "off")
    return "";
  if (!setting.empty())
    return setting;
  if (const char *variable = std::getenv("K3_CACHE"))
    return std::string(variable) == "off" ? "" : variable;
  const char *home = std::getenv("HOME");
  return home ? std::string(home) + "/.cache/k3" : "";
}

/// Two numbers on a line of their own, then the code.
static bool parseEntry(const std::string &bytes, CudaCode &code) {
  size_t begin = bytes.find('\n');
  long long registers = 0, spills = 0;
  if (begin == std::string::npos ||
      bytes.compare(begin + 1, 4,
                    "\x7f"
                    "ELF") != 0 ||
      std::sscanf(bytes.c_str(), "%lld %lld", &registers, &spills) != 2)
    return false;
  code = {bytes.substr(begin + 1), registers, spills};
  return true;
}

Result<std::vector<CudaCode>> compileForCuda(const std::vector<CudaKernel> &kernels,
                                             const CudaTarget &target,
                                             const CompileSettings &settings,
                                             std::string &version) {
  K3_ASSIGN_OR_RETURN(Nvrtc nvrtc, Nvrtc::open(settings.nvrtc));
  version = nvrtc.version();
  std::string folder = cacheFolder(settings.cache);
  std::error_code ignored;
  if (!folder.empty())
    std::filesystem::create_directories(folder, ignored);

  std::vector<CudaCode> codes(kernels.size());
  std::atomic<size_t> next{0};
  std::mutex mutex;
  size_t done = 0;
  Status failure;
  auto work = [&] {
    for (size_t i = next++; i < kernels.size(); i = next++) {
      auto start = std::chrono::steady_clock::now();
      const CudaKernel &kernel = kernels[i];
      std::string file;
      if (!folder.empty())
        if (Result<std::string> hash =
                sha256Hex(kernel.text + kHeaderText + nvrtc.version() + Nvrtc::options(target)))
          file = folder + "/" + *hash + ".cubin";
      bool known = false;
      if (!file.empty() && std::filesystem::exists(file, ignored))
        if (Result<std::string> bytes = readFile(file))
          known = parseEntry(*bytes, codes[i]);
      Status status;
      if (!known) {
        Result<CudaCode> code = nvrtc.compile(kernel, target);
        if (code) {
          codes[i] = std::move(*code);
          // A cache that cannot be written costs time only.
          if (!file.empty())
            (void)writeFileAtomic(file, std::to_string(codes[i].registers) + " " +
                                            std::to_string(codes[i].spillBytes) + "\n" +
                                            codes[i].cubin);
        } else {
          status = code.status();
        }
      }
      double ms =
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
              .count();
      std::lock_guard<std::mutex> lock(mutex);
      ++done;
      if (!status.isOk() && failure.isOk()) {
        failure = status;
        next = kernels.size();
      }
      if (settings.progress && !known)
        std::fprintf(stderr, "k3c: [%zu/%zu] %s  %.0f ms\n", done, kernels.size(),
                     kernel.name.c_str(), ms);
    }
  };
  unsigned count =
      settings.threads ? settings.threads : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> pool;
  for (unsigned i = 1; i < std::min<size_t>(count, kernels.size()); ++i)
    pool.emplace_back(work);
  work();
  for (std::thread &thread : pool)
    thread.join();
  K3_RETURN_IF_ERROR(failure);
  return codes;
}

} // namespace k3::cuda
