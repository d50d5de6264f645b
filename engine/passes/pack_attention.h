#ifndef TENSORD_ENGINE_PASSES_PACK_ATTENTION_H_
#define TENSORD_ENGINE_PASSES_PACK_ATTENTION_H_

#include "engine/passes/pass_context.h"

namespace tensord {

// Lets an Attention read its queries, keys and values from one input
// (AttentionParams::packs_qkv): where a Split has taken them out of it, and
// where three products with one factor, x * wq + bq, x * wk + bk and x * wv +
// bv with constant weights and biases, become one with the weights side by
// side. Returns how many it packed.
int PackAttention(PassContext& context);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_PACK_ATTENTION_H_
