// ConstantOfShape: every element of y is the node's value.
//
// y is contiguous; its shape says all, so the input is not read. Elements are
// copied as bytes, so there is one kernel for each element size.

#include <algorithm>
#include <cstdint>

#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/element.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 32 * 1024;

}  // namespace

template <int kElementBytes>
absl::Status RunConstantOfShape(const KernelCall& call) {
  using Element = ElementOf<kElementBytes>;
  const auto value =
      static_cast<Element>(std::get<FillParams>(call.params).bits);
  Element* y = call.output<Element>(0);
  call.context.workers->ParallelFor(call.output_layout(0).shape.element_count(),
                                    kGrainElements,
                                    [=](int64_t begin, int64_t end) {
                                      std::fill(y + begin, y + end, value);
                                    });
  return absl::OkStatus();
}

template absl::Status RunConstantOfShape<1>(const KernelCall&);
template absl::Status RunConstantOfShape<2>(const KernelCall&);
template absl::Status RunConstantOfShape<4>(const KernelCall&);
template absl::Status RunConstantOfShape<8>(const KernelCall&);

}  // namespace tensord
