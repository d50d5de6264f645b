#ifndef TENSORD_ENGINE_PASSES_FUSE_GELU_H_
#define TENSORD_ENGINE_PASSES_FUSE_GELU_H_

#include "engine/passes/pass_context.h"

namespace tensord {

// Makes one Gelu of the nodes that exporters write for it:
//
//   x * (1 + Erf(x / sqrt(2))) / 2
//   x * (1 + Tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2
//
// Products may be in any order, by factors, quotients and powers, and x may be
// taken out of the sum. Returns how many it made.
int FuseGelu(PassContext& context);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_FUSE_GELU_H_
