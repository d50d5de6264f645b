#ifndef TENSORD_ENGINE_OPS_REQUIRED_INPUTS_H_
#define TENSORD_ENGINE_OPS_REQUIRED_INPUTS_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "engine/ops/op_def.h"

namespace tensord {

// Whether every input that the operator needs is there, for a node that its
// OpDef has read: those that it added as constants count.
//
// Shape rules rely on it: only optional inputs may be absent there.
// Errors: kInvalidArgument names the first one that is not given.
absl::Status CheckRequiredInputs(const OpDef& def, int input_count,
                                 absl::FunctionRef<bool(int)> is_given);

}  // namespace tensord

#endif  // TENSORD_ENGINE_OPS_REQUIRED_INPUTS_H_
