//===- EntryProgram.h - An entry, ready to run ------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The commands of one entry with every address and constant in place, so that a step only
// recomputes what depends on its symbols, and a step with the same symbols as the last one
// recomputes nothing.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_EXEC_ENTRYPROGRAM_H
#define K3_RUNTIME_EXEC_ENTRYPROGRAM_H

#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/loader/ExprTable.h"
#include "runtime/exec/Memory.h"
#include "runtime/schema/plan_generated.h"
#include "support/Status.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace k3 {

/// Gets values of a step right after they were computed, before their bytes are reused.
class TapSink {
public:
  virtual ~TapSink() = default;
  /// DATA holds the whole buffer at its shape in this step, row-major.
  virtual void tap(std::string_view name, plan::DType type, std::span<const uint64_t> shape,
                   const std::byte *data) = 0;
};

class EntryProgram {
public:
  /// Prepares entry number ENTRY of PROGRAM. KERNELS holds the entry point of each kernel of the
  /// plan; for a GPU it is empty and MEMORY is the GPU's.
  static Result<EntryProgram> prepare(const plan::Plan &plan, const plan::Program &program,
                                      uint32_t entry, const Memory &memory,
                                      std::span<const CpuKernel> kernels);

  /// Runs the entry with these values of the plan's symbols, all of them; those the entry does not
  /// use are ignored. With a sink every tap of the entry is delivered.
  Status run(CpuDevice &device, std::span<const int64_t> symbols, TapSink *sink);
  /// The same on a GPU, whose kernels have the plan's numbers; returns when the step is done. With
  /// GRAPHS an entry whose launches are always the same is replayed as one graph.
  Status run(CudaDevice &device, std::span<const int64_t> symbols, TapSink *sink, bool graphs);

private:
  struct Launch {
    CpuKernel kernel;
    uint32_t number; // of the kernel in the plan
    uint32_t firstParam, params;
    uint32_t grid[3]; // slots of the table
    int64_t extent[3];
  };
  struct Copy {
    const std::byte *from;
    std::byte *to;
    uint64_t room; // bytes that both buffers have
    uint32_t bytes;
    uint32_t perElement;
  };
  struct Fill {
    std::byte *to;
    uint64_t room;
    uint32_t bytes;
    uint8_t value;
  };
  /// Order between streams: one stream runs in order, so nothing is left to do.
  struct Order {};
  using Command = std::variant<Launch, Copy, Fill, Order>;

  struct Tap {
    uint32_t after;
    const plan::Tap *tap;
    const plan::Buffer *buffer;
    const std::byte *data;
    std::vector<uint32_t> shape; // slots
  };

  explicit EntryProgram(const plan::Plan &plan) : table_(plan) {}
  void addLaunch(const plan::Launch &launch, const Memory &memory,
                 std::span<const CpuKernel> kernels);
  void addCopy(const plan::Copy &copy, const plan::Program &program, const Memory &memory);
  void addFill(const plan::Fill &fill, const plan::Program &program, const Memory &memory);
  void addCollective(const plan::Collective &collective, const plan::Program &program,
                     const Memory &memory);
  void addTap(const plan::Tap &tap, const plan::Program &program, const Memory &memory);
  Status update(std::span<const int64_t> symbols);
  Status checkRoom(std::string_view what, int64_t count, uint32_t perElement, uint64_t room) const;

  void execute(const Launch &launch, CpuDevice &device) const;
  void execute(const Copy &copy, CpuDevice &device) const;
  void execute(const Fill &fill, CpuDevice &device) const;
  void execute(const Order &, CpuDevice &) const {}
  Status enqueue(const Launch &launch, CudaDevice &device) const;
  Status enqueue(const Copy &copy, CudaDevice &device) const;
  Status enqueue(const Fill &fill, CudaDevice &device) const;
  Status enqueue(const Order &, CudaDevice &) const { return Status::ok(); }
  bool isConstant() const;
  std::vector<uint64_t> shapeOf(const Tap &tap) const;
  void deliver(const Tap &tap, TapSink &sink) const;
  Status deliver(const Tap &tap, TapSink &sink, CudaDevice &device) const;

  ExprTable table_;
  std::string name_;
  std::vector<Command> commands_;
  std::vector<uint64_t> params_;
  struct Scalar {
    uint32_t param, slot;
  };
  std::vector<Scalar> scalars_;
  std::vector<Tap> taps_; // by `after`
  std::vector<uint32_t> symbols_;
  std::vector<int64_t> bounds_;  // of symbols_
  std::vector<int64_t> current_; // of symbols_, for which params_ and extents hold
  bool evaluated_ = false;       // params_ and extents hold for current_
  std::optional<size_t> graph_;  // of the whole entry, on a GPU
};

} // namespace k3

#endif // K3_RUNTIME_EXEC_ENTRYPROGRAM_H
