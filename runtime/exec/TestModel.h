//===- TestModel.h - A plan whose kernels are test functions ----*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds plans from short lines, and one plan that follows the step protocol of a model with a
// kernel that adds up ids: simple enough to know each logit, and wrong in plain sight when a token,
// slot or page is mixed up.
//
//===----------------------------------------------------------------------===//

#ifndef K3_RUNTIME_EXEC_TESTMODEL_H
#define K3_RUNTIME_EXEC_TESTMODEL_H

#include "runtime/exec/Executor.h"
#include "runtime/exec/TestModelKernel.h"
#include "runtime/schema/plan_generated.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace k3 {

/// Collects the parts of a plan of one program.
class PlanBuilder {
public:
  plan::PlanT plan;

  PlanBuilder();
  uint32_t symbol(const std::string &name, uint64_t bound);
  uint32_t constant(int64_t value);
  uint32_t symbolValue(uint32_t symbol);
  uint32_t expr(plan::ExprOp op, uint32_t lhs, uint32_t rhs);
  /// A buffer at the end of the arena of its class. SHAPE holds expressions, SIZE bytes at their
  /// bounds.
  uint32_t buffer(const std::string &name, plan::ArenaClass cls, plan::DType type,
                  std::vector<uint32_t> shape, uint64_t size);
  uint32_t kernel(const std::string &name, CpuKernel function, std::vector<plan::ArgKind> params);
  plan::EntryT &entry(const std::string &name, plan::EntryKind kind, std::vector<uint32_t> symbols);
  plan::ProgramT &program() { return *plan.programs.front(); }

  static void input(plan::EntryT &entry, const std::string &name, uint32_t buffer);
  static void output(plan::EntryT &entry, const std::string &name, uint32_t buffer);
  static void tap(plan::EntryT &entry, const std::string &name, uint32_t after, uint32_t buffer);
  template <typename Body> static void command(plan::EntryT &entry, Body body) {
    auto command = std::make_unique<plan::CommandT>();
    command->body.Set(std::move(body));
    entry.commands.push_back(std::move(command));
  }
  static std::unique_ptr<plan::ArgT> bufferArg(uint32_t buffer, uint64_t offset = 0);
  static std::unique_ptr<plan::ArgT> scalarArg(uint32_t expr);
  static plan::LaunchT launch(uint32_t kernel, std::vector<uint32_t> grid,
                              std::vector<std::unique_ptr<plan::ArgT>> args);

  /// Packs the plan and makes an executor for it. The builder must outlive the executor.
  Result<std::unique_ptr<Executor>> executor(unsigned threads = 1, bool poison = false);

private:
  uint32_t add(plan::ExprOp op, int64_t value, uint32_t lhs, uint32_t rhs);
  std::map<std::string, CpuKernel> functions_;
  flatbuffers::FlatBufferBuilder packed_;
};

/// A model of 11 ids. The state of a sequence is the sum s of its ids, each plus a bias (a weight),
/// the first of six elements of its slot, where element i is s + 100 i; the cache holds the ids.
/// After a token the logits are 1 at id (s mod 11), 0 elsewhere, and h is [s, position]. A padding
/// row that touches a slot or a page breaks it.
struct TestModelOptions {
  uint64_t maxSeqs = 2, maxTokens = 8, maxContext = 20, maxLogitRows = 5, pageTokens = 4,
           cachePages = 8;
  std::vector<uint64_t> buckets = {2, 4};
};
void buildTestModel(PlanBuilder &builder, const TestModelOptions &options = {});

} // namespace k3

#endif // K3_RUNTIME_EXEC_TESTMODEL_H
