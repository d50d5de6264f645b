#ifndef TENSORD_ENGINE_PASSES_FUSE_SKIP_NORM_H_
#define TENSORD_ENGINE_PASSES_FUSE_SKIP_NORM_H_

#include "engine/passes/pass_context.h"

namespace tensord {

// Makes an Add of two values of one shape, whose sum only a LayerNormalization
// reads, part of that node (NormalizationParams::has_skip). Returns how many.
int FuseSkipNorm(PassContext& context);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_FUSE_SKIP_NORM_H_
