//===- Nvrtc.cpp - NVIDIA's compiler, opened at run time ------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text is compiled from memory under a logical name and without line tables, so that the bytes
// do not depend on any folder.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cuda/Nvrtc.h"

#include "compiler/codegen/cuda/Header.h"

#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <sstream>
#include <vector>

namespace k3::cuda {

/// The library stays open for the life of the process: its threads may outlive the last compile.
template <typename Function> bool Nvrtc::bind(Function &function, const char *name) {
  function = reinterpret_cast<Function>(::dlsym(library_, name));
  return function != nullptr;
}

static std::vector<std::string> candidates(const std::string &path) {
  if (!path.empty())
    return {path};
  if (const char *variable = std::getenv("K3_NVRTC"))
    return {variable};
  std::vector<std::string> names;
  for (const char *file : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"})
    for (const char *folder : {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/lib/",
                               "/usr/local/cuda-13.0/lib64/", "/usr/local/cuda-13.0/lib/"})
      names.push_back(std::string(folder) + file);
  return names;
}

Result<Nvrtc> Nvrtc::open(const std::string &path) {
  Nvrtc nvrtc;
  std::string tried;
  for (const std::string &name : candidates(path)) {
    tried += (tried.empty() ? "" : ", ") + name;
    nvrtc.library_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!nvrtc.library_)
      continue;
    bool complete = nvrtc.bind(nvrtc.versionOf_, "nvrtcVersion") &&
                    nvrtc.bind(nvrtc.errorString_, "nvrtcGetErrorString") &&
                    nvrtc.bind(nvrtc.create_, "nvrtcCreateProgram") &&
                    nvrtc.bind(nvrtc.destroy_, "nvrtcDestroyProgram") &&
                    nvrtc.bind(nvrtc.compile_, "nvrtcCompileProgram") &&
                    nvrtc.bind(nvrtc.cubinSize_, "nvrtcGetCUBINSize") &&
                    nvrtc.bind(nvrtc.cubin_, "nvrtcGetCUBIN") &&
                    nvrtc.bind(nvrtc.logSize_, "nvrtcGetProgramLogSize") &&
                    nvrtc.bind(nvrtc.log_, "nvrtcGetProgramLog");
    int major = 0, minor = 0;
    if (!complete || nvrtc.versionOf_(&major, &minor) != 0)
      return Status::failed(name + ": is not NVRTC 12 or later; name another with --nvrtc");
    nvrtc.version_ = std::to_string(major) + "." + std::to_string(minor);
    return nvrtc;
  }
  return Status::failed("nvrtc: cannot be opened (tried " + tried +
                        "); install the CUDA toolkit or name the library with --nvrtc");
}

std::string Nvrtc::errorText(int code) const { return errorString_(code); }

std::string Nvrtc::options(const CudaTarget &target) {
  // Contraction into fused multiply-adds is the one freedom that is taken; the approximations of
  // fast math are not.
  return "--gpu-architecture=" + std::string(target.name) +
         " --std=c++17 --fmad=true --ptxas-options=-v";
}

/// The number before or after WORD in the assembler's report, or 0.
static int64_t reported(const std::string &log, const std::string &before,
                        const std::string &after) {
  int64_t most = 0;
  for (size_t at = log.find(after); at != std::string::npos; at = log.find(after, at + 1)) {
    size_t begin = log.rfind(before, at);
    if (begin != std::string::npos)
      most = std::max<int64_t>(most, std::atoll(log.c_str() + begin + before.size()));
  }
  return most;
}

Result<CudaCode> Nvrtc::compile(const CudaKernel &kernel, const CudaTarget &target) const {
  Program *program = nullptr;
  const char *header = kHeaderText, *headerName = kHeaderName;
  int code = create_(&program, kernel.text.c_str(), (kernel.name + ".cu").c_str(), 1, &header,
                     &headerName);
  if (code != 0)
    return Status::failed(kernel.name + ": nvrtc: " + errorText(code));
  std::vector<std::string> words;
  std::istringstream stream(options(target));
  for (std::string word; stream >> word;)
    words.push_back(word);
  std::vector<const char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(word.c_str());
  code = compile_(program, static_cast<int>(arguments.size()), arguments.data());
  size_t size = 0;
  std::string log;
  if (logSize_(program, &size) == 0 && size > 1) {
    log.resize(size);
    log_(program, log.data());
    log.resize(size - 1);
  }
  CudaCode result;
  if (code == 0 && cubinSize_(program, &size) == 0) {
    result.cubin.resize(size);
    code = cubin_(program, result.cubin.data());
  }
  destroy_(&program);
  if (code != 0 || result.cubin.empty())
    return Status::failed(kernel.name + ": nvrtc for " + std::string(target.name) + ": " +
                          errorText(code) + "; please report it with this text: " + log);
  result.registers = reported(log, "Used ", " registers");
  result.spillBytes = reported(log, ", ", " bytes spill stores");
  return result;
}

} // namespace k3::cuda
