#ifndef TENSORD_ENGINE_OPS_ELEMENT_MAP_H_
#define TENSORD_ENGINE_OPS_ELEMENT_MAP_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/api/op_kind.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

// What the definitions of operators that map each element of one input share.
// A version that only adds dtypes to an operator is not told apart from those
// before it.
namespace tensord {

// Output 0 has input 0's dtype and shape; the dtype is one of the standard's
// floating types, of the signed numbers, or of all numbers.
absl::Status InferFloatMap(InferContext& context);
absl::Status InferSignedMap(InferContext& context);
absl::Status InferNumericMap(InferContext& context);

// Before operator set 6, `consumed_inputs` named inputs that could be written
// over, which the planner finds out by itself.
void IgnoreConsumedInputs(NodeReader& node);

// For operators whose only attribute that ever was is `consumed_inputs`.
absl::StatusOr<OpParams> ReadConsumedInputs(NodeReader& node);

// An operator of one input. Without `read` it never had an attribute.
OpDef ElementMapDef(OpKind op, absl::Status (*infer)(InferContext&),
                    absl::StatusOr<OpParams> (*read)(NodeReader&) = nullptr);

}  // namespace tensord

#endif  // TENSORD_ENGINE_OPS_ELEMENT_MAP_H_
