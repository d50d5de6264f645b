#ifndef TENSORD_BACKENDS_CUDA_KERNELS_ATTENTION_OPERANDS_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_ATTENTION_OPERANDS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "backends/api/kernel.h"
#include "backends/cuda/kernels/device.h"

// An Attention's operands as device code takes them.
namespace tensord::cuda {

// Where the rows of each head of q, k, v or y are: strides in elements.
struct HeadsView {
  int64_t batch, head, row;
};

// What is added to a query's scores before the softmax: -infinity for each key
// that it must not see, and the mask's own numbers. `mask` is bytes, true where
// a key is seen, or of the operands' dtype, or null.
struct AttentionMask {
  const void* mask;
  bool is_bool;
  int mask_keys;               // what the mask's last dimension has
  int64_t batch, head, query;  // the mask's strides, in elements
  const int64_t* lengths;      // keys that are no padding, by batch; or null
  bool is_causal;
  int64_t left_window, right_window;  // -1: all
};

// A kernel's parameter: a plain value, made on the host. T is the element type.
template <typename T>
struct AttentionOperands {
  int batch, query_heads, key_heads;
  int queries, past, fresh;  // keys of earlier runs, and new ones
  int size, value_size;
  float scale, softcap;

  const T* q;
  const T* k;
  const T* v;
  const T* past_k;  // null without any
  const T* past_v;
  T* y;  // null where nobody asked for it
  HeadsView q_view, k_view, v_view, y_view;
  AttentionMask mask;

  T* scores;  // [batch, heads, queries, keys]; null where nobody asked for them
  int scores_mode;

  __device__ int keys() const { return past + fresh; }
  // The head of k and v that a head of q meets.
  __device__ int KeyHead(int head) const {
    return head / (query_heads / key_heads);
  }
  __device__ const T* KeyRow(int b, int head, int j) const {
    if (j < past) {
      return past_k + ((int64_t{b} * key_heads + head) * past + j) * size;
    }
    return k + b * k_view.batch + head * k_view.head + (j - past) * k_view.row;
  }
  __device__ const T* ValueRow(int b, int head, int j) const {
    if (j < past) {
      return past_v + ((int64_t{b} * key_heads + head) * past + j) * value_size;
    }
    return v + b * v_view.batch + head * v_view.head + (j - past) * v_view.row;
  }
};

// The extents, from shapes alone; addresses are null.
template <typename T>
AttentionOperands<T> AttentionExtents(const AttentionParams& params,
                                      const Shape& q, const Shape& k,
                                      const Shape& v, const Shape* past_k);

template <typename T>
AttentionOperands<T> AttentionOperandsOf(const KernelCall& call);

// OK for extents that the device counts in 32 bits, and a softmax in float32.
absl::Status CheckAttention(const NodeSite& site);

KernelCost AttentionCost(const NodeSite& site);

// Enqueues the copies of past and new keys and values to outputs 1 and 2, where
// they are asked for.
template <typename T>
absl::Status StorePresent(const KernelCall& call,
                          const AttentionOperands<T>& operands);

// Whether the mask is of bytes, which a call does not say.
struct AttentionState : KernelState {
  bool mask_is_bool = false;
};
absl::StatusOr<std::unique_ptr<KernelState>> PrepareAttention(
    const NodeSite& site, Device& device);

// Device code.

// The keys [begin, end) that a query may see by all but the mask.
struct KeyRange {
  int begin, end;
};
__device__ inline int HeldTo(int64_t x, int most) {
  return static_cast<int>(x < 0 ? 0 : x > most ? most : x);
}
__device__ inline KeyRange KeysInSight(const AttentionMask& mask, int batch,
                                       int query, int past, int queries,
                                       int keys) {
  int64_t position = int64_t{past} + query;  // its own, past keys before it
  int64_t begin = 0;
  int64_t end = keys < mask.mask_keys ? keys : mask.mask_keys;
  if (mask.lengths != nullptr) {
    const int length = HeldTo(mask.lengths[batch], keys);
    position += length - queries;
    if (length < end) end = length;
  }
  if (mask.is_causal && position + 1 < end) end = position + 1;
  if (mask.right_window >= 0 && position + mask.right_window + 1 < end) {
    end = position + mask.right_window + 1;
  }
  if (mask.left_window >= 0 && position - mask.left_window > begin) {
    begin = position - mask.left_window;
  }
  KeyRange range;
  range.begin = HeldTo(begin, keys);
  range.end = HeldTo(end, keys);
  if (range.end < range.begin) range.end = range.begin;
  return range;
}

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_ATTENTION_OPERANDS_H_
