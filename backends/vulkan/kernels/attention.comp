#version 460
// Attention, a work group a query of a head: scores of its keys into the
// workspace, their softmax, then the weighted sum of the values.
#include "common.glsl"
#include "math.glsl"
#include "group_reduce.glsl"

layout(constant_id = 1) const uint DTYPE = FLOAT32;
layout(constant_id = 2) const uint MASK_IS_BOOL = 0;

struct Heads {  // strides in elements
  uint batch, head, row;
};
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer
    Extents {
  uint batch, query_heads, group;  // heads of q that share one of k
  uint queries, keys;  // keys of earlier runs among them
  uint past;
  uint size, value_size;
  float scale, softcap;
  Heads q, k, v, y;
  Heads mask;        // `row` is a query's; 0 where the mask repeats
  int mask_keys;     // what the mask's last dimension has
  uint is_causal;
  int left_window, right_window;  // -1: all
};

// What invocations of a work group write for each other.
layout(buffer_reference, scalar, buffer_reference_align = 4) coherent buffer
    SharedFloats {
  float at[];
};

layout(push_constant, scalar) uniform Arguments {
  uint64_t q, k, v, y;
  uint64_t mask;     // of bools or of DTYPE; may be absent
  uint64_t lengths;  // keys that are no padding, by batch; may be absent
  uint64_t scores;   // [rows, keys]
  uint64_t extents;
  uint q_offset, k_offset, v_offset;  // in elements, of parts of one input
};

void main() {
  Extents of = Extents(extents);
  const uint me = gl_LocalInvocationID.x;
  const uint rows = of.batch * of.query_heads * of.queries;
  for (uint task = gl_WorkGroupID.x; task < rows; task += gl_NumWorkGroups.x) {
    const uint query = task % of.queries;
    const uint head = task / of.queries % of.query_heads;
    const uint batch = task / (of.queries * of.query_heads);
    const uint key_head = head / of.group;
    const uint own_q =
        q_offset + batch * of.q.batch + head * of.q.head + query * of.q.row;
    const uint own_k = k_offset + batch * of.k.batch + key_head * of.k.head;
    const uint own_v = v_offset + batch * of.v.batch + key_head * of.v.head;
    const uint own_scores = task * of.keys;

    // The keys [begin, end) that the query may see by all but the mask.
    int position = int(of.past + query);  // its own, past keys before it
    int begin = 0;
    int end = min(int(of.keys), of.mask_keys);
    if (lengths != 0) {
      const int64_t told = Int64s(lengths).at[batch];
      const int length = int(clamp(told, int64_t(0), int64_t(of.keys)));
      position += length - int(of.queries);
      end = min(end, length);
    }
    if (of.is_causal != 0) end = min(end, position + 1);
    if (of.right_window >= 0) end = min(end, position + of.right_window + 1);
    if (of.left_window >= 0) begin = max(begin, position - of.left_window);

    float largest = -INFINITY;
    for (int j = begin + int(me); j < end; j += int(WIDTH)) {
      float score = 0.0;
      const uint row = own_k + uint(j) * of.k.row;
      for (uint d = 0; d < of.size; ++d) {
        score += LoadFloat(DTYPE, q, own_q + d) * LoadFloat(DTYPE, k, row + d);
      }
      score *= of.scale;
      if (of.softcap != 0.0) score = of.softcap * Tanh(score / of.softcap);
      if (mask != 0) {
        const uint at = batch * of.mask.batch + head * of.mask.head +
                        query * of.mask.row + uint(j);
        if (MASK_IS_BOOL != 0) {
          if (uint(UInt8s(mask).at[at]) == 0) score = -INFINITY;
        } else {
          score += LoadFloat(DTYPE, mask, at);
        }
      }
      SharedFloats(scores).at[own_scores + uint(j)] = score;
      largest = largest < score || IsNan(score) ? score : largest;
    }
    largest = GroupMax(largest);
    // What other invocations wrote is read below.
    memoryBarrierBuffer();
    barrier();
    float sum = 0.0;
    for (int j = begin + int(me); j < end; j += int(WIDTH)) {
      const float score = SharedFloats(scores).at[own_scores + uint(j)];
      const float weight =
          score == -INFINITY ? 0.0 : Exp(score - largest);
      SharedFloats(scores).at[own_scores + uint(j)] = weight;
      sum += weight;
    }
    sum = GroupSum(sum);
    memoryBarrierBuffer();
    barrier();
    const uint own_y = batch * of.y.batch + head * of.y.head + query * of.y.row;
    for (uint d = me; d < of.value_size; d += WIDTH) {
      float total = 0.0;
      for (int j = begin; j < end; ++j) {
        total += SharedFloats(scores).at[own_scores + uint(j)] *
                 LoadFloat(DTYPE, v, own_v + uint(j) * of.v.row + d);
      }
      StoreFloat(DTYPE, y, own_y + d, sum == 0.0 ? 0.0 : total / sum);
    }
    barrier();
  }
}
