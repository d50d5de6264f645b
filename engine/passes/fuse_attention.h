#ifndef TENSORD_ENGINE_PASSES_FUSE_ATTENTION_H_
#define TENSORD_ENGINE_PASSES_FUSE_ATTENTION_H_

#include "engine/passes/pass_context.h"

namespace tensord {

// Makes one Attention of the nodes that exporters write for it:
//
//   y = Softmax(q * k' * scale + mask) * v
//
// with q, k and v of rank 4 [batch, heads, sequence, size], or of rank 3 with
// batch and heads in one dimension. The scale is a constant that multiplies or
// divides q, k or the product; the mask may be absent. k may be transposed by a
// node of its own or by the one that moves its heads.
//
// Where q, k, v and y have their heads moved from and to [batch, sequence,
// heads, size] by Transposes, these are left out: the node reads and writes
// [batch, sequence, heads * size]. A key and a value that are Concats of a past
// and a new one are the node's past inputs and present outputs.
//
// Returns how many it made.
int FuseAttention(PassContext& context);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_FUSE_ATTENTION_H_
