//===- pch.cpp - Owner of the precompiled header --------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An empty unit: CMake compiles pch.h with it once, and every library of the compiler half reuses the result.
//
//===----------------------------------------------------------------------===//
