#ifndef TENSORD_BACKENDS_CPU_KERNELS_ATTENTION_MASK_H_
#define TENSORD_BACKENDS_CPU_KERNELS_ATTENTION_MASK_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "backends/api/kernel.h"
#include "backends/cpu/kernels/attention_geometry.h"

namespace tensord::attention {

// What is added to the scores of a query before the softmax: -infinity for each
// key that it must not see, and the mask's own numbers.
//
// Threading: immutable. Ownership: borrows the operands for the launch.
template <typename T>
class Masks {
 public:
  Masks(const KernelCall& call, const Geometry& geometry, bool mask_is_bool)
      : params_(std::get<AttentionParams>(call.params)),
        geometry_(geometry),
        mask_keys_(geometry.keys()) {
    if (call.has_input(6)) lengths_ = call.input<int64_t>(6);
    if (!call.has_input(3)) return;
    if (mask_is_bool) {
      is_seen_ = call.input<uint8_t>(3);
    } else {
      bias_ = call.input<T>(3);
    }
    const Shape& mask = call.input_layout(3).shape;
    mask_keys_ = mask[mask.rank() - 1];
    int64_t stride = mask_keys_;
    for (int from_end = 2; from_end <= mask.rank(); ++from_end) {
      const int64_t extent = mask[mask.rank() - from_end];
      strides_[4 - from_end] = extent == 1 ? 0 : stride;
      stride *= extent;
    }
  }

  // Of one query; false where it sees no key at all.
  template <typename C>
  bool Apply(int64_t batch, int64_t head, int64_t query, C* scores) const {
    constexpr C kNever = -std::numeric_limits<C>::infinity();
    const auto [begin, end] = KeysInSight(batch, query);
    std::fill(scores, scores + begin, kNever);
    std::fill(scores + end, scores + geometry_.keys(), kNever);
    const int64_t at =
        batch * strides_[0] + head * strides_[1] + query * strides_[2];
    if (is_seen_ != nullptr) {
      bool sees_any = false;
      for (int64_t j = begin; j < end; ++j) {
        const bool is_seen = is_seen_[at + j] != 0;
        // Not by adding, since an infinite score would become a NaN.
        if (!is_seen) scores[j] = kNever;
        sees_any = sees_any || is_seen;
      }
      return sees_any;
    }
    if (bias_ != nullptr) {
      bool sees_any = false;
      for (int64_t j = begin; j < end; ++j) {
        const auto bias = static_cast<C>(bias_[at + j]);
        const bool is_seen = bias != kNever;
        scores[j] = is_seen ? scores[j] + bias : kNever;
        sees_any = sees_any || is_seen;
      }
      return sees_any;
    }
    return begin < end;
  }

 private:
  struct Range {
    int64_t begin, end;
  };

  // By all but the mask. A query's own position counts past keys before it.
  Range KeysInSight(int64_t batch, int64_t query) const {
    int64_t position = geometry_.past + query;
    Range range{0, std::min(geometry_.keys(), mask_keys_)};
    if (lengths_ != nullptr) {
      position += lengths_[batch] - geometry_.queries;
      range.end = std::min(range.end, lengths_[batch]);
    }
    if (params_.is_causal) range.end = std::min(range.end, position + 1);
    if (params_.right_window >= 0) {
      range.end = std::min(range.end, position + params_.right_window + 1);
    }
    if (params_.left_window >= 0) {
      range.begin = std::max(range.begin, position - params_.left_window);
    }
    range.begin = std::min(range.begin, geometry_.keys());
    range.end = std::max(range.end, range.begin);
    return range;
  }

  const AttentionParams& params_;
  const Geometry& geometry_;
  const int64_t* lengths_ = nullptr;
  const uint8_t* is_seen_ = nullptr;
  const T* bias_ = nullptr;
  int64_t mask_keys_;
  std::array<int64_t, 3> strides_{};  // batch, head, query
};

}  // namespace tensord::attention

#endif  // TENSORD_BACKENDS_CPU_KERNELS_ATTENTION_MASK_H_
