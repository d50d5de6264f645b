// Activation functions with parameters: each element by itself, the output has
// the input's dtype and shape. Those without are in unary.cc.

#include <string>

#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/element_map.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> ReadAlpha(NodeReader& node, float absent) {
  IgnoreConsumedInputs(node);
  AlphaParams params;
  TENSORD_ASSIGN_OR_RETURN(params.alpha, node.Float("alpha", absent));
  return params;
}

absl::StatusOr<OpParams> ReadAlphaOf1(NodeReader& node) {
  return ReadAlpha(node, 1.0f);
}

absl::StatusOr<OpParams> ReadLeakyRelu(NodeReader& node) {
  return ReadAlpha(node, 0.01f);
}

absl::StatusOr<OpParams> ReadCelu(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(OpParams params, ReadAlphaOf1(node));
  if (std::get<AlphaParams>(params).alpha == 0) {
    return absl::InvalidArgumentError(
        "attribute 'alpha' is 0, and x is divided by it");
  }
  return params;
}

absl::StatusOr<OpParams> ReadGelu(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(const std::string approximate,
                           node.String("approximate", "none"));
  if (approximate != "none" && approximate != "tanh") {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute 'approximate' is ", Quoted(approximate),
                     ", not none or tanh"));
  }
  return GeluParams{.approximates_by_tanh = approximate == "tanh"};
}

absl::StatusOr<OpParams> ReadHardSigmoid(NodeReader& node) {
  IgnoreConsumedInputs(node);
  HardSigmoidParams params;
  TENSORD_ASSIGN_OR_RETURN(params.alpha, node.Float("alpha", 0.2f));
  TENSORD_ASSIGN_OR_RETURN(params.beta, node.Float("beta", 0.5f));
  return params;
}

// Operator set 6 gave the defaults more digits.
absl::StatusOr<OpParams> ReadSelu(NodeReader& node) {
  IgnoreConsumedInputs(node);
  const bool is_short = node.opset() < 6;
  SeluParams params;
  TENSORD_ASSIGN_OR_RETURN(
      params.alpha, node.Float("alpha", is_short ? 1.6732f : 1.67326319f));
  TENSORD_ASSIGN_OR_RETURN(
      params.gamma, node.Float("gamma", is_short ? 1.0507f : 1.05070102f));
  return params;
}

}  // namespace

OpDef CeluDef() {
  return ElementMapDef(OpKind::kCelu, &InferFloatMap, &ReadCelu);
}
OpDef EluDef() {
  return ElementMapDef(OpKind::kElu, &InferFloatMap, &ReadAlphaOf1);
}
OpDef GeluDef() {
  return ElementMapDef(OpKind::kGelu, &InferFloatMap, &ReadGelu);
}
OpDef HardSigmoidDef() {
  return ElementMapDef(OpKind::kHardSigmoid, &InferFloatMap, &ReadHardSigmoid);
}
OpDef LeakyReluDef() {
  return ElementMapDef(OpKind::kLeakyRelu, &InferFloatMap, &ReadLeakyRelu);
}
OpDef SeluDef() {
  return ElementMapDef(OpKind::kSelu, &InferFloatMap, &ReadSelu);
}
OpDef SwishDef() {
  return ElementMapDef(OpKind::kSwish, &InferFloatMap, &ReadAlphaOf1);
}
OpDef ThresholdedReluDef() {
  return ElementMapDef(OpKind::kThresholdedRelu, &InferFloatMap, &ReadAlphaOf1);
}

}  // namespace tensord
