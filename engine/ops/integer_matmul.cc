// MatMulInteger and QLinearMatMul: matrix products of 8-bit integers, with
// shapes as MatMul's. MatMulInteger has inputs a, b, a_zero_point, b_zero_point
// and gives the sums in int32; QLinearMatMul has a, a_scale, a_zero_point, b,
// b_scale, b_zero_point, y_scale, y_zero_point and gives integers again. Zero
// points and scales are one element, or one for each row of a and column of b.

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/integer_rules.h"
#include "engine/ops/matmul_rules.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

// A zero point or scale of the lines (rows or columns) of input `of`, which are
// its dimension `line`, counted from the end: one element, a vector with one
// for each, or of the input's shape with 1 for the other of the last two.
absl::Status CheckPerLine(const InferContext& context, int i,
                          absl::string_view what, int of, int line) {
  if (!context.has_input(i)) return absl::OkStatus();
  const SymbolicShape& shape = context.shape(i);
  const SymbolicShape& matrices = context.shape(of);
  if (shape.empty() || (shape.size() == 1 && shape[0] == Dim::Known(1))) {
    return absl::OkStatus();
  }
  const int rank = static_cast<int>(matrices.size());
  if (rank < 2) return context.CheckOneElement(i);
  if (shape.size() == 1) {
    return context.CheckSameDim(
        absl::StrCat(what, " vs lines of input ", of, ":"), shape[0],
        matrices[rank - line]);
  }
  TENSORD_RETURN_IF_ERROR(context.CheckRank(i, rank, rank));
  for (int d = 0; d < rank; ++d) {
    const bool is_other = d >= rank - 2 && d != rank - line;
    TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
        absl::StrCat(what, " vs input ", of, ": dimension ", d, ":"), shape[d],
        is_other ? Dim::Known(1) : matrices[d]));
  }
  return absl::OkStatus();
}

constexpr int kRows = 2;
constexpr int kColumns = 1;

absl::Status InferMatMulInteger(InferContext& context) {
  for (int i : {0, 1}) {
    TENSORD_RETURN_IF_ERROR(CheckBytes(context, i));
    TENSORD_RETURN_IF_ERROR(CheckZeroPoint(context, 2 + i, i));
  }
  TENSORD_ASSIGN_OR_RETURN(SymbolicShape y, InferMatMulShape(context, 0, 1));
  TENSORD_RETURN_IF_ERROR(CheckPerLine(context, 2, "zero points", 0, kRows));
  TENSORD_RETURN_IF_ERROR(CheckPerLine(context, 3, "zero points", 1, kColumns));
  context.SetOutput(0, DType::kInt32, std::move(y));
  return absl::OkStatus();
}

absl::Status InferQLinearMatMul(InferContext& context) {
  enum { kA, kAScale, kAZero, kB, kBScale, kBZero, kYScale, kYZero };
  for (int i : {kA, kB, kYZero}) {
    TENSORD_RETURN_IF_ERROR(CheckBytes(context, i));
  }
  TENSORD_RETURN_IF_ERROR(CheckZeroPoint(context, kAZero, kA));
  TENSORD_RETURN_IF_ERROR(CheckZeroPoint(context, kBZero, kB));
  TENSORD_RETURN_IF_ERROR(context.CheckDType(
      kAScale, {DType::kFloat32, DType::kFloat16, DType::kBFloat16}));
  TENSORD_RETURN_IF_ERROR(context.CheckSameDType(kAScale, kBScale));
  TENSORD_RETURN_IF_ERROR(context.CheckSameDType(kAScale, kYScale));
  TENSORD_RETURN_IF_ERROR(context.CheckOneElement(kYScale));
  TENSORD_RETURN_IF_ERROR(context.CheckOneElement(kYZero));
  TENSORD_ASSIGN_OR_RETURN(SymbolicShape y, InferMatMulShape(context, kA, kB));
  TENSORD_RETURN_IF_ERROR(CheckPerLine(context, kAScale, "scales", kA, kRows));
  TENSORD_RETURN_IF_ERROR(
      CheckPerLine(context, kAZero, "zero points", kA, kRows));
  TENSORD_RETURN_IF_ERROR(
      CheckPerLine(context, kBScale, "scales", kB, kColumns));
  TENSORD_RETURN_IF_ERROR(
      CheckPerLine(context, kBZero, "zero points", kB, kColumns));
  context.SetOutput(0, context.dtype(kYZero), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef MatMulIntegerDef() {
  return {.op = OpKind::kMatMulInteger,
          .min_inputs = 2,
          .max_inputs = 4,
          .infer = &InferMatMulInteger};
}

OpDef QLinearMatMulDef() {
  return {.op = OpKind::kQLinearMatMul,
          .min_inputs = 8,
          .max_inputs = 8,
          .infer = &InferQLinearMatMul};
}

}  // namespace tensord
