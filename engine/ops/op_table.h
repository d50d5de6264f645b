#ifndef TENSORD_ENGINE_OPS_OP_TABLE_H_
#define TENSORD_ENGINE_OPS_OP_TABLE_H_

#include "absl/types/span.h"
#include "engine/ops/op_def.h"

namespace tensord {

// Every operator that the engine knows; the whole registry. Sorted by kind.
absl::Span<const OpDef> OpDefs();

// Null for a kind without a definition.
const OpDef* FindOpDef(OpKind op);

}  // namespace tensord

#endif  // TENSORD_ENGINE_OPS_OP_TABLE_H_
