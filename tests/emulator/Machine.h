//===- Machine.h - What an emulated kernel asks of its machine --*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one interface between a kernel that was compiled for the host (Device.h) and the emulated
// driver that runs it (Block.cpp). It is C, because the two meet through dlsym.
//
//===----------------------------------------------------------------------===//

#ifndef K3_TESTS_EMULATOR_MACHINE_H
#define K3_TESTS_EMULATOR_MACHINE_H

extern "C" {

/// The machine as one thread of a block sees it; the driver sets it before every switch of threads.
struct k3_emulated_machine {
  unsigned thread; ///< threadIdx.x
  unsigned block;  ///< blockIdx.x
  /// Returns when every thread of the block has come here.
  void (*barrier)();
  /// Returns when all 32 lanes of the warp have come here: what each of them brought, lane after
  /// lane, `bytes` apart (at most 64). It is good until the lane's next call.
  const void *(*gather)(const void *mine, unsigned bytes);
};

/// What every image exports, by these names.
using k3_emulated_entry = void (*)(void **parameters);
#define K3_EMULATED_MACHINE "k3_machine"           // k3_emulated_machine *
#define K3_EMULATED_ENTRY "k3_emulated_entry"      // k3_emulated_entry
#define K3_EMULATED_COUNT "k3_emulated_parameters" // unsigned: parameters, 8 bytes each
#define K3_EMULATED_SHARED "shared"                // the block's shared memory
}

/// Shared memory of a block at most, in bytes: what a block of sm_90 may ask for.
inline constexpr unsigned k3_emulated_shared_bytes = 227 * 1024;

#endif // K3_TESTS_EMULATOR_MACHINE_H
