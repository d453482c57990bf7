//===- Driver.cpp - The CUDA driver on a machine without a GPU ------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of libcuda.so.1 that the runtime binds, over host memory and images made by the
// emulated NVRTC. Every call is done when it returns; what kind of machine it is comes from the
// environment (docs/testing.md).
//
//===----------------------------------------------------------------------===//

#include "Block.h"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <map>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace k3::emulator;

namespace {

enum Code {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NoDevice = 100,
  InvalidImage = 200,
  NotFound = 500,
  LaunchFailed = 719
};

long setting(const char *name, long otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtol(text, nullptr, 10) : otherwise;
}

Order orderOfThreads() {
  const char *text = std::getenv("K3_EMULATED_ORDER");
  if (!text || std::strcmp(text, "forward") == 0)
    return {};
  if (std::strcmp(text, "backward") == 0)
    return {Order::Backward, 0};
  return {Order::Shuffled, std::strtoull(text, nullptr, 10)};
}

struct Image {
  void *library = nullptr;
  /// Kept open: the loader knows a library by its path, and this number is in it.
  int file = -1;
  k3_emulated_entry entry = nullptr;
  unsigned parameters = 0;
  unsigned char *shared = nullptr;
  k3_emulated_machine **machine = nullptr;
  unsigned sharedLimit = 48 * 1024;
};

/// One node of a graph, or one launch.
struct Launch {
  Image *image;
  unsigned blocks, threads, sharedBytes;
  std::vector<uint64_t> parameters;
};

struct Graph {
  std::vector<Launch> nodes;
};

struct Machine {
  BlockRunner runner{orderOfThreads()};
  std::map<void *, size_t> memory;
  size_t used = 0;
  std::string failure;

  static Machine &get() {
    static Machine machine;
    return machine;
  }

  int run(Launch &launch) {
    if (!failure.empty())
      return LaunchFailed; // as on a GPU, nothing works behind a fault
    std::vector<void *> pointers;
    for (uint64_t &parameter : launch.parameters)
      pointers.push_back(&parameter);
    *launch.image->machine = &runner.machine;
    for (unsigned block = 0; block < launch.blocks; ++block) {
      // What nobody wrote must not matter.
      std::memset(launch.image->shared, 0xff, launch.sharedBytes);
      if (const char *what =
              runner.run(launch.image->entry, pointers.data(), block, launch.threads)) {
        failure = what;
        return LaunchFailed;
      }
    }
    return Success;
  }
};

int makeLaunch(Launch &launch, Image *image, const unsigned (&grid)[3], const unsigned (&block)[3],
               unsigned sharedBytes, void **parameters) {
  if (!image || grid[0] == 0 || grid[1] != 1 || grid[2] != 1 || block[1] != 1 || block[2] != 1 ||
      block[0] == 0 || block[0] > 1024 || block[0] % 32 || sharedBytes > image->sharedLimit)
    return InvalidValue;
  launch = {image, grid[0], block[0], sharedBytes, {}};
  for (unsigned i = 0; i < image->parameters; ++i)
    launch.parameters.push_back(*static_cast<const uint64_t *>(parameters[i]));
  return Success;
}

/// The end of the section headers, which the linker writes last.
size_t sizeOfImage(const void *bytes) {
  Elf64_Ehdr head;
  std::memcpy(&head, bytes, sizeof head);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_machine == 190 /* CUDA */)
    return 0;
  return head.e_shoff + size_t(head.e_shentsize) * head.e_shnum;
}

int allocate(void **address, size_t bytes) {
  Machine &machine = Machine::get();
  const size_t limit = size_t(setting("K3_EMULATED_MEMORY_MIB", 16 * 1024)) << 20;
  if (bytes == 0)
    return InvalidValue;
  if (bytes > limit || machine.used > limit - bytes)
    return OutOfMemory;
  // A page that nobody may touch follows, and the last byte lies as close to it as alignment
  // allows.
  const size_t page = 4096, rounded = (bytes + 255) / 256 * 256;
  const size_t pages = (rounded + page - 1) / page * page;
  void *mapped = mmap(nullptr, pages + page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    return OutOfMemory;
  mprotect(static_cast<char *>(mapped) + pages, page, PROT_NONE);
  *address = static_cast<char *>(mapped) + (pages - rounded);
  std::memset(*address, 0xff, bytes);
  machine.memory[*address] = bytes;
  machine.used += bytes;
  return Success;
}

int release(void *address) {
  Machine &machine = Machine::get();
  auto found = machine.memory.find(address);
  if (found == machine.memory.end())
    return InvalidValue;
  const size_t page = 4096, rounded = (found->second + 255) / 256 * 256;
  const size_t pages = (rounded + page - 1) / page * page;
  munmap(static_cast<char *>(address) - (pages - rounded), pages + page);
  machine.used -= found->second;
  machine.memory.erase(found);
  return Success;
}

} // namespace

extern "C" {

int cuInit(unsigned) { return setting("K3_EMULATED_GPUS", 1) > 0 ? Success : NoDevice; }

int cuDriverGetVersion(int *version) {
  *version = int(setting("K3_EMULATED_DRIVER", 13000));
  return Success;
}

int cuGetErrorString(int code, const char **text) {
  switch (code) {
  case InvalidValue:
    *text = "invalid argument";
    break;
  case OutOfMemory:
    *text = "out of memory";
    break;
  case NoDevice:
    *text = "no CUDA-capable device is detected";
    break;
  case InvalidImage:
    *text = "device kernel image is invalid";
    break;
  case NotFound:
    *text = "named symbol not found";
    break;
  case LaunchFailed:
    *text = Machine::get().failure.c_str();
    break;
  default:
    *text = "unknown error";
  }
  return Success;
}

int cuDeviceGetCount(int *count) {
  *count = int(setting("K3_EMULATED_GPUS", 1));
  return Success;
}

int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return ordinal < setting("K3_EMULATED_GPUS", 1) ? Success : InvalidValue;
}

int cuDeviceGetName(char *name, int length, int) {
  std::strncpy(name, "an emulated GPU", size_t(length));
  return Success;
}

int cuDeviceGetAttribute(int *value, int attribute, int) {
  const int architecture = int(setting("K3_EMULATED_ARCH", 90));
  switch (attribute) {
  case 75:
    *value = architecture / 10;
    return Success; // compute capability, major
  case 76:
    *value = architecture % 10;
    return Success; // minor
  case 16:
    *value = 132;
    return Success; // multiprocessors
  default:
    return InvalidValue;
  }
}

int cuDevicePrimaryCtxRetain(void **context, int) {
  *context = &Machine::get();
  return Success;
}
int cuDevicePrimaryCtxRelease_v2(int) { return Success; }
int cuCtxSetCurrent(void *) { return Success; }

int cuMemAlloc_v2(unsigned long long *address, size_t bytes) {
  void *result = nullptr;
  const int code = allocate(&result, bytes);
  *address = reinterpret_cast<unsigned long long>(result);
  return code;
}
int cuMemFree_v2(unsigned long long address) { return release(reinterpret_cast<void *>(address)); }

int cuMemAllocHost_v2(void **address, size_t bytes) {
  *address = std::malloc(bytes);
  return *address ? Success : OutOfMemory;
}
int cuMemFreeHost(void *address) {
  std::free(address);
  return Success;
}

int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes, void *) {
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return Success;
}
int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes, void *) {
  std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
  return Success;
}
int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, size_t bytes, void *) {
  std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes);
  return Success;
}
int cuMemsetD8Async(unsigned long long to, unsigned char value, size_t bytes, void *) {
  std::memset(reinterpret_cast<void *>(to), value, bytes);
  return Success;
}

int cuStreamCreate(void **stream, unsigned) {
  *stream = &Machine::get();
  return Success;
}
int cuStreamDestroy_v2(void *) { return Success; }
int cuStreamSynchronize(void *) { return Machine::get().failure.empty() ? Success : LaunchFailed; }

// Whatever was asked for is done, so an event is a point in time.
int cuEventCreate(void **event, unsigned) {
  *event = new std::chrono::steady_clock::time_point();
  return Success;
}
int cuEventDestroy_v2(void *event) {
  delete static_cast<std::chrono::steady_clock::time_point *>(event);
  return Success;
}
int cuEventRecord(void *event, void *) {
  *static_cast<std::chrono::steady_clock::time_point *>(event) = std::chrono::steady_clock::now();
  return Success;
}
int cuEventSynchronize(void *) { return Machine::get().failure.empty() ? Success : LaunchFailed; }

int cuModuleLoadData(void **module, const void *bytes) {
  const size_t size = sizeOfImage(bytes);
  if (size == 0)
    return InvalidImage;
  auto *image = new Image;
  *module = image;
  image->file = memfd_create("k3-emulated-image", 0);
  bool complete = image->file >= 0;
  for (size_t done = 0; complete && done < size;) {
    const ssize_t part = write(image->file, static_cast<const char *>(bytes) + done, size - done);
    complete = part > 0;
    done += complete ? size_t(part) : 0;
  }
  if (complete)
    image->library =
        dlopen(("/proc/self/fd/" + std::to_string(image->file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!image->library)
    return InvalidImage;
  auto symbol = [&](const char *name) { return dlsym(image->library, name); };
  image->entry = reinterpret_cast<k3_emulated_entry>(symbol(K3_EMULATED_ENTRY));
  image->machine = static_cast<k3_emulated_machine **>(symbol(K3_EMULATED_MACHINE));
  image->shared = static_cast<unsigned char *>(symbol(K3_EMULATED_SHARED));
  const auto *count = static_cast<const unsigned *>(symbol(K3_EMULATED_COUNT));
  if (!image->entry || !image->machine || !image->shared || !count)
    return InvalidImage;
  image->parameters = *count;
  return Success;
}

int cuModuleUnload(void *module) {
  auto *image = static_cast<Image *>(module);
  if (image->library)
    dlclose(image->library);
  if (image->file >= 0)
    close(image->file);
  delete image;
  return Success;
}

int cuModuleGetFunction(void **function, void *module, const char *name) {
  auto *image = static_cast<Image *>(module);
  *function = image;
  return dlsym(image->library, name) ? Success : NotFound;
}

int cuFuncSetAttribute(void *function, int attribute, int value) {
  if (attribute != 8 || value < 0 || unsigned(value) > k3_emulated_shared_bytes)
    return InvalidValue;
  static_cast<Image *>(function)->sharedLimit = unsigned(value);
  return Success;
}

int cuLaunchKernel(void *function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                   unsigned blockY, unsigned blockZ, unsigned sharedBytes, void *,
                   void **parameters, void **) {
  Launch launch;
  if (int code = makeLaunch(launch, static_cast<Image *>(function), {gridX, gridY, gridZ},
                            {blockX, blockY, blockZ}, sharedBytes, parameters))
    return code;
  return Machine::get().run(launch);
}

int cuGraphCreate(void **graph, unsigned) {
  *graph = new Graph;
  return Success;
}
int cuGraphDestroy(void *graph) {
  delete static_cast<Graph *>(graph);
  return Success;
}

/// As CUDA_KERNEL_NODE_PARAMS_v2 begins.
struct KernelNode {
  void *function;
  unsigned grid[3], block[3], sharedBytes;
  void **parameters;
};

int cuGraphAddKernelNode_v2(void **node, void *graph, void *const *, size_t,
                            const KernelNode *kernel) {
  auto &nodes = static_cast<Graph *>(graph)->nodes;
  Launch launch;
  if (int code = makeLaunch(launch, static_cast<Image *>(kernel->function), kernel->grid,
                            kernel->block, kernel->sharedBytes, kernel->parameters))
    return code;
  nodes.push_back(std::move(launch));
  *node = reinterpret_cast<void *>(nodes.size());
  return Success;
}

int cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long) {
  *executable = new Graph(*static_cast<Graph *>(graph));
  return Success;
}
int cuGraphExecDestroy(void *executable) { return cuGraphDestroy(executable); }

int cuGraphLaunch(void *executable, void *) {
  for (Launch &node : static_cast<Graph *>(executable)->nodes)
    if (int code = Machine::get().run(node))
      return code;
  return Success;
}

} // extern "C"
