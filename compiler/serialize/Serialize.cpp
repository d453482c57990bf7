//===- Serialize.cpp - From the plan dialect to a plan file ---------------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fills the head of the plan from the module's attributes, then its programs, and hands both to the
// writer of the runtime, which checks what it wrote.
//
//===----------------------------------------------------------------------===//

#include "compiler/serialize/Serialize.h"

#include "compiler/serialize/ProgramWriter.h"
#include "dialects/k3/K3Dialect.h"
#include "runtime/loader/PlanWriter.h"

#include "llvm/Config/llvm-config.h"

#include <algorithm>

using namespace mlir;

namespace k3 {

/// The integer of a dictionary, or `otherwise` if it is not there.
static int64_t integer(DictionaryAttr dictionary, StringRef name, int64_t otherwise = 0) {
  auto value = dictionary ? dictionary.getAs<IntegerAttr>(name) : IntegerAttr();
  return value ? value.getInt() : otherwise;
}

static std::string text(DictionaryAttr dictionary, StringRef name) {
  auto value = dictionary ? dictionary.getAs<StringAttr>(name) : StringAttr();
  return value ? value.str() : "";
}

static std::unique_ptr<plan::ModelT> writeModel(DictionaryAttr facts) {
  auto model = std::make_unique<plan::ModelT>();
  model->name = text(facts, "name");
  if (model->name.empty())
    model->name = "module";
  model->config_hash = text(facts, "config_hash");
  model->index_hash = text(facts, "index_hash");
  model->layers = integer(facts, "layers");
  model->kda_layers = integer(facts, "kda_layers");
  model->mla_layers = integer(facts, "mla_layers");
  model->text_parameters = integer(facts, "text_parameters");
  model->vocab_size = integer(facts, "vocab_size");
  model->hidden_size = integer(facts, "hidden_size");
  model->bos_token_id = integer(facts, "bos_token_id", -1);
  if (auto ids = facts ? facts.getAs<DenseI64ArrayAttr>("eos_token_ids") : DenseI64ArrayAttr())
    model->eos_token_ids.assign(ids.asArrayRef().begin(), ids.asArrayRef().end());
  model->cache_bytes_per_token = integer(facts, "cache_bytes_per_token");
  model->state_bytes_per_sequence = integer(facts, "state_bytes_per_sequence");
  return model;
}

/// Cache pages are what the plan phase sized the caches for: a full context for every sequence.
static std::unique_ptr<plan::LimitsT> writeLimits(DictionaryAttr source) {
  auto limits = std::make_unique<plan::LimitsT>();
  limits->max_tokens = integer(source, "max_tokens");
  limits->max_seqs = integer(source, "max_seqs");
  limits->max_context = integer(source, "max_context");
  limits->max_logit_rows = integer(source, "max_logit_rows");
  limits->page_tokens = integer(source, "page_tokens", 1);
  limits->cache_pages =
      limits->max_seqs * ((limits->max_context + limits->page_tokens - 1) / limits->page_tokens);
  return limits;
}

static void writeHead(ModuleOp module, const PlanContents &contents, plan::PlanT &plan) {
  plan.producer = std::make_unique<plan::ProducerT>();
  plan.producer->version = K3_VERSION;
  plan.producer->flags = contents.flags;
  plan.producer->llvm_version = LLVM_VERSION_STRING;
  plan.producer->nvrtc_version = contents.nvrtcVersion;
  plan.model = writeModel(module->getAttrOfType<DictionaryAttr>(kModelAttr));
  plan.limits = writeLimits(module->getAttrOfType<DictionaryAttr>(model::kLimitsAttr));
  plan.target = std::make_unique<plan::TargetT>();
  plan.target->name = contents.target;
  plan.target->triple = contents.triple;
  plan.target->features = contents.features;
  std::sort(plan.target->features.begin(), plan.target->features.end());
  auto mesh = module->getAttrOfType<DictionaryAttr>(model::kMeshAttr);
  plan.mesh = std::make_unique<plan::MeshT>();
  plan.mesh->tp = integer(mesh, "tp", 1);
  plan.mesh->ep = integer(mesh, "ep", 1);
  plan.mesh->pp = integer(mesh, "pp", 1);
}

/// One image and segment a kernel, in the order of the plan's kernels.
static Status addCubins(plan::PlanT &plan, const std::vector<KernelImage> &cubins,
                        std::vector<SegmentBytes> &segments) {
  for (auto &kernel : plan.kernels) {
    auto found =
        llvm::find_if(cubins, [&](const KernelImage &image) { return image.name == kernel->name; });
    if (found == cubins.end())
      return Status::failed("kernel '" + kernel->name + "': has no code; compile the plan again");
    kernel->image = plan.images.size();
    kernel->block = {found->threads, 1, 1};
    kernel->shared_bytes = found->sharedBytes;
    kernel->registers = found->registers;
    kernel->spill_bytes = found->spillBytes;
    plan.images.push_back(std::make_unique<plan::ImageT>());
    plan.images.back()->kind = plan::ImageKind::Cubin;
    plan.images.back()->segment = segments.size();
    segments.push_back({kernel->name, found->bytes});
  }
  return Status::ok();
}

Result<std::string> serializePlan(ModuleOp module, const PlanContents &contents) {
  plan::PlanT plan;
  writeHead(module, contents, plan);
  Tables tables(plan);
  for (auto symbol : module.getOps<host::SymbolOp>())
    tables.addSymbol(symbol);
  SmallVector<host::ProgramOp> programs(module.getOps<host::ProgramOp>());
  if (programs.empty())
    return Status::refused(
        "plan: the module has no program (got 0 plan.program ops, expected one a "
        "rank); run the plan phase first");
  llvm::sort(programs,
             [](host::ProgramOp a, host::ProgramOp b) { return a.getRank() < b.getRank(); });
  for (host::ProgramOp program : programs)
    plan.programs.push_back(writeProgram(program, tables));

  std::vector<SegmentBytes> segments;
  if (!contents.sharedObject.empty()) {
    segments.push_back({"cpu", contents.sharedObject});
    plan.images.push_back(std::make_unique<plan::ImageT>());
    plan.images.back()->kind = plan::ImageKind::CpuSharedObject;
    plan.images.back()->segment = 0;
  }
  if (!contents.cubins.empty())
    K3_RETURN_IF_ERROR(addCubins(plan, contents.cubins, segments));
  return writePlan(plan, segments);
}

} // namespace k3
