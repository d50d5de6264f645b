#include "engine/ops/integer_rules.h"

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"

namespace tensord {

absl::Status CheckBytes(const InferContext& context, int i) {
  switch (context.dtype(i)) {
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E4M3FNUZ:
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ:
      return absl::UnimplementedError(
          absl::StrCat("input ", i, " has dtype ", DTypeName(context.dtype(i)),
                       ", which is not supported here"));
    default:
      return context.CheckDType(i, {DType::kInt8, DType::kUInt8});
  }
}

absl::Status CheckZeroPoint(const InferContext& context, int zero, int of) {
  if (!context.has_input(zero)) return absl::OkStatus();
  return context.CheckSameDType(of, zero);
}

absl::Status CheckPerChannel(const InferContext& context, int i,
                             absl::string_view what, Dim channels) {
  if (!context.has_input(i)) return absl::OkStatus();
  TENSORD_RETURN_IF_ERROR(context.CheckRank(i, 0, 1));
  if (context.rank(i) == 0 || context.shape(i)[0] == Dim::Known(1)) {
    return absl::OkStatus();
  }
  return context.CheckSameDim(absl::StrCat(what, " vs output channels:"),
                              context.shape(i)[0], channels);
}

}  // namespace tensord
