#ifndef TENSORD_ENGINE_PASSES_FOLD_TRANSPOSES_H_
#define TENSORD_ENGINE_PASSES_FOLD_TRANSPOSES_H_

#include "engine/passes/pass_context.h"

namespace tensord {

// Lets products read matrices that a Transpose turned as they were before: a
// Gemm by its transA and transB, a MatMul of two matrices by becoming a Gemm.
// Only for Transposes that nobody else reads, and where the device has a kernel
// for it. A Transpose that moves only dimensions of extent 1 becomes a Reshape,
// which is free. Returns how many Transposes went.
int FoldTransposes(PassContext& context);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_FOLD_TRANSPOSES_H_
