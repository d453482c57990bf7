//===- Header.h - The header of all generated kernels -----------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions and conversions that have no operator in CUDA C++. Kernels include it by name from
// memory, so no folder of headers is needed to compile them.
//
//===----------------------------------------------------------------------===//

#ifndef K3_COMPILER_CODEGEN_CUDA_HEADER_H
#define K3_COMPILER_CODEGEN_CUDA_HEADER_H

namespace k3::cuda {

inline constexpr const char *kHeaderName = "k3_device.h";
inline constexpr const char *kHeaderText = R"(#pragma once

/// A bf16 number in memory. It is computed with as a float.
struct k3_bf16 { unsigned short bits; };

#define k3_infinity __int_as_float(0x7f800000)
#define k3_nan __int_as_float(0x7fc00000)

__device__ __forceinline__ float k3_float(k3_bf16 x) { return __int_as_float(static_cast<int>(x.bits) << 16); }

/// Round to nearest, ties to even; a NaN stays a NaN.
__device__ __forceinline__ k3_bf16 k3_narrow(float x) {
  const unsigned bits = static_cast<unsigned>(__float_as_int(x));
  if (x != x)
    return {static_cast<unsigned short>((bits >> 16) | 0x40)};
  return {static_cast<unsigned short>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}
__device__ __forceinline__ float k3_round(float x) { return k3_float(k3_narrow(x)); }

__device__ __forceinline__ float k3_add(float x, float y) { return x + y; }
__device__ __forceinline__ float k3_minimum(float x, float y) { return x != x ? x : y != y ? y : fminf(x, y); }
__device__ __forceinline__ float k3_maximum(float x, float y) { return x != x ? x : y != y ? y : fmaxf(x, y); }
template <typename T> __device__ __forceinline__ T k3_min(T x, T y) { return x < y ? x : y; }
template <typename T> __device__ __forceinline__ T k3_max(T x, T y) { return x < y ? y : x; }
template <typename T> __device__ __forceinline__ T k3_floor_div(T x, T y) {
  return x / y - (x % y != 0 && (x < 0) != (y < 0));
}
template <typename T> __device__ __forceinline__ T k3_ceil_div(T x, T y) {
  return x / y + (x % y != 0 && (x < 0) == (y < 0));
}

/// Sum over neighbouring LANES lanes; every lane of the warp takes part.
template <int LANES> __device__ __forceinline__ float k3_lanes_sum(float x) {
  for (int distance = LANES / 2; distance > 0; distance /= 2)
    x += __shfl_xor_sync(0xffffffffu, x, distance);
  return x;
}
__device__ __forceinline__ float k3_warp_sum(float x) { return k3_lanes_sum<32>(x); }
__device__ __forceinline__ float k3_warp_max(float x) {
  for (int distance = 16; distance > 0; distance /= 2)
    x = k3_maximum(x, __shfl_xor_sync(0xffffffffu, x, distance));
  return x;
}

/// Element `odd` of a byte of two E2M1 codes, times 2^(scale - 127).
__device__ __forceinline__ float k3_mxfp4(int codes, int odd, int scale) {
  const int code = (odd ? codes >> 4 : codes) & 15;
  const int exponent = (code >> 1) & 3, mantissa = code & 1;
  // Subnormal: 0 or 0.5. Else (1 + mantissa / 2) * 2^(exponent - 1).
  const float magnitude = exponent == 0 ? 0.5f * mantissa
                                        : __int_as_float((126 + exponent) << 23 | mantissa << 22);
  const float factor = scale == 255 ? k3_nan : scale == 0 ? __int_as_float(0x00400000) : __int_as_float(scale << 23);
  return (code & 8 ? -magnitude : magnitude) * factor;
}

/// Sixteen bytes of memory in four registers.
struct __align__(16) k3_words { unsigned x, y, z, w; };

/// (x0 x1)(x2 x3)(x4 x5)(x6 x7) as (x0 x4)(x1 x5)(x2 x6)(x3 x7): the order in which a word of eight codes is unpacked.
__device__ __forceinline__ k3_words k3_halves(k3_words v) {
  return {(v.x & 0xffffu) | v.z << 16, v.x >> 16 | (v.z & 0xffff0000u),
          (v.y & 0xffffu) | v.w << 16, v.y >> 16 | (v.w & 0xffff0000u)};
}

/// And back: (x0 x4)(x1 x5)(x2 x6)(x3 x7) as (x0 x1)(x2 x3)(x4 x5)(x6 x7).
__device__ __forceinline__ k3_words k3_in_order(k3_words v) {
  return {(v.x & 0xffffu) | v.y << 16, (v.z & 0xffffu) | v.w << 16,
          v.x >> 16 | (v.y & 0xffff0000u), v.z >> 16 | (v.w & 0xffff0000u)};
}

/// Where element i of a tile for the tensor cores lies: the eight words of a line of 128 bytes change places with the number
/// of the line, so that one word of eight lines lies in eight different groups of banks.
__device__ __forceinline__ int k3_swizzled(int i) { return i ^ (i >> 3 & 56); }

/// Whether value x at index i stands before y at j: larger first, NaN last, then by index.
__device__ __forceinline__ int k3_before(float x, int i, float y, int j) {
  const bool nanX = x != x, nanY = y != y;
  if (nanX || nanY)
    return nanX == nanY ? i < j : nanY;
  return x > y || (x == y && i < j);
}

// Below is what is written in instructions of the GPU. The emulator of the tests has its own.
#ifndef K3_EMULATED

/// The kernel before this one in the stream has written what this one reads.
__device__ __forceinline__ void k3_begin() {
#if K3_PROGRAMMATIC_LAUNCH
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// 16 bytes of weights, which no other block reads soon; zeros where `exists` is false.
__device__ __forceinline__ k3_words k3_stream(const void *address, bool exists) {
  k3_words v = {0, 0, 0, 0};
  if (exists)
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(address));
  return v;
}

/// Starts a copy of 16 bytes to shared memory, of zeros where `exists` is false. It is there when the thread has waited for
/// it, and the block has met.
__device__ __forceinline__ void k3_copy(void *to, const void *from, bool exists) {
  asm volatile("{ .reg .u64 at; cvta.to.shared.u64 at, %0; cp.async.cg.shared.global.L2::128B [at], [%1], 16, %2; }"
               :: "l"(to), "l"(from), "r"(exists ? 16 : 0) : "memory");
}
/// Ends a group of copies; waits until at most N of the thread's last groups are on their way.
__device__ __forceinline__ void k3_copies_end() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void k3_copies_wait() {
  asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory");
}

/// sum += a · b on the tensor cores: a 16 x 16, b 16 x 8, pairs of bf16 in the lanes' order of m16n8k16.
__device__ __forceinline__ void k3_mma(float (&sum)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,
                                       unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

/// Four 8 x 8 matrices of bf16 numbers in shared memory. Lane l brings the address of row l % 8 of matrix l / 8 and gets
/// numbers l % 4 * 2 and the next of row l / 4 of each; of the turned ones, of column l / 4.
__device__ __forceinline__ void k3_matrices(unsigned (&v)[4], const k3_bf16 *row) {
  asm volatile("{ .reg .u64 at; cvta.to.shared.u64 at, %4; "
               "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [at]; }"
               : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "l"(row) : "memory");
}
__device__ __forceinline__ void k3_matrices_turned(unsigned (&v)[4], const k3_bf16 *row) {
  asm volatile("{ .reg .u64 at; cvta.to.shared.u64 at, %4; "
               "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [at]; }"
               : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "l"(row) : "memory");
}

/// Two products of bf16 numbers, rounded to bf16. An fma with -0 is a product on every target.
__device__ __forceinline__ unsigned k3_mul_pairs(unsigned x, unsigned y) {
  unsigned result;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(y), "r"(0x80008000u));
  return result;
}

#endif // K3_EMULATED

/// 16 bytes that were written by an earlier kernel; zeros where `exists` is false.
__device__ __forceinline__ k3_words k3_load(const void *address, bool exists) {
  return exists ? *static_cast<const k3_words *>(address) : k3_words{0, 0, 0, 0};
}

/// Eight E2M1 codes times 2^(scale - 127) as bf16, exact: codes (0 4)(1 5)(2 6)(3 7). The three bits of a magnitude, put
/// where a bf16 number has its last exponent bits and first mantissa bit, are that magnitude times 2^-126.
__device__ __forceinline__ k3_words k3_mxfp4_words(unsigned codes, int scale) {
  const unsigned factor = static_cast<unsigned>(k3_min(scale, 128) + 126) << 7, pair = factor | factor << 16;
  k3_words v = {k3_mul_pairs((codes << 12 & 0x80008000u) | (codes << 6 & 0x01c001c0u), pair),
                k3_mul_pairs((codes << 8 & 0x80008000u) | (codes << 2 & 0x01c001c0u), pair),
                k3_mul_pairs((codes << 4 & 0x80008000u) | (codes >> 2 & 0x01c001c0u), pair),
                k3_mul_pairs((codes & 0x80008000u) | (codes >> 6 & 0x01c001c0u), pair)};
  if (scale > 128) {
    const unsigned more = scale == 255 ? 0x7fc0u : static_cast<unsigned>(scale - 1) << 7, rest = more | more << 16;
    v = {k3_mul_pairs(v.x, rest), k3_mul_pairs(v.y, rest), k3_mul_pairs(v.z, rest), k3_mul_pairs(v.w, rest)};
  }
  return v;
}
)";

} // namespace k3::cuda

#endif // K3_COMPILER_CODEGEN_CUDA_HEADER_H
