#ifndef TENSORD_ENGINE_PASSES_FUSE_LAYER_NORM_H_
#define TENSORD_ENGINE_PASSES_FUSE_LAYER_NORM_H_

#include "engine/passes/pass_context.h"

namespace tensord {

// Makes one LayerNormalization of the nodes that exporters write for it:
//
//   c = x - ReduceMean(x)      v = ReduceMean(c * c)     s = Sqrt(v + epsilon)
//   y = c / s * scale + bias
//
// over the last dimensions. The square may be a Pow, the quotient a product by
// a Reciprocal, 1 / s or a Pow by -1/2; c may be computed twice; scale and bias
// may be absent; and, as TensorFlow writes it,
//
//   i = Reciprocal(s) * scale  y = x * i + (bias - ReduceMean(x) * i)
//
// Without the mean it is an RMSNormalization. Returns how many it made.
int FuseLayerNorm(PassContext& context);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_FUSE_LAYER_NORM_H_
