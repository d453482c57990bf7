//===- CpuImageTest.cpp - The shared object itself ------------------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a plan relies on: the same bytes each time, no undefined symbol and no needed library,
// exactly the kernels exported, and refusals that say what is wrong.
//
//===----------------------------------------------------------------------===//

#include "compiler/codegen/cpu/CompiledText.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <elf.h>

namespace k3::cpu {
namespace {

/// Two kernels with everything that could tempt a compiler to call memset, memcpy, expf or a
/// rounding function.
const char *kText = R"(
tile.kernel @clear(%x: !tile.view<?x1024xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %b = tile.block_id x
  %t = tile.splat %zero : f32 -> !tile.tile<1x1024xf32>
  tile.store %t, %x[%b, %c0] bound(%n, %c1024) : !tile.tile<1x1024xf32> -> !tile.view<?x1024xf32>
  tile.return
}
tile.kernel @curve(%x: !tile.view<?x1024xbf16>, %n: index, %y: !tile.view<?x1024xbf16>) {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %b = tile.block_id x
  %t = tile.load %x[%b, %c0] bound(%n, %c1024) : !tile.view<?x1024xbf16> -> !tile.tile<1x1024xf32>
  tile.store %t, %y[%b, %c0] bound(%n, %c1024) : !tile.tile<1x1024xf32> -> !tile.view<?x1024xbf16>
  %u = tile.load %x[%b, %c0] bound(%n, %c1024) : !tile.view<?x1024xbf16> -> !tile.tile<1x1024xf32>
  %r = tile.map(%u) : (!tile.tile<1x1024xf32>) -> !tile.tile<1x1024xf32> {
  ^bb0(%a: f32):
    %e = math.exp %a : f32
    %l = math.log1p %e : f32
    %h = math.tanh %l : f32
    %f = math.floor %h : f32
    %m = arith.maximumf %f, %h : f32
    tile.yield %m : f32
  }
  tile.store %r, %y[%b, %c0] bound(%n, %c1024) : !tile.tile<1x1024xf32> -> !tile.view<?x1024xbf16>
  tile.return
})";

std::unique_ptr<CompiledText> compile(const CpuOptions &options = {}) {
  std::string error;
  auto compiled = CompiledText::compile(kText, error, options);
  EXPECT_TRUE(compiled) << error;
  return compiled;
}

std::string refusal(const std::string &text, const CpuOptions &options = {}) {
  std::string error;
  EXPECT_FALSE(CompiledText::compile(text, error, options));
  return error;
}

/// The section headers of a kind.
std::vector<Elf64_Shdr> sections(const std::string &image, uint32_t type) {
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof(header));
  std::vector<Elf64_Shdr> found;
  for (int i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, image.data() + header.e_shoff + i * sizeof(section), sizeof(section));
    if (section.sh_type == type)
      found.push_back(section);
  }
  return found;
}

template <typename T> std::vector<T> entries(const std::string &image, const Elf64_Shdr &section) {
  std::vector<T> result(section.sh_size / sizeof(T));
  std::memcpy(result.data(), image.data() + section.sh_offset, section.sh_size);
  return result;
}

TEST(CpuImage, SameBytesWithAnyNumberOfThreads) {
  CpuOptions one, four;
  one.threads = 1;
  four.threads = 4;
  auto first = compile(one), second = compile(four), third = compile(four);
  ASSERT_TRUE(first && second && third);
  EXPECT_EQ(first->image.sharedObject, second->image.sharedObject);
  EXPECT_EQ(second->image.sharedObject, third->image.sharedObject);
  EXPECT_EQ(first->image.sharedObject.find("/proc"), std::string::npos);
}

TEST(CpuImage, NeedsNoTemporaryFolder) {
  setenv("TMPDIR", "/nowhere", 1);
  EXPECT_TRUE(compile());
  unsetenv("TMPDIR");
}

TEST(CpuImage, NeedsNothingAndExportsTheKernels) {
  auto compiled = compile();
  ASSERT_TRUE(compiled);
  const std::string &image = compiled->image.sharedObject;
  std::vector<Elf64_Shdr> tables = sections(image, SHT_DYNSYM),
                          dynamic = sections(image, SHT_DYNAMIC);
  ASSERT_EQ(tables.size(), 1u);
  ASSERT_EQ(dynamic.size(), 1u);
  for (const Elf64_Dyn &entry : entries<Elf64_Dyn>(image, dynamic[0]))
    EXPECT_NE(entry.d_tag, DT_NEEDED);
  std::vector<Elf64_Shdr> strings = sections(image, SHT_STRTAB);
  std::vector<std::string> exported;
  std::vector<Elf64_Sym> symbols = entries<Elf64_Sym>(image, tables[0]);
  for (size_t i = 1; i < symbols.size(); ++i) {
    EXPECT_NE(symbols[i].st_shndx, SHN_UNDEF);
    exported.push_back(image.data() + strings[0].sh_offset + symbols[i].st_name);
  }
  std::sort(exported.begin(), exported.end());
  EXPECT_EQ(exported, (std::vector<std::string>{"clear", "curve"}));
  EXPECT_EQ(compiled->image.kernels, (std::vector<std::string>{"clear", "curve"}));
  EXPECT_EQ(compiled->image.triple, "x86_64-unknown-linux-gnu");
}

TEST(CpuImage, FeaturesAreRecorded) {
  auto portable = compile();
  CpuOptions here;
  here.cpu = "host";
  auto native = compile(here);
  ASSERT_TRUE(portable && native);
  const std::vector<std::string> &few = portable->image.features, &many = native->image.features;
  EXPECT_TRUE(std::is_sorted(few.begin(), few.end()) && std::is_sorted(many.begin(), many.end()));
  EXPECT_TRUE(std::binary_search(few.begin(), few.end(), "avx2"));
  EXPECT_FALSE(std::binary_search(few.begin(), few.end(), "avx512f"));
  EXPECT_TRUE(std::includes(many.begin(), many.end(), few.begin(), few.end()));
}

TEST(CpuImage, RunsTheBlocksThatAreAskedFor) {
  auto compiled = compile();
  ASSERT_TRUE(compiled);
  std::vector<float> x(10 * 1024, 1.0f);
  uint64_t params[] = {reinterpret_cast<uint64_t>(x.data()), 10};
  compiled->find("clear")(params, 10, 1, 3, 3);
  compiled->find("clear")(params, 10, 1, 4, 7);
  for (int row = 0; row < 10; ++row)
    for (int column = 0; column < 1024; ++column)
      ASSERT_EQ(x[row * 1024 + column], row >= 4 && row < 7 ? 0.0f : 1.0f) << row << " " << column;
}

TEST(CpuImage, RefusalsSayWhatIsWrong) {
  CpuOptions unknown;
  unknown.cpu = "i386";
  EXPECT_EQ(refusal(kText, unknown),
            "cpu: unknown machine (got 'i386', expected x86-64-v3 or host)");
  EXPECT_EQ(refusal("module {}"), "cpu: the module has no kernel to compile");
}

} // namespace
} // namespace k3::cpu
