//===- Executor.h - Runs the entries of a plan ------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Holds the memory, kernels and prepared entries of one rank's program, and runs one entry at a
// time. It trusts the plan, which the loader has validated, and knows nothing of models.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_EXEC_EXECUTOR_H
#define K3_RUNTIME_EXEC_EXECUTOR_H

#include "runtime/exec/EntryProgram.h"
#include "runtime/exec/Memory.h"
#include "runtime/schema/plan_generated.h"
#include "support/Status.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace k3 {

struct ExecutorOptions {
  unsigned threads = 1;
  bool poisonScratch = false; // fill scratch with NaN before every run
  bool graphs = true;         // replay constant entries as graphs, on a GPU
};

class Executor {
public:
  /// Finds the entry point of a kernel; a plan's images unless a test says otherwise.
  using KernelSource = std::function<Result<CpuKernel>(const plan::Kernel &kernel)>;

  /// Opens the images of PLAN through SEGMENT, which gives the bytes of a segment, allocates the
  /// arenas of program RANK and prepares its entries. PLAN must outlive the executor.
  static Result<std::unique_ptr<Executor>>
  create(const plan::Plan &plan, uint32_t rank,
         const std::function<std::string_view(uint32_t)> &segment, const ExecutorOptions &options);
  /// The same with kernels from elsewhere.
  static Result<std::unique_ptr<Executor>> create(const plan::Plan &plan, uint32_t rank,
                                                  std::unique_ptr<CpuDevice> device,
                                                  const KernelSource &kernels,
                                                  const ExecutorOptions &options);

  const plan::Plan &plan() const { return *plan_; }
  const plan::Program &program() const { return *program_; }
  const Memory &memory() const { return memory_; }
  CpuDevice &device() { return *device_; }
  bool onGpu() const { return gpu_ != nullptr; }
  /// What the GPU calls itself; empty on the CPU.
  std::string_view gpuName() const { return gpu_ ? std::string_view(gpu_->name()) : ""; }
  /// Seconds in which the host has waited for the GPU so far; 0 on the CPU.
  double waitSeconds() const { return gpu_ ? gpu_->waitSeconds() : 0; }

  /// `memory()` is what the host reads and writes. On a GPU it is a second copy: `send` and `fetch`
  /// bring a buffer there and back, and `run` does so for the inputs and outputs of its entry. On
  /// the CPU they do nothing.
  Status send(uint32_t buffer);
  Status fetch(uint32_t buffer) const;
  /// Fills a buffer with what MAKE writes, part by part: MAKE(to, offset, bytes) writes BYTES bytes
  /// of the buffer from OFFSET on to TO, host memory. On a GPU one part is made while another is on
  /// its way, and the host's copy of the buffer is not touched.
  using Maker = std::function<Status(std::byte *to, uint64_t offset, uint64_t bytes)>;
  Status write(uint32_t buffer, const Maker &make);
  /// Zeroes bytes of a buffer, wherever they are.
  Status zero(uint32_t buffer, uint64_t offset, uint64_t bytes);

  /// The number of the entry of that name.
  std::optional<uint32_t> findEntry(std::string_view name) const;
  /// Runs an entry; SYMBOLS has a value for each symbol of the plan.
  Status run(uint32_t entry, std::span<const int64_t> symbols, TapSink *sink = nullptr);

private:
  Executor() = default;
  const plan::Plan *plan_ = nullptr;
  const plan::Program *program_ = nullptr;
  std::unique_ptr<CpuDevice> device_;
  std::unique_ptr<CudaDevice> gpu_;
  Memory memory_;
  Memory gpuMemory_;
  std::vector<EntryProgram> entries_;
  bool poisonScratch_ = false;
  bool graphs_ = true;

  static Result<std::unique_ptr<Executor>>
  createOnGpu(const plan::Plan &plan, uint32_t rank,
              const std::function<std::string_view(uint32_t)> &segment,
              const ExecutorOptions &options);
  Status runOnGpu(uint32_t entry, std::span<const int64_t> symbols, TapSink *sink);
};

} // namespace k3

#endif // K3_RUNTIME_EXEC_EXECUTOR_H
