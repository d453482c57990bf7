//===- Executor.cpp - Runs the entries of a plan ----------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that can fail for want of memory, a symbol or a function fails in `create`; a run then
// only computes.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/Executor.h"

#include <cstring>
#include <fmt/format.h>

using namespace k3;

Result<std::unique_ptr<Executor>>
Executor::create(const plan::Plan &plan, uint32_t rank,
                 const std::function<std::string_view(uint32_t)> &segment,
                 const ExecutorOptions &options) {
  if (plan.target()->name()->string_view().starts_with("sm_"))
    return createOnGpu(plan, rank, segment, options);
  K3_ASSIGN_OR_RETURN(std::unique_ptr<CpuDevice> device, CpuDevice::create(options.threads));
  for (uint32_t i = 0; i < plan.images()->size(); ++i) {
    const plan::Image &image = *plan.images()->Get(i);
    if (image.kind() != plan::ImageKind::CpuSharedObject) {
      return Status::refused(fmt::format("image {}: holds code for another device (got {}, "
                                         "expected CpuSharedObject); rebuild with "
                                         "--target cpu",
                                         i, plan::EnumNameImageKind(image.kind())));
    }
    K3_RETURN_IF_ERROR(
        device->addImage(segment(image.segment()), fmt::format("image {}", i)).status());
  }
  CpuDevice *opened = device.get();
  return create(
      plan, rank, std::move(device),
      [opened](const plan::Kernel &kernel) {
        return opened->kernel(kernel.image(), kernel.name()->str());
      },
      options);
}

Result<std::unique_ptr<Executor>> Executor::create(const plan::Plan &plan, uint32_t rank,
                                                   std::unique_ptr<CpuDevice> device,
                                                   const KernelSource &kernels,
                                                   const ExecutorOptions &options) {
  std::unique_ptr<Executor> executor(new Executor);
  executor->plan_ = &plan;
  executor->program_ = plan.programs()->Get(rank);
  executor->device_ = std::move(device);
  executor->poisonScratch_ = options.poisonScratch;
  K3_ASSIGN_OR_RETURN(executor->memory_, Memory::allocate(*executor->program_));
  std::vector<CpuKernel> entryPoints;
  for (const plan::Kernel *kernel : *plan.kernels()) {
    K3_ASSIGN_OR_RETURN(CpuKernel entryPoint, kernels(*kernel));
    entryPoints.push_back(entryPoint);
  }
  for (uint32_t i = 0; i < executor->program_->entries()->size(); ++i) {
    K3_ASSIGN_OR_RETURN(EntryProgram entry, EntryProgram::prepare(plan, *executor->program_, i,
                                                                  executor->memory_, entryPoints));
    executor->entries_.push_back(std::move(entry));
  }
  return executor;
}

Result<std::unique_ptr<Executor>>
Executor::createOnGpu(const plan::Plan &plan, uint32_t rank,
                      const std::function<std::string_view(uint32_t)> &segment,
                      const ExecutorOptions &options) {
  std::unique_ptr<Executor> executor(new Executor);
  executor->plan_ = &plan;
  executor->program_ = plan.programs()->Get(rank);
  executor->poisonScratch_ = options.poisonScratch;
  executor->graphs_ = options.graphs;
  K3_ASSIGN_OR_RETURN(executor->gpu_, CudaDevice::create(plan.target()->name()->string_view()));
  for (const plan::Kernel *kernel : *plan.kernels()) {
    const plan::Image &image = *plan.images()->Get(kernel->image());
    K3_RETURN_IF_ERROR(executor->gpu_
                           ->addKernel(segment(image.segment()), kernel->name()->str(),
                                       kernel->block()->Get(0), kernel->shared_bytes())
                           .status());
  }
  K3_ASSIGN_OR_RETURN(executor->memory_, Memory::allocate(*executor->program_));
  K3_ASSIGN_OR_RETURN(executor->gpuMemory_, Memory::allocate(*executor->program_, *executor->gpu_));
  for (uint32_t i = 0; i < executor->program_->entries()->size(); ++i) {
    K3_ASSIGN_OR_RETURN(EntryProgram entry, EntryProgram::prepare(plan, *executor->program_, i,
                                                                  executor->gpuMemory_, {}));
    executor->entries_.push_back(std::move(entry));
  }
  return executor;
}

Status Executor::send(uint32_t buffer) {
  if (!gpu_)
    return Status::ok();
  return gpu_->send(gpuMemory_.address(buffer), memory_.address(buffer),
                    program_->buffers()->Get(buffer)->size());
}

Status Executor::fetch(uint32_t buffer) const {
  if (!gpu_)
    return Status::ok();
  return gpu_->fetch(memory_.address(buffer), gpuMemory_.address(buffer),
                     program_->buffers()->Get(buffer)->size());
}

Status Executor::write(uint32_t buffer, const Maker &make) {
  const uint64_t bytes = program_->buffers()->Get(buffer)->size();
  if (gpu_)
    return gpu_->sendMade(gpuMemory_.address(buffer), bytes, make);
  return make(memory_.address(buffer), 0, bytes);
}

Status Executor::zero(uint32_t buffer, uint64_t offset, uint64_t bytes) {
  if (gpu_)
    return gpu_->fill(gpuMemory_.address(buffer) + offset, 0, bytes);
  std::memset(memory_.address(buffer) + offset, 0, bytes);
  return Status::ok();
}

Status Executor::runOnGpu(uint32_t entry, std::span<const int64_t> symbols, TapSink *sink) {
  if (poisonScratch_)
    K3_RETURN_IF_ERROR(gpuMemory_.poisonScratch(*gpu_));
  const plan::Entry &source = *program_->entries()->Get(entry);
  for (const plan::EntryArg *input : *source.inputs())
    K3_RETURN_IF_ERROR(send(input->buffer()));
  K3_RETURN_IF_ERROR(entries_[entry].run(*gpu_, symbols, sink, graphs_));
  for (const plan::EntryArg *output : *source.outputs())
    K3_RETURN_IF_ERROR(fetch(output->buffer()));
  return Status::ok();
}

std::optional<uint32_t> Executor::findEntry(std::string_view name) const {
  for (uint32_t i = 0; i < program_->entries()->size(); ++i) {
    if (program_->entries()->Get(i)->name()->string_view() == name)
      return i;
  }
  return std::nullopt;
}

Status Executor::run(uint32_t entry, std::span<const int64_t> symbols, TapSink *sink) {
  if (gpu_)
    return runOnGpu(entry, symbols, sink);
  if (poisonScratch_)
    memory_.poisonScratch();
  return entries_[entry].run(*device_, symbols, sink);
}
