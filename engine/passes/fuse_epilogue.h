#ifndef TENSORD_ENGINE_PASSES_FUSE_EPILOGUE_H_
#define TENSORD_ENGINE_PASSES_FUSE_EPILOGUE_H_

#include "engine/passes/pass_context.h"

namespace tensord {

// Makes what element-wise nodes compute of another node's result that node's
// epilogue (OpParams::epilogue): a bias, a residual, an activation, a whole
// chain. Returns how many nodes were taken in.
//
// The other node, the anchor, keeps its kind and its name. It takes in the one
// node that reads its result, if that is an ElementwiseChain or a step of one
// with a result of the same dtype and shape, whose other inputs broadcast to
// it; then the next. It does so only as long as the device runs the anchor with
// the same kernel as before: kernels are listed in order of preference, so an
// epilogue never costs a better one.
int FuseEpilogue(PassContext& context);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_FUSE_EPILOGUE_H_
