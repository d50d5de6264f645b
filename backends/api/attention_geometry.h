#ifndef TENSORD_BACKENDS_API_ATTENTION_GEOMETRY_H_
#define TENSORD_BACKENDS_API_ATTENTION_GEOMETRY_H_

#include <algorithm>
#include <cstdint>

#include "backends/api/op_params.h"
#include "backends/api/shape.h"

namespace tensord {

// The extents of an Attention, from its parameters and the shapes of q, k and
// v: [batch, heads, rows, size], or packed: [batch, rows, heads * size].
//
// Threading and ownership: a plain value.
struct AttentionGeometry {
  bool is_packed = false;  // [batch, sequence, heads * size]
  // Elements of a row where q, k and v are parts of the rows of one input; else
  // 0.
  int64_t shared_row = 0;
  int64_t batch = 0;
  int64_t query_heads = 0, key_heads = 0;
  int64_t queries = 0;
  int64_t past = 0, fresh = 0;  // keys of earlier runs, and new ones
  int64_t size = 0, value_size = 0;

  // `past_key` is null without one.
  AttentionGeometry(const AttentionParams& params, const Shape& q,
                    const Shape& k, const Shape& v, const Shape* past_key)
      : is_packed(q.rank() == 3), batch(q[0]) {
    if (params.packs_qkv) {
      query_heads = params.query_heads;
      key_heads = params.key_value_heads;
      queries = fresh = q[1];
      shared_row = q[2];
      size = value_size = q[2] / (query_heads + 2 * key_heads);
    } else if (is_packed) {
      query_heads = params.query_heads;
      key_heads = params.key_value_heads;
      queries = q[1];
      fresh = k[1];
      size = q[2] / query_heads;
      value_size = v[2] / key_heads;
    } else {
      query_heads = q[1];
      key_heads = k[1];
      queries = q[2];
      fresh = k[2];
      size = q[3];
      value_size = v[3];
    }
    if (past_key != nullptr) past = (*past_key)[2];
  }

  int64_t keys() const { return past + fresh; }
  // Heads of q that share one of k.
  int64_t group() const {
    return query_heads / std::max<int64_t>(key_heads, 1);
  }
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_ATTENTION_GEOMETRY_H_
