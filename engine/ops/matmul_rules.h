#ifndef TENSORD_ENGINE_OPS_MATMUL_RULES_H_
#define TENSORD_ENGINE_OPS_MATMUL_RULES_H_

#include "absl/status/statusor.h"
#include "engine/graph/dim.h"
#include "engine/ops/infer_context.h"

namespace tensord {

// The shape of numpy.matmul(input a, input b), for operators that multiply like
// it: matrices in the last two dimensions, the others broadcast; a 1-D input is
// a row on the left and a column on the right, and its dimension is not in the
// output. Dtypes are the caller's to check.
absl::StatusOr<SymbolicShape> InferMatMulShape(InferContext& context, int a,
                                               int b);

}  // namespace tensord

#endif  // TENSORD_ENGINE_OPS_MATMUL_RULES_H_
