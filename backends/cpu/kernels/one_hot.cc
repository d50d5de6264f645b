// OneHot.
//
//   y[o, d, i] = values[1] if d is indices[o, i] (counted from the end when
//                below 0), else values[0]
//
// All are contiguous; y is seen as [outer, depth, inner] and the indices as
// [outer, inner]. The depth is y's own extent, so input 1 is not read. An index
// outside [-depth, depth) is on nowhere; a fractional one counts by its integer
// part. The values are copied as bytes, so there is one kernel for each element
// size.

#include <algorithm>
#include <cstdint>

#include "backends/api/axis_view.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/element.h"
#include "backends/cpu/kernels/saturate.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 16 * 1024;

template <typename Index>
int64_t IntegerPart(Index index) {
  if constexpr (kIsFloat<Index>) {
    return Saturate<int64_t>(index);
  } else {
    return index;
  }
}

}  // namespace

template <int kElementBytes, typename Index>
absl::Status RunOneHot(const KernelCall& call) {
  using Element = ElementOf<kElementBytes>;
  const AxisView view(call.output_layout(0).shape,
                      std::get<AxisParams>(call.params).axis);
  const Index* indices = call.input<Index>(0);
  const Element off = call.input<Element>(2)[0];
  const Element on = call.input<Element>(2)[1];
  Element* y = call.output<Element>(0);
  const int64_t slab = view.extent * view.inner;
  if (slab == 0) return absl::OkStatus();
  call.context.workers->ParallelFor(
      view.outer, kGrainElements / slab + 1, [&](int64_t begin, int64_t end) {
        std::fill(y + begin * slab, y + end * slab, off);
        for (int64_t at = begin * view.inner; at < end * view.inner; ++at) {
          int64_t index = IntegerPart(indices[at]);
          if (index < 0) index += view.extent;
          if (index < 0 || index >= view.extent) continue;
          y[at / view.inner * slab + index * view.inner + at % view.inner] = on;
        }
      });
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE(bytes)                                    \
  template absl::Status RunOneHot<bytes, int32_t>(const KernelCall&); \
  template absl::Status RunOneHot<bytes, int64_t>(const KernelCall&); \
  template absl::Status RunOneHot<bytes, float>(const KernelCall&);   \
  template absl::Status RunOneHot<bytes, Float16>(const KernelCall&);

TENSORD_INSTANTIATE(1)
TENSORD_INSTANTIATE(2)
TENSORD_INSTANTIATE(4)
TENSORD_INSTANTIATE(8)

}  // namespace tensord
