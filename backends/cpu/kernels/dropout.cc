// Dropout at inference, where somebody wants its mask; else it is a view.
//
//   y = x, mask = true everywhere
//
// All are contiguous; x and y may be the same buffer, and either output may be
// absent. The elements are copied as bytes, so there is one kernel for each
// element size.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/element.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 32 * 1024;

}  // namespace

template <int kElementBytes>
absl::Status RunDropout(const KernelCall& call) {
  using Element = ElementOf<kElementBytes>;
  const bool has_mask = call.outputs.size() > 1 && call.outputs[1].is_present();
  const Element* x = call.input<Element>(0);
  Element* y = call.outputs[0].is_present() ? call.output<Element>(0) : nullptr;
  uint8_t* mask = has_mask ? call.output<uint8_t>(1) : nullptr;
  call.context.workers->ParallelFor(
      call.input_layout(0).shape.element_count(), kGrainElements,
      [=](int64_t begin, int64_t end) {
        const int64_t count = end - begin;
        if (y != nullptr && y != x) {
          std::memcpy(y + begin, x + begin, count * kElementBytes);
        }
        if (mask != nullptr) std::fill_n(mask + begin, count, uint8_t{1});
      });
  return absl::OkStatus();
}

template absl::Status RunDropout<2>(const KernelCall&);
template absl::Status RunDropout<4>(const KernelCall&);
template absl::Status RunDropout<8>(const KernelCall&);

}  // namespace tensord
