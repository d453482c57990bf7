//===- Nvrtc.cpp - NVRTC for the host -------------------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of NVRTC that k3c binds, over the host's C++ compiler: a printed kernel becomes a
// shared object that the emulated driver loads where a cubin would be.
//
//===----------------------------------------------------------------------===//

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

namespace {

enum Code { Success = 0, InvalidInput = 3, Compilation = 6 };

struct Program {
  std::string text, name;
  std::string header, headerName;
  std::string image, log;
};

std::string contentsOf(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write(const std::filesystem::path &path, const std::string &text) {
  std::ofstream(path, std::ios::binary) << text;
}

} // namespace

extern "C" {

/// No release of NVRTC has this version: code in a cache cannot be mistaken for the real one's.
int nvrtcVersion(int *major, int *minor) {
  *major = 99;
  *minor = 0;
  return Success;
}

const char *nvrtcGetErrorString(int code) {
  return code == Compilation ? "NVRTC_ERROR_COMPILATION"
         : code              ? "NVRTC_ERROR_INVALID_INPUT"
                             : "NVRTC_SUCCESS";
}

int nvrtcCreateProgram(Program **program, const char *text, const char *name, int headers,
                       const char *const *header, const char *const *headerName) {
  if (headers != 1)
    return InvalidInput;
  *program = new Program{text, name, header[0], headerName[0], {}, {}};
  return Success;
}

int nvrtcDestroyProgram(Program **program) {
  delete *program;
  *program = nullptr;
  return Success;
}

/// The file NAME.cu holds the kernel NAME. The options name an architecture and say nothing to the
/// host. Products and sums stay apart: then every compiler gives the same bits.
int nvrtcCompileProgram(Program *program, int, const char *const *) {
  static std::atomic<unsigned> counter;
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() /
      ("k3-emulated-" + std::to_string(getpid()) + "-" + std::to_string(counter++));
  std::filesystem::create_directories(folder);
  const std::string kernel = program->name.substr(0, program->name.rfind('.'));
  write(folder / program->headerName, program->header);
  write(folder / "kernel.cpp", program->text + "\nK3_EMULATE(" + kernel + ")\n");
  const std::string at = folder.string();
  const std::string command = std::string(K3_EMULATOR_COMPILER) +
                              " -std=c++20 -O1 -march=native -ffp-contract=off -fno-exceptions "
                              "-shared -fPIC -include " K3_EMULATOR_SOURCE "/Device.h -I'" +
                              at + "' '" + at + "/kernel.cpp' -o '" + at + "/image.so' 2>'" + at +
                              "/log'";
  const int code = std::system(command.c_str());
  program->log = contentsOf(folder / "log");
  if (code == 0)
    program->image = contentsOf(folder / "image.so");
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return program->image.empty() ? Compilation : Success;
}

int nvrtcGetCUBINSize(Program *program, size_t *size) {
  *size = program->image.size();
  return Success;
}
int nvrtcGetCUBIN(Program *program, char *bytes) {
  std::memcpy(bytes, program->image.data(), program->image.size());
  return Success;
}
int nvrtcGetProgramLogSize(Program *program, size_t *size) {
  *size = program->log.size() + 1;
  return Success;
}
int nvrtcGetProgramLog(Program *program, char *text) {
  std::memcpy(text, program->log.c_str(), program->log.size() + 1);
  return Success;
}

} // extern "C"
