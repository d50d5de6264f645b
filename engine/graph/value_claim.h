#ifndef TENSORD_ENGINE_GRAPH_VALUE_CLAIM_H_
#define TENSORD_ENGINE_GRAPH_VALUE_CLAIM_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engine/graph/dim.h"
#include "engine/graph/graph.h"

namespace tensord {

// Whether what a client says of a value can be true. kInvalidArgument with both
// types when dtype, rank or an extent that both know differ; `what` is the
// noun: "output 'y'". An undefined dtype, an unknown rank and a symbol claim
// nothing: exporters leave symbols from before a rewrite, and equal names are
// no promise that a run relies on. Threading and ownership: pure.
absl::Status CheckClaim(absl::string_view what, const TensorType& claim,
                        const TensorType& actual, const SymbolTable& symbols);

// "float32 [n, 3]"; "float32 of unknown rank".
std::string TypeToString(const TensorType& type, const SymbolTable& symbols);

}  // namespace tensord

#endif  // TENSORD_ENGINE_GRAPH_VALUE_CLAIM_H_
