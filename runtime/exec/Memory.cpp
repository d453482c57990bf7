//===- Memory.cpp - The arenas and buffers of a program ---------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loader has already held every buffer against its arena, so addresses are plain sums.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/Memory.h"

#include "runtime/loader/ArenaNames.h"

#include <cstring>

using namespace k3;

Result<Memory> Memory::allocate(const plan::Program &program) {
  Memory memory;
  for (const plan::Arena *arena : *program.arenas()) {
    K3_ASSIGN_OR_RETURN(HostArena owned, HostArena::create(arena->size(), arena->alignment(),
                                                           arenaClassName(arena->cls())));
    memory.arenas_.push_back({arena->cls(), std::move(owned)});
  }
  for (const plan::Buffer *buffer : *program.buffers())
    memory.addresses_.push_back(memory.arenas_[buffer->arena()].arena.data() + buffer->offset());
  return memory;
}

void Memory::poisonScratch() {
  for (Owned &owned : arenas_) {
    if (owned.cls == plan::ArenaClass::Scratch && owned.arena.size())
      std::memset(owned.arena.data(), 0xFF, owned.arena.size());
  }
}

Result<Memory> Memory::allocate(const plan::Program &program, CudaDevice &device) {
  Memory memory;
  for (const plan::Arena *arena : *program.arenas()) {
    K3_ASSIGN_OR_RETURN(std::byte * data,
                        device.allocate(arena->size(), arenaClassName(arena->cls())));
    memory.deviceArenas_.push_back({arena->cls(), data, arena->size()});
  }
  for (const plan::Buffer *buffer : *program.buffers())
    memory.addresses_.push_back(memory.deviceArenas_[buffer->arena()].data + buffer->offset());
  return memory;
}

Status Memory::poisonScratch(CudaDevice &device) const {
  for (const OnDevice &arena : deviceArenas_) {
    if (arena.cls == plan::ArenaClass::Scratch)
      K3_RETURN_IF_ERROR(device.fill(arena.data, 0xFF, arena.size));
  }
  return Status::ok();
}
