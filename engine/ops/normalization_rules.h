#ifndef TENSORD_ENGINE_OPS_NORMALIZATION_RULES_H_
#define TENSORD_ENGINE_OPS_NORMALIZATION_RULES_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/ops/node_reader.h"

namespace tensord {

// Attributes that normalizations share.
// Threading and ownership: pure functions.

// 'epsilon', 1e-5 unless given: what keeps a variance of 0 from dividing.
// kInvalidArgument below 0 and for what is no finite number.
absl::StatusOr<float> ReadEpsilon(NodeReader& node);

// 'stash_type', the precision in which to normalise: any floating dtype will
// do, since kernels compute in float32 or better whatever it says.
// kInvalidArgument for others.
absl::Status CheckStashType(NodeReader& node);

}  // namespace tensord

#endif  // TENSORD_ENGINE_OPS_NORMALIZATION_RULES_H_
