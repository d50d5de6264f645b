#ifndef TENSORD_ENGINE_PASSES_FOLD_BATCH_NORM_H_
#define TENSORD_ENGINE_PASSES_FOLD_BATCH_NORM_H_

#include "engine/passes/pass_context.h"

namespace tensord {

// Folds what scales and shifts channels by constants (ChannelAffineOf: a
// BatchNormalization, a Mul, an Add, ...) behind a Conv, a ConvTranspose or a
// Gemm into that node's weights and bias:
//
//   scale * (w x + b) + shift = (scale * w) x + (scale * b + shift)
//
// where weights and bias are constants and nobody else reads the node's result.
// A BatchNormalization that stays alone becomes a Mul and an Add, which can go
// into a chain, where the device has a kernel for one; not of 16-bit floats,
// whose shift would be rounded. Returns how many nodes went into others or
// became two.
int FoldBatchNorm(PassContext& context);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_FOLD_BATCH_NORM_H_
