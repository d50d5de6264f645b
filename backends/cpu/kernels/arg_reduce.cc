// ArgMax and ArgMin.
//
//   y[o, i] = the c at which x[o, c, i] is greatest (least)
//
// x is contiguous, seen as [outer, extent of the axis, inner]; y is int64, its
// [outer, inner] contiguous. Of equal extremes the first counts, or the last
// with selects_last. A NaN is more extreme than any number, as in numpy.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "backends/api/axis_view.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 16 * 1024;

// As many outputs side by side as keep their extremes in cache.
constexpr int64_t kSideBySide = 64;

template <typename T>
bool IsNan(T x) {
  if constexpr (kIsFloat<T>) return x != x;
  return false;
}

struct Greater {
  template <typename T>
  bool operator()(T x, T best) const {
    return x > best || (IsNan(x) && !IsNan(best));
  }
};

struct Less {
  template <typename T>
  bool operator()(T x, T best) const {
    return x < best || (IsNan(x) && !IsNan(best));
  }
};

template <typename Beats, bool kSelectsLast, typename T>
void Strip(const T* x, int64_t* y, const AxisView& view, int64_t width) {
  const Beats beats;
  T best[kSideBySide];
  std::copy_n(x, width, best);
  std::fill_n(y, width, 0);
  for (int64_t c = 1; c < view.extent; ++c) {
    const T* row = x + c * view.inner;
    for (int64_t i = 0; i < width; ++i) {
      if (kSelectsLast ? !beats(best[i], row[i]) : beats(row[i], best[i])) {
        best[i] = row[i];
        y[i] = c;
      }
    }
  }
}

template <typename Beats, typename T>
absl::Status ArgReduce(const KernelCall& call) {
  const auto& params = std::get<ArgReduceParams>(call.params);
  const AxisView view(call.input_layout(0).shape, params.axis);
  const T* x = call.input<T>(0);
  int64_t* y = call.output<int64_t>(0);
  const int64_t strips = (view.inner + kSideBySide - 1) / kSideBySide;
  const int64_t grain = std::max<int64_t>(
      1, kGrainElements /
             (view.extent * std::clamp<int64_t>(view.inner, 1, kSideBySide)));
  call.context.workers->ParallelFor(
      view.outer * strips, grain, [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t outer = task / strips;
          const int64_t first = task % strips * kSideBySide;
          const T* from = x + outer * view.extent * view.inner + first;
          int64_t* to = y + outer * view.inner + first;
          const int64_t width = std::min(kSideBySide, view.inner - first);
          if (params.selects_last) {
            Strip<Beats, true>(from, to, view, width);
          } else {
            Strip<Beats, false>(from, to, view, width);
          }
        }
      });
  return absl::OkStatus();
}

}  // namespace

template <typename T>
absl::Status RunArgMax(const KernelCall& call) {
  return ArgReduce<Greater, T>(call);
}

template <typename T>
absl::Status RunArgMin(const KernelCall& call) {
  return ArgReduce<Less, T>(call);
}

#define TENSORD_INSTANTIATE(T)                           \
  template absl::Status RunArgMax<T>(const KernelCall&); \
  template absl::Status RunArgMin<T>(const KernelCall&);

TENSORD_INSTANTIATE(float)
TENSORD_INSTANTIATE(double)
TENSORD_INSTANTIATE(Float16)
TENSORD_INSTANTIATE(BFloat16)
TENSORD_INSTANTIATE(int8_t)
TENSORD_INSTANTIATE(int16_t)
TENSORD_INSTANTIATE(int32_t)
TENSORD_INSTANTIATE(int64_t)
TENSORD_INSTANTIATE(uint8_t)
TENSORD_INSTANTIATE(uint16_t)
TENSORD_INSTANTIATE(uint32_t)
TENSORD_INSTANTIATE(uint64_t)

}  // namespace tensord
