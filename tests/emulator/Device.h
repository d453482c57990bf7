//===- Device.h - CUDA C++ for the host -------------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stands before a printed kernel that is compiled for the host: the words of CUDA C++ that the
// kernels use, and what compiler/codegen/cuda/Header.h writes as instructions of the GPU.
//
//===----------------------------------------------------------------------===//

#ifndef K3_TESTS_EMULATOR_DEVICE_H
#define K3_TESTS_EMULATOR_DEVICE_H

#include "Machine.h"

#include <utility>

#define K3_EMULATED 1
#define __global__
#define __device__
#define __shared__
#define __forceinline__ inline
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(n)

extern "C" {
float expf(float) noexcept;
float exp2f(float) noexcept;
float logf(float) noexcept;
float log1pf(float) noexcept;
float tanhf(float) noexcept;
float sqrtf(float) noexcept;
float fabsf(float) noexcept;
float floorf(float) noexcept;
float ceilf(float) noexcept;
float rintf(float) noexcept;
float fminf(float, float) noexcept;
float fmaxf(float, float) noexcept;
float copysignf(float, float) noexcept;
float fmaf(float, float, float) noexcept;

k3_emulated_machine *k3_machine;
alignas(128) unsigned char shared[k3_emulated_shared_bytes];
}

struct k3_emulated_index {
  unsigned x;
};
#define threadIdx (k3_emulated_index{k3_machine->thread})
#define blockIdx (k3_emulated_index{k3_machine->block})

static inline float __int_as_float(int x) {
  float result;
  __builtin_memcpy(&result, &x, 4);
  return result;
}
static inline int __float_as_int(float x) {
  int result;
  __builtin_memcpy(&result, &x, 4);
  return result;
}

static inline void __syncthreads() { k3_machine->barrier(); }

/// What lane `threadIdx.x % 32 ^ distance` brought. Masks other than "all lanes" are never printed.
template <typename T> static inline T __shfl_xor_sync(unsigned, T value, int distance) {
  const void *all = k3_machine->gather(&value, sizeof(T));
  return static_cast<const T *>(all)[(k3_machine->thread % 32) ^ unsigned(distance)];
}
template <typename T> static inline T __shfl_sync(unsigned, T value, int lane) {
  return static_cast<const T *>(k3_machine->gather(&value, sizeof(T)))[unsigned(lane) % 32];
}
static inline unsigned __ballot_sync(unsigned, int predicate) {
  const int *all = static_cast<const int *>(k3_machine->gather(&predicate, sizeof(int)));
  unsigned result = 0;
  for (int lane = 0; lane < 32; ++lane)
    result |= unsigned(all[lane] != 0) << lane;
  return result;
}
static inline int __any_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
static inline void __syncwarp(unsigned = ~0u) {
  const char nothing = 0;
  k3_machine->gather(&nothing, 1);
}

// ------------------------------------------------------------------------------------------------
// The section of Header.h that is written in instructions.

/// Kernels run one after the other here.
static inline void k3_begin() {}

/// Weights come the way that all memory does.
#define k3_stream k3_load

static inline float k3_emulated_float(unsigned bits) { return __int_as_float(int(bits << 16)); }

/// Lane 4 * g + t has rows g and g + 8 of a and column g of b, at inner indices 2 * t, 2 * t + 1
/// and those plus 8; of the sum it has rows g and g + 8, columns 2 * t and 2 * t + 1 (PTX ISA,
/// mma.m16n8k16).
static inline void k3_mma(float (&sum)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                          unsigned b0, unsigned b1) {
  struct Lane {
    unsigned a[4], b[2];
  };
  const Lane own = {{a0, a1, a2, a3}, {b0, b1}};
  const Lane *all = static_cast<const Lane *>(k3_machine->gather(&own, sizeof(Lane)));
  const unsigned lane = k3_machine->thread % 32, group = lane / 4;
  for (int i = 0; i < 4; ++i) {
    const unsigned column = lane % 4 * 2 + unsigned(i) % 2, half = unsigned(i) / 2;
    for (unsigned k = 0; k < 16; ++k) {
      const unsigned t = k % 8 / 2, upper = k / 8, shift = k % 2 * 16;
      const float a = k3_emulated_float(all[group * 4 + t].a[upper * 2 + half] >> shift & 0xffff);
      const float b = k3_emulated_float(all[column * 4 + t].b[upper] >> shift & 0xffff);
      sum[i] += a * b;
    }
  }
}

/// The kernel's own bf16 number is declared behind this file, so rows come as any pointer.
static inline void k3_emulated_matrices(unsigned (&v)[4], const void *row, bool turned) {
  const unsigned lane = k3_machine->thread % 32;
  unsigned short own[8], all[32][8];
  __builtin_memcpy(own, row, 16);
  __builtin_memcpy(all, k3_machine->gather(own, 16), sizeof all);
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned pair = lane % 4 * 2, line = lane / 4;
    const unsigned low = turned ? all[i * 8 + pair][line] : all[i * 8 + line][pair];
    const unsigned high = turned ? all[i * 8 + pair + 1][line] : all[i * 8 + line][pair + 1];
    v[i] = low | high << 16;
  }
}
static inline void k3_matrices(unsigned (&v)[4], const void *row) {
  k3_emulated_matrices(v, row, false);
}
static inline void k3_matrices_turned(unsigned (&v)[4], const void *row) {
  k3_emulated_matrices(v, row, true);
}

/// Copies happen when they are waited for and not before, so that waiting for one group too few
/// finds what was there.
struct k3_emulated_copies {
  static constexpr unsigned most = 64;
  struct {
    void *to;
    const void *from;
    unsigned group;
  } queue[most];
  unsigned first, last, group;
};
static k3_emulated_copies k3_copies_of[1024];

static inline void k3_copy(void *to, const void *from, bool exists) {
  k3_emulated_copies &own = k3_copies_of[k3_machine->thread];
  if (own.last - own.first == own.most)
    __builtin_trap();
  own.queue[own.last++ % own.most] = {to, exists ? from : nullptr, own.group};
}
static inline void k3_copies_end() { ++k3_copies_of[k3_machine->thread].group; }
template <unsigned N> static inline void k3_copies_wait() {
  k3_emulated_copies &own = k3_copies_of[k3_machine->thread];
  for (; own.first != own.last; ++own.first) {
    const auto &copy = own.queue[own.first % own.most];
    if (copy.group + N >= own.group)
      return;
    if (copy.from)
      __builtin_memcpy(copy.to, copy.from, 16);
    else
      __builtin_memset(copy.to, 0, 16);
  }
}

static inline unsigned k3_mul_pairs(unsigned x, unsigned y) {
  unsigned result = 0;
  for (unsigned shift : {0u, 16u}) {
    const float product =
        k3_emulated_float(x >> shift & 0xffff) * k3_emulated_float(y >> shift & 0xffff);
    unsigned bits = unsigned(__float_as_int(product));
    bits = product != product ? 0x7fc0u : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    result |= bits << shift;
  }
  return result;
}

// ------------------------------------------------------------------------------------------------
// What the driver calls: one for each image, behind the kernel's text.

template <typename... Parameters, std::size_t... I>
static void k3_emulated_call(void (*kernel)(Parameters...), void **values,
                             std::index_sequence<I...>) {
  kernel(*static_cast<Parameters *>(values[I])...);
}
template <typename... Parameters>
static void k3_emulated_call(void (*kernel)(Parameters...), void **values) {
  k3_emulated_call(kernel, values, std::index_sequence_for<Parameters...>());
}
template <typename... Parameters>
static constexpr unsigned k3_emulated_count(void (*)(Parameters...)) {
  static_assert(((sizeof(Parameters) == 8) && ...), "plans pass words of 8 bytes");
  return sizeof...(Parameters);
}

#define K3_EMULATE(kernel)                                                                         \
  extern "C" {                                                                                     \
  void k3_emulated_entry_of_image(void **values) __asm__("k3_emulated_entry");                     \
  void k3_emulated_entry_of_image(void **values) { k3_emulated_call(kernel, values); }             \
  extern const unsigned k3_emulated_parameters;                                                    \
  const unsigned k3_emulated_parameters = k3_emulated_count(kernel);                               \
  }

#endif // K3_TESTS_EMULATOR_DEVICE_H
