// QuantizeLinear: y = saturate(round(x / scale) + zero point), and
// DequantizeLinear: y = (x - zero point) * scale. The scale and the optional
// zero point are one element for the tensor, a vector with an element for each
// index of an axis, or (block_size) of x's shape but for the axis, where one
// element stands for a block.

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

// What the standard has, and of it what there is here.
constexpr DType kScales[] = {DType::kFloat32, DType::kFloat16,
                             DType::kBFloat16};
constexpr DType kScalesElsewhere[] = {DType::kInt32, DType::kFloat8E8M0};
constexpr DType kWide[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16,
                           DType::kInt32};
constexpr DType kNarrow[] = {
    DType::kInt8,       DType::kUInt8,          DType::kInt16,
    DType::kUInt16,     DType::kFloat8E4M3FN,   DType::kFloat8E4M3FNUZ,
    DType::kFloat8E5M2, DType::kFloat8E5M2FNUZ, DType::kFloat4E2M1,
    DType::kUInt4,      DType::kInt4,           DType::kUInt2,
    DType::kInt2};

bool Has(absl::Span<const DType> dtypes, DType dtype) {
  return std::find(dtypes.begin(), dtypes.end(), dtype) != dtypes.end();
}

// A dtype as an attribute; kUndefined for 0.
absl::StatusOr<DType> ReadDType(NodeReader& node, absl::string_view name) {
  TENSORD_ASSIGN_OR_RETURN(const int64_t number, node.Int(name, 0));
  if (number == 0) return DType::kUndefined;
  const std::optional<DType> dtype = DTypeFromNumber(number);
  if (dtype.has_value()) return *dtype;
  return absl::InvalidArgumentError(absl::StrCat(
      "attribute '", name, "' is ", number, ", the number of no dtype"));
}

absl::StatusOr<QuantizeParams> Read(NodeReader& node) {
  QuantizeParams params;
  if (node.opset() >= 13) {
    TENSORD_ASSIGN_OR_RETURN(params.axis, node.Int("axis", 1));
  }
  if (node.opset() >= 21) {
    TENSORD_ASSIGN_OR_RETURN(params.block_size, node.Int("block_size", 0));
    if (params.block_size < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "attribute 'block_size' is ", params.block_size, ", below 0"));
    }
  }
  return params;
}

absl::StatusOr<OpParams> ReadQuantize(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(QuantizeParams params, Read(node));
  if (node.opset() >= 19) {
    TENSORD_ASSIGN_OR_RETURN(params.saturates, node.Bool("saturate", true));
  }
  if (node.opset() >= 21) {
    TENSORD_ASSIGN_OR_RETURN(params.output_dtype,
                             ReadDType(node, "output_dtype"));
  }
  if (node.opset() >= 23) {
    TENSORD_ASSIGN_OR_RETURN(params.precision, ReadDType(node, "precision"));
    if (params.precision != DType::kUndefined &&
        !Has(kScales, params.precision)) {
      return absl::InvalidArgumentError(
          absl::StrCat("attribute 'precision' is ", DTypeName(params.precision),
                       ", not float32, float16 or bfloat16"));
    }
  }
  return params;
}

absl::StatusOr<OpParams> ReadDequantize(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(QuantizeParams params, Read(node));
  if (node.opset() >= 23) {
    TENSORD_ASSIGN_OR_RETURN(params.output_dtype,
                             ReadDType(node, "output_dtype"));
    if (params.output_dtype != DType::kUndefined &&
        !Has(kScales, params.output_dtype)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "attribute 'output_dtype' is ", DTypeName(params.output_dtype),
          ", not float32, float16 or bfloat16"));
    }
  }
  return params;
}

absl::Status CheckBlocks(InferContext& context, int64_t block_size, int axis) {
  const SymbolicShape& x = context.shape(0);
  TENSORD_RETURN_IF_ERROR(
      context.CheckRank(1, context.rank(0), context.rank(0)));
  for (int i = 0; i < context.rank(0); ++i) {
    Dim expected = x[i];
    if (i == axis) {
      // (x - 1) / block + 1, which cannot overflow.
      SymbolTable& symbols = context.symbols();
      expected =
          symbols.Add(symbols.FloorDivide(symbols.Add(x[i], Dim::Known(-1)),
                                          Dim::Known(block_size)),
                      Dim::Known(1));
    }
    TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
        absl::StrCat("dimension ", i, " of the scale vs blocks:"),
        context.shape(1)[i], expected));
  }
  return absl::OkStatus();
}

bool IsOneElement(const SymbolicShape& shape) {
  return shape.empty() || (shape.size() == 1 && shape[0] == Dim::Known(1));
}

// The zero point has the scale's shape; exporters write one element as a scalar
// or as a vector, and not always both in the same way.
absl::Status CheckZeroPoint(InferContext& context) {
  const SymbolicShape& scale = context.shape(1);
  const SymbolicShape& zero_point = context.shape(2);
  if (IsOneElement(scale) && IsOneElement(zero_point)) return absl::OkStatus();
  const int rank = context.rank(1);
  TENSORD_RETURN_IF_ERROR(context.CheckRank(2, rank, rank));
  for (int i = 0; i < rank; ++i) {
    TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
        absl::StrCat("scale vs zero point: dimension ", i, ":"), scale[i],
        zero_point[i]));
  }
  return absl::OkStatus();
}

absl::Status CheckScale(InferContext& context) {
  const QuantizeParams& params = context.params<QuantizeParams>();
  if (Has(kScalesElsewhere, context.dtype(1))) {
    return absl::UnimplementedError(absl::StrCat(
        "a scale of ", DTypeName(context.dtype(1)), " is not supported"));
  }
  TENSORD_RETURN_IF_ERROR(context.CheckDType(1, kScales));
  const SymbolicShape& scale = context.shape(1);
  if (context.has_input(2)) TENSORD_RETURN_IF_ERROR(CheckZeroPoint(context));
  // One element: the axis and the blocks say nothing.
  if (IsOneElement(scale)) return absl::OkStatus();
  TENSORD_ASSIGN_OR_RETURN(const int axis,
                           context.NormalizeAxis(params.axis, context.rank(0)));
  if (params.block_size > 0) {
    return CheckBlocks(context, params.block_size, axis);
  }
  TENSORD_RETURN_IF_ERROR(context.CheckRank(1, 0, 1));
  return context.CheckSameDim(
      absl::StrCat("scale vs dimension ", axis, " of x:"), scale[0],
      context.shape(0)[axis]);
}

absl::Status InferQuantize(InferContext& context) {
  const QuantizeParams& params = context.params<QuantizeParams>();
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kWide));
  TENSORD_RETURN_IF_ERROR(CheckScale(context));
  DType dtype = params.output_dtype;
  if (context.has_input(2)) {
    if (dtype != DType::kUndefined && dtype != context.dtype(2)) {
      return absl::InvalidArgumentError(
          absl::StrCat("output_dtype ", DTypeName(dtype),
                       " vs zero point: ", DTypeName(context.dtype(2))));
    }
    dtype = context.dtype(2);
  }
  if (dtype == DType::kUndefined) dtype = DType::kUInt8;
  if (!Has(kNarrow, dtype)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the output would have dtype ", DTypeName(dtype),
                     ", to which nothing is quantized"));
  }
  context.SetOutput(0, dtype, context.shape(0));
  return absl::OkStatus();
}

absl::Status InferDequantize(InferContext& context) {
  const QuantizeParams& params = context.params<QuantizeParams>();
  if (context.dtype(0) != DType::kInt32) {
    TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kNarrow));
  }
  TENSORD_RETURN_IF_ERROR(CheckScale(context));
  if (context.has_input(2)) {
    TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, 2));
  }
  context.SetOutput(0,
                    params.output_dtype == DType::kUndefined
                        ? context.dtype(1)
                        : params.output_dtype,
                    context.shape(0));
  return absl::OkStatus();
}

}  // namespace

OpDef QuantizeLinearDef() {
  return {.op = OpKind::kQuantizeLinear,
          .min_inputs = 2,
          .max_inputs = 3,
          .read = &ReadQuantize,
          .infer = &InferQuantize};
}

OpDef DequantizeLinearDef() {
  return {.op = OpKind::kDequantizeLinear,
          .min_inputs = 2,
          .max_inputs = 3,
          .read = &ReadDequantize,
          .infer = &InferDequantize};
}

}  // namespace tensord
