#include "engine/ops/signal_rules.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/dtype_sets.h"

namespace tensord {

absl::Status CheckNumberParts(Dim parts) {
  if (!parts.is_known() || parts.extent() == 1 || parts.extent() == 2) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the last extent is ", parts.extent(),
                   ", not 1 (real numbers) or 2 (complex ones)"));
}

Dim OneSidedBins(InferContext& context, Dim length) {
  SymbolTable& symbols = context.symbols();
  return symbols.Add(symbols.FloorDivide(length, Dim::Known(2)), Dim::Known(1));
}

absl::StatusOr<int64_t> PositiveScalar(const InferContext& context, int i,
                                       absl::string_view what) {
  const int64_t value = ConstantIntegers(context, i)[0];
  if (value >= 1 && value <= kMaxElementCount) return value;
  return absl::InvalidArgumentError(absl::StrCat(
      what, " is ", value, ", outside [1, ", kMaxElementCount, "]"));
}

absl::StatusOr<DType> ReadOutputDType(NodeReader& node) {
  constexpr int64_t kFloatNumber = 1;  // of ONNX's DataType
  TENSORD_ASSIGN_OR_RETURN(const int64_t number,
                           node.Int("output_datatype", kFloatNumber));
  const DType dtype = DTypeFromNumber(number).value_or(DType::kUndefined);
  if (std::find(std::begin(kNumericDTypes), std::end(kNumericDTypes), dtype) ==
      std::end(kNumericDTypes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute 'output_datatype' is ", number,
                     ", which is no number's dtype"));
  }
  return dtype;
}

}  // namespace tensord
