#ifndef TENSORD_ENGINE_OPS_INTEGER_RULES_H_
#define TENSORD_ENGINE_OPS_INTEGER_RULES_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engine/ops/infer_context.h"

namespace tensord {

// What products and convolutions of 8-bit integers share.

// Input i is int8 or uint8; kUnimplemented for the 8-bit floats that the
// standard has beside.
absl::Status CheckBytes(const InferContext& context, int i);

// A zero point has the dtype of what it belongs to.
absl::Status CheckZeroPoint(const InferContext& context, int zero, int of);

// A zero point or scale of output channels: one element, or a vector with one
// for each.
absl::Status CheckPerChannel(const InferContext& context, int i,
                             absl::string_view what, Dim channels);

}  // namespace tensord

#endif  // TENSORD_ENGINE_OPS_INTEGER_RULES_H_
