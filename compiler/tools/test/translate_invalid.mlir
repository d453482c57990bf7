// A kernel that was never lowered is named, not dropped.
// RUN: not k3-translate %s --mlir-to-llvmir 2>&1 | FileCheck %s

// CHECK: error: cannot be converted to LLVM IR: missing `LLVMTranslationDialectInterface` registration for dialect for op: tile.kernel
tile.kernel @left(%n: index) {
}
