#ifndef TENSORD_BACKENDS_CPU_KERNELS_STRIDED_WALK_H_
#define TENSORD_BACKENDS_CPU_KERNELS_STRIDED_WALK_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "backends/api/layout.h"

namespace tensord {

// The stride of `input` along dimension d of the output that it broadcasts to;
// 0 where it repeats.
inline int64_t BroadcastStride(const Layout& input, const Shape& output,
                               int d) {
  const int own = d - (output.rank() - input.shape.rank());
  return own < 0 || input.shape[own] == 1 ? 0 : input.strides[own];
}

// How kInputs strided operands are walked in the order of one contiguous
// output: dimensions of extent 1 are dropped and neighbours that every operand
// walks as one are merged, so that the innermost run is as long as it can be.
//
// Threading and ownership: a plain value; no memory beyond itself.
template <int kInputs>
struct StridedWalk {
  int rank = 0;  // at least 1 once made
  std::array<int64_t, kMaxRank> extents;
  std::array<std::array<int64_t, kMaxRank>, kInputs> strides;

  // stride_of(i, d) is input i's stride along dimension d of the output.
  template <typename StrideOf>
  StridedWalk(const Shape& output, StrideOf stride_of) {
    for (int d = 0; d < output.rank(); ++d) {
      if (output[d] == 1) continue;
      std::array<int64_t, kInputs> next;
      for (int i = 0; i < kInputs; ++i) next[i] = stride_of(i, d);
      Append(output[d], next);
    }
    if (rank == 0) {
      std::array<int64_t, kInputs> zero{};
      Append(1, zero);
    }
  }

  // Calls run(output_offset, input_offsets, length) for the innermost runs that
  // together are the output elements [begin, end); along a run, input i moves
  // by strides[i][rank - 1].
  template <typename Run>
  void ForRange(int64_t begin, int64_t end, Run run) const {
    const int inner = rank - 1;
    std::array<int64_t, kMaxRank> index;
    std::array<int64_t, kInputs> offsets{};
    int64_t rest = begin;
    for (int d = inner; d >= 0; --d) {
      index[d] = rest % extents[d];
      rest /= extents[d];
      for (int i = 0; i < kInputs; ++i) offsets[i] += index[d] * strides[i][d];
    }
    int64_t at = begin;
    while (at < end) {
      const int64_t length = std::min(extents[inner] - index[inner], end - at);
      run(at, offsets, length);
      at += length;
      if (at == end) return;
      // The run ended with its dimension: step the outer ones.
      for (int i = 0; i < kInputs; ++i) {
        offsets[i] -= index[inner] * strides[i][inner];
      }
      index[inner] = 0;
      for (int d = inner - 1; d >= 0; --d) {
        for (int i = 0; i < kInputs; ++i) offsets[i] += strides[i][d];
        if (++index[d] < extents[d]) break;
        for (int i = 0; i < kInputs; ++i) {
          offsets[i] -= extents[d] * strides[i][d];
        }
        index[d] = 0;
      }
    }
  }

 private:
  void Append(int64_t extent, const std::array<int64_t, kInputs>& next) {
    bool merges = rank > 0;
    for (int i = 0; merges && i < kInputs; ++i) {
      merges = strides[i][rank - 1] == next[i] * extent;
    }
    if (merges) {
      extents[rank - 1] *= extent;
      for (int i = 0; i < kInputs; ++i) strides[i][rank - 1] = next[i];
      return;
    }
    extents[rank] = extent;
    for (int i = 0; i < kInputs; ++i) strides[i][rank] = next[i];
    ++rank;
  }
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_STRIDED_WALK_H_
