#include "engine/graph/value_claim.h"

#include "absl/strings/str_cat.h"

namespace tensord {
namespace {

bool ShapesAgree(const SymbolicShape& a, const SymbolicShape& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].is_known() && b[i].is_known() && a[i] != b[i]) return false;
  }
  return true;
}

}  // namespace

absl::Status CheckClaim(absl::string_view what, const TensorType& claim,
                        const TensorType& actual, const SymbolTable& symbols) {
  const bool dtypes_agree = claim.dtype == DType::kUndefined ||
                            actual.dtype == DType::kUndefined ||
                            claim.dtype == actual.dtype;
  const bool shapes_agree = !claim.shape.has_value() ||
                            !actual.shape.has_value() ||
                            ShapesAgree(*claim.shape, *actual.shape);
  if (dtypes_agree && shapes_agree) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " is declared as ", TypeToString(claim, symbols),
                   " and is ", TypeToString(actual, symbols)));
}

std::string TypeToString(const TensorType& type, const SymbolTable& symbols) {
  return absl::StrCat(DTypeName(type.dtype), " ",
                      type.shape.has_value() ? symbols.ToString(*type.shape)
                                             : std::string("of unknown rank"));
}

}  // namespace tensord
