#ifndef TENSORD_ENGINE_OPS_INDEXING_H_
#define TENSORD_ENGINE_OPS_INDEXING_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/graph/dim.h"
#include "engine/ops/infer_context.h"

namespace tensord {

// Rules that the gathering and scattering operators share; input 0 is the data,
// input 1 the indices. Threading and ownership: pure.

// The indices, of the data's rank, are within the data in every dimension but
// `axis`.
absl::Status CheckIndicesFit(const InferContext& context, int axis);

// What tuples of indices pick: the last dimension of the indices is a tuple
// that counts from dimension `batch_dims` of the data on. The shape is that of
// the indices without their last dimension, followed by the data's dimensions
// that the tuples leave. Nothing while the length of the tuples is not known.
absl::StatusOr<std::optional<SymbolicShape>> PickedShape(
    const InferContext& context, int64_t batch_dims);

}  // namespace tensord

#endif  // TENSORD_ENGINE_OPS_INDEXING_H_
