// Bernoulli, Multinomial, RandomNormal, RandomUniform and their Like forms:
// drawn numbers. A node with a seed draws the same ones in every run.

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

constexpr DType kDrawnIndexDTypes[] = {DType::kInt32, DType::kInt64};

// The attribute dtype; `absent` where there is none.
absl::StatusOr<DType> ReadDType(NodeReader& node, DType absent) {
  if (!node.Has("dtype")) return absent;
  TENSORD_ASSIGN_OR_RETURN(const int64_t number, node.Int("dtype", 0));
  const DType dtype = DTypeFromNumber(number).value_or(DType::kUndefined);
  if (dtype == DType::kUndefined) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute 'dtype' is ", number, ", which is no dtype"));
  }
  return dtype;
}

absl::StatusOr<RandomParams> ReadDraw(NodeReader& node, DType absent_dtype) {
  RandomParams params;
  TENSORD_ASSIGN_OR_RETURN(params.dtype, ReadDType(node, absent_dtype));
  if (node.Has("seed")) {
    TENSORD_ASSIGN_OR_RETURN(params.seed, node.Float("seed", 0.0f));
  }
  return params;
}

absl::Status ReadRange(NodeReader& node, RandomParams& params) {
  TENSORD_ASSIGN_OR_RETURN(params.low, node.Float("low", 0.0f));
  TENSORD_ASSIGN_OR_RETURN(params.high, node.Float("high", 1.0f));
  if (std::isfinite(params.low) && std::isfinite(params.high) &&
      params.low <= params.high) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("attributes 'low' and 'high' are ", params.low, " and ",
                   params.high, ", which is no range"));
}

absl::Status ReadMoments(NodeReader& node, RandomParams& params) {
  TENSORD_ASSIGN_OR_RETURN(params.mean, node.Float("mean", 0.0f));
  TENSORD_ASSIGN_OR_RETURN(params.scale, node.Float("scale", 1.0f));
  if (std::isfinite(params.mean) && std::isfinite(params.scale) &&
      params.scale >= 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("attributes 'mean' and 'scale' are ", params.mean, " and ",
                   params.scale, ", not a number and a deviation"));
}

absl::Status ReadShape(NodeReader& node, RandomParams& params) {
  if (!node.Has("shape")) {
    return absl::InvalidArgumentError("attribute 'shape' is missing");
  }
  TENSORD_ASSIGN_OR_RETURN(const std::vector<int64_t> extents,
                           node.Ints("shape"));
  TENSORD_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(extents));
  params.shape.assign(extents.begin(), extents.end());
  return absl::OkStatus();
}

using ReadDistribution = absl::Status (*)(NodeReader&, RandomParams&);

template <ReadDistribution kRead>
absl::StatusOr<OpParams> ReadShaped(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(RandomParams params,
                           ReadDraw(node, DType::kFloat32));
  TENSORD_RETURN_IF_ERROR(kRead(node, params));
  TENSORD_RETURN_IF_ERROR(ReadShape(node, params));
  return params;
}

template <ReadDistribution kRead>
absl::StatusOr<OpParams> ReadLike(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(RandomParams params,
                           ReadDraw(node, DType::kUndefined));
  TENSORD_RETURN_IF_ERROR(kRead(node, params));
  return params;
}

absl::StatusOr<OpParams> ReadBernoulli(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(RandomParams params,
                           ReadDraw(node, DType::kUndefined));
  return params;
}

absl::StatusOr<OpParams> ReadMultinomial(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(RandomParams params, ReadDraw(node, DType::kInt32));
  TENSORD_ASSIGN_OR_RETURN(params.sample_count, node.Int("sample_size", 1));
  if (params.sample_count < 0 || params.sample_count > kMaxElementCount) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute 'sample_size' is ", params.sample_count,
                     ", outside [0, ", kMaxElementCount, "]"));
  }
  return params;
}

absl::Status SetDrawn(InferContext& context, DType dtype,
                      absl::Span<const DType> allowed, SymbolicShape shape) {
  for (DType candidate : allowed) {
    if (candidate != dtype) continue;
    context.SetOutput(0, dtype, std::move(shape));
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("numbers of dtype ", DTypeName(dtype), " are not drawn"));
}

// Of the dtype that was asked for, or the input's.
absl::Status InferLike(InferContext& context, absl::Span<const DType> allowed) {
  const DType asked = context.params<RandomParams>().dtype;
  return SetDrawn(context,
                  asked == DType::kUndefined ? context.dtype(0) : asked,
                  allowed, context.shape(0));
}

absl::Status InferFloatsLike(InferContext& context) {
  return InferLike(context, kFloatDTypes);
}

absl::Status InferBernoulli(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  return InferLike(context, kNumericOrBoolDTypes);
}

absl::Status InferShaped(InferContext& context) {
  const auto& params = context.params<RandomParams>();
  SymbolicShape shape;
  for (int64_t extent : params.shape) shape.push_back(Dim::Known(extent));
  return SetDrawn(context, params.dtype, kFloatDTypes, std::move(shape));
}

absl::Status InferMultinomial(InferContext& context) {
  const auto& params = context.params<RandomParams>();
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 2, 2));
  const SymbolicShape& x = context.shape(0);
  if (x[1] == Dim::Known(0)) {
    return absl::InvalidArgumentError("there are 0 classes to draw from");
  }
  return SetDrawn(context, params.dtype, kDrawnIndexDTypes,
                  {x[0], Dim::Known(params.sample_count)});
}

OpDef Random(OpKind op, int inputs,
             absl::StatusOr<OpParams> (*read)(NodeReader&),
             absl::Status (*infer)(InferContext&)) {
  return {.op = op,
          .min_inputs = inputs,
          .max_inputs = inputs,
          .read = read,
          .infer = infer,
          .is_pure = false};
}

}  // namespace

OpDef BernoulliDef() {
  return Random(OpKind::kBernoulli, 1, &ReadBernoulli, &InferBernoulli);
}
OpDef MultinomialDef() {
  return Random(OpKind::kMultinomial, 1, &ReadMultinomial, &InferMultinomial);
}
OpDef RandomNormalDef() {
  return Random(OpKind::kRandomNormal, 0, &ReadShaped<&ReadMoments>,
                &InferShaped);
}
OpDef RandomNormalLikeDef() {
  return Random(OpKind::kRandomNormalLike, 1, &ReadLike<&ReadMoments>,
                &InferFloatsLike);
}
OpDef RandomUniformDef() {
  return Random(OpKind::kRandomUniform, 0, &ReadShaped<&ReadRange>,
                &InferShaped);
}
OpDef RandomUniformLikeDef() {
  return Random(OpKind::kRandomUniformLike, 1, &ReadLike<&ReadRange>,
                &InferFloatsLike);
}

}  // namespace tensord
