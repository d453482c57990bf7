//===- ModelDef.cpp - The tensors of a model family --------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A strict reader (an unknown key in a definition is a mistake of ours) and the expansion of a
// definition with a configuration. Experts are never expanded: they are a count.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/ModelDef.h"

#include "compiler/import/EmbeddedDefs.h"

namespace k3 {

using json::Kind;
using json::Node;

namespace {

constexpr int64_t kMxfp4Group = 32;
constexpr int64_t kMxfp4GroupBytes = 17;
constexpr int64_t kMaxBlocks = 4096;

class DefReader {
public:
  DefReader(const json::Document &document, ModelDef &def) : document_(document), def_(def) {}

  Status read() {
    const Node &root = document_.root();
    if (!root.isObject())
      return fail(root, "expected an object");
    const Node *tensors = nullptr;
    for (const Node *member : root.children) {
      if (member->key == "family") {
        K3_ASSIGN_OR_RETURN(def_.family, text(*member));
      } else if (member->key == "prefixes") {
        K3_ASSIGN_OR_RETURN(def_.prefixes, texts(*member));
      } else if (member->key == "extends") {
        K3_ASSIGN_OR_RETURN(std::string base, text(*member));
        K3_ASSIGN_OR_RETURN(ModelDef other, loadModelDef(base));
        def_.tensors = std::move(other.tensors);
      } else if (member->key == "tensors") {
        tensors = member;
      } else {
        return fail(*member, "unknown key");
      }
    }
    if (def_.family.empty() || def_.prefixes.empty() || !tensors || !tensors->isArray())
      return fail(root, "family, prefixes and tensors are needed");
    for (const Node *tensor : tensors->children)
      K3_RETURN_IF_ERROR(readTensor(*tensor));
    return {};
  }

private:
  Status fail(const Node &node, const std::string &what) const {
    return Status::refused(document_.where(node) + ": " + what + " (got " + node.describe() + ")");
  }
  Result<std::string> text(const Node &node) const {
    if (node.kind != Kind::String)
      return fail(node, "expected a string");
    return node.string;
  }
  Result<bool> flag(const Node &node) const {
    if (node.kind != Kind::Boolean)
      return fail(node, "expected true or false");
    return node.boolean;
  }
  Result<std::vector<std::string>> texts(const Node &node) const {
    if (!node.isArray())
      return fail(node, "expected an array of strings");
    std::vector<std::string> result;
    for (const Node *entry : node.children) {
      K3_ASSIGN_OR_RETURN(std::string value, text(*entry));
      result.push_back(std::move(value));
    }
    return result;
  }
  Result<DefExpr> expression(const Node &node) const {
    K3_ASSIGN_OR_RETURN(std::string source, text(node));
    Result<DefExpr> expr = DefExpr::parse(std::move(source));
    if (!expr.isOk())
      return Status::refused(document_.where(node) + ": " + expr.status().message());
    return expr;
  }
  Result<std::vector<DefExpr>> shape(const Node &node) const {
    if (!node.isArray())
      return fail(node, "expected an array of expressions");
    std::vector<DefExpr> result;
    for (const Node *entry : node.children) {
      K3_ASSIGN_OR_RETURN(DefExpr extent, expression(*entry));
      result.push_back(std::move(extent));
    }
    return result;
  }
  Result<std::vector<Encoding>> encodings(const Node &node) const {
    K3_ASSIGN_OR_RETURN(std::vector<std::string> names, texts(node));
    std::vector<Encoding> result;
    for (const std::string &name : names) {
      if (name != "BF16" && name != "F32")
        return fail(node, "a dtype is BF16 or F32");
      result.push_back(name == "BF16" ? Encoding::Bf16 : Encoding::F32);
    }
    return result;
  }

  Status readTensor(const Node &node) {
    if (!node.isObject())
      return fail(node, "expected an object");
    TensorDef tensor;
    for (const Node *member : node.children) {
      const std::string &key = member->key;
      if (key == "role") {
        K3_ASSIGN_OR_RETURN(tensor.role, text(*member));
      } else if (key == "name") {
        K3_ASSIGN_OR_RETURN(tensor.name, text(*member));
      } else if (key == "shape") {
        K3_ASSIGN_OR_RETURN(tensor.shape, shape(*member));
      } else if (key == "other_shapes") {
        if (!member->isArray())
          return fail(*member, "expected an array of shapes");
        for (const Node *other : member->children) {
          K3_ASSIGN_OR_RETURN(std::vector<DefExpr> extents, shape(*other));
          tensor.otherShapes.push_back(std::move(extents));
        }
      } else if (key == "padded") {
        K3_ASSIGN_OR_RETURN(tensor.padded, flag(*member));
      } else if (key == "mxfp4") {
        K3_ASSIGN_OR_RETURN(tensor.mxfp4, flag(*member));
      } else if (key == "dtype") {
        K3_ASSIGN_OR_RETURN(tensor.encodings, encodings(*member));
      } else if (key == "when") {
        K3_ASSIGN_OR_RETURN(tensor.when, expression(*member));
      } else if (key == "repeat") {
        K3_ASSIGN_OR_RETURN(tensor.repeat, expression(*member));
      } else if (key == "group") {
        K3_ASSIGN_OR_RETURN(tensor.group, text(*member));
      } else {
        return fail(*member, "unknown key");
      }
    }
    if (tensor.role.empty() || tensor.name.empty() || tensor.shape.empty() ||
        tensor.encodings.empty())
      return fail(node, "role, name, shape and dtype are needed");
    if ((tensor.name.find("{B}") != std::string::npos) != tensor.repeat.has_value())
      return fail(node, "{B} and repeat belong together");
    if (tensor.mxfp4 && (tensor.shape.size() != 2 || !tensor.name.ends_with(".weight")))
      return fail(node, "mxfp4 needs a matrix whose name ends in .weight");
    def_.tensors.push_back(std::move(tensor));
    return {};
  }

  const json::Document &document_;
  ModelDef &def_;
};

Status inTensor(const TensorDef &def, const Status &status) {
  return Status::refused("tensor " + def.name + ": " + status.message());
}

Result<std::vector<int64_t>> evaluateShape(const std::vector<DefExpr> &shape,
                                           const ExprScope &scope) {
  std::vector<int64_t> result;
  for (const DefExpr &extent : shape) {
    K3_ASSIGN_OR_RETURN(int64_t value, extent.number(scope));
    if (value < 1)
      return Status::refused("an extent is not positive (got " + extent.text() + " = " +
                             std::to_string(value) + ")");
    result.push_back(value);
  }
  return result;
}

ExprScope scopeOf(const ModelConfig &config, int64_t layer) {
  return [&config, layer](std::string_view name) { return config.value(name, layer); };
}

/// Adds the tensor of one layer (or of none), if its condition holds there.
Status expand(const TensorDef &def, const ModelConfig &config, int64_t layer,
              std::vector<ExpectedTensor> &tensors) {
  ExprScope scope = scopeOf(config, layer);
  if (def.when) {
    K3_ASSIGN_OR_RETURN(bool wanted, def.when->condition(scope));
    if (!wanted)
      return {};
  }
  ExpectedTensor tensor;
  tensor.def = &def;
  tensor.layer = layer;
  if (def.inExperts())
    tensor.copies = config.numExperts;
  if (def.repeat) {
    K3_ASSIGN_OR_RETURN(tensor.copies, def.repeat->number(scope));
    if (tensor.copies < 0 || tensor.copies > kMaxBlocks)
      return Status::refused(def.repeat->text() + ": out of range (got " +
                             std::to_string(tensor.copies) + ", expected 0 to " +
                             std::to_string(kMaxBlocks) + ")");
  }
  K3_ASSIGN_OR_RETURN(tensor.shape, evaluateShape(def.shape, scope));
  tensor.elements = 1;
  for (int64_t extent : tensor.shape)
    if (__builtin_mul_overflow(tensor.elements, extent, &tensor.elements))
      return Status::refused("the tensor is too large (shape " + shapeText(tensor.shape) + ")");
  tensors.push_back(std::move(tensor));
  return {};
}

} // namespace

std::string_view encodingName(Encoding encoding) {
  switch (encoding) {
  case Encoding::Bf16:
    return "bf16";
  case Encoding::F32:
    return "f32";
  case Encoding::Mxfp4:
    return "mxfp4";
  }
  return "";
}

int64_t encodedBytes(Encoding encoding, int64_t elements) {
  switch (encoding) {
  case Encoding::Bf16:
    return elements * 2;
  case Encoding::F32:
    return elements * 4;
  case Encoding::Mxfp4:
    return elements / kMxfp4Group * kMxfp4GroupBytes;
  }
  return 0;
}

std::string shapeText(const std::vector<int64_t> &shape) {
  std::string result = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    result += (i ? ", " : "") + std::to_string(shape[i]);
  return result + "]";
}

Result<ModelDef> parseModelDef(std::string_view text, const std::string &file) {
  K3_ASSIGN_OR_RETURN(json::Document document, json::Document::parse(text, file));
  ModelDef def;
  K3_RETURN_IF_ERROR(DefReader(document, def).read());
  return def;
}

Result<ModelDef> loadModelDef(const std::string &family) {
  for (const EmbeddedDef &embedded : embeddedDefs())
    if (embedded.family == family)
      return parseModelDef(embedded.text, "model-defs/" + family + "/tensors.json");
  std::string known;
  for (const std::string &name : modelFamilies())
    known += (known.empty() ? "" : ", ") + name;
  return Status::refused("model family '" + family + "': not known (expected one of " + known +
                         ")");
}

std::vector<std::string> modelFamilies() {
  std::vector<std::string> result;
  for (const EmbeddedDef &embedded : embeddedDefs())
    result.emplace_back(embedded.family);
  return result;
}

Result<ExpectedTensors> expectedTensors(const ModelDef &def, const ModelConfig &config) {
  ExpectedTensors result;
  auto run = [&](const TensorDef &tensor, int64_t layer) -> Status {
    Status status = expand(tensor, config, layer, result.tensors);
    return status.isOk() ? status : inTensor(tensor, status);
  };
  for (const TensorDef &tensor : def.tensors)
    if (tensor.group.empty() && !tensor.inLayers())
      K3_RETURN_IF_ERROR(run(tensor, -1));
  for (int64_t layer = 0; layer < config.numHiddenLayers; ++layer)
    for (const TensorDef &tensor : def.tensors)
      if (tensor.group.empty() && tensor.inLayers())
        K3_RETURN_IF_ERROR(run(tensor, layer));
  if (!config.hasVision)
    return result;
  size_t text = result.tensors.size();
  for (const TensorDef &tensor : def.tensors) {
    if (tensor.group.empty())
      continue;
    if (Status status = run(tensor, -1); !status.isOk()) {
      result.tensors.resize(text);
      result.notes.push_back(
          "vision_config does not describe the vision tower, which is left out (" +
          status.message() + ")");
      break;
    }
  }
  return result;
}

Result<std::vector<std::vector<int64_t>>> otherShapes(const TensorDef &def,
                                                      const ModelConfig &config, int64_t layer) {
  std::vector<std::vector<int64_t>> result;
  for (const std::vector<DefExpr> &shape : def.otherShapes) {
    K3_ASSIGN_OR_RETURN(std::vector<int64_t> extents, evaluateShape(shape, scopeOf(config, layer)));
    result.push_back(std::move(extents));
  }
  return result;
}

} // namespace k3
