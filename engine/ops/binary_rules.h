#ifndef TENSORD_ENGINE_OPS_BINARY_RULES_H_
#define TENSORD_ENGINE_OPS_BINARY_RULES_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/api/op_params.h"
#include "engine/graph/dim.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"

namespace tensord {

// What operators of two inputs have in common, Add and Equal and their like.
// Threading and ownership: pure functions.

// Below operator set 7 their inputs broadcast only with the attribute
// 'broadcast', input 1 to input 0's shape, its dimensions beginning at 'axis':
// AxisParams. Without an axis the last dimensions align, as they do in newer
// sets: NoParams. That inputs then broadcast without having asked for it is
// let pass, as other readers do.
absl::StatusOr<OpParams> ReadBinary(NodeReader& node);

// The shape that inputs 0 and 1 broadcast to, by the parameters that ReadBinary
// gave. kInvalidArgument with the numbers.
absl::StatusOr<SymbolicShape> InferBinaryShape(InferContext& context);

}  // namespace tensord

#endif  // TENSORD_ENGINE_OPS_BINARY_RULES_H_
