#include "engine/ops/required_inputs.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tensord {

absl::Status CheckRequiredInputs(const OpDef& def, int input_count,
                                 absl::FunctionRef<bool(int)> is_given) {
  // Where any number may be given, each that is has to be there; Loop and its
  // like look at theirs themselves.
  const bool takes_any_number =
      def.max_inputs >= OpDef::kVariadic && !def.is_flow;
  const int required = takes_any_number
                           ? input_count
                           : std::max(def.min_inputs, def.required_inputs);
  for (int i = 0; i < required; ++i) {
    if (i >= input_count || !is_given(i)) {
      return absl::InvalidArgumentError(
          absl::StrCat("input ", i, " is required and absent"));
    }
  }
  return absl::OkStatus();
}

}  // namespace tensord
