#ifndef TENSORD_ENGINE_OPS_SIGNAL_RULES_H_
#define TENSORD_ENGINE_OPS_SIGNAL_RULES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/api/dtype.h"
#include "engine/graph/dim.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"

namespace tensord {

// What the operators on signals share: transforms, windows, mel weights.
// Threading and ownership: pure functions.

// The last dimension of a tensor of real (1) or complex (2) numbers.
absl::Status CheckNumberParts(Dim parts);

// How much of the spectrum of `length` real numbers is stored: length / 2 + 1.
Dim OneSidedBins(InferContext& context, Dim length);

// The one integer of input i, an int32 or int64 that is known
// (context.constant(i) is not null); in [1, kMaxElementCount]. `what` is the
// noun of the message: "the transform's length".
absl::StatusOr<int64_t> PositiveScalar(const InferContext& context, int i,
                                       absl::string_view what);

// The attribute output_datatype: one of kNumericDTypes, float32 by default.
absl::StatusOr<DType> ReadOutputDType(NodeReader& node);

}  // namespace tensord

#endif  // TENSORD_ENGINE_OPS_SIGNAL_RULES_H_
