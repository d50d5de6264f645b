// Where.
//
//   y[i] = a[i] where condition[i], b[i] else
//
// The condition (bool, input 0), a and b (inputs 1 and 2) broadcast to y's
// shape. All are contiguous; y may be the buffer of an input of its own size.
// Elements are copied as bytes, so there is one kernel for each element size.

#include <array>
#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/element.h"
#include "backends/cpu/kernels/strided_walk.h"

namespace tensord {
namespace {

constexpr int64_t kGrain = 32 * 1024;

// Of 16 bytes are the complex numbers of two doubles.
template <int kBytes>
using ChoiceOf = std::conditional_t<kBytes == 16, std::array<uint64_t, 2>,
                                    ElementOf<kBytes>>;

}  // namespace

template <int kElementBytes>
absl::Status RunWhere(const KernelCall& call) {
  using Element = ChoiceOf<kElementBytes>;
  const auto* condition = call.input<uint8_t>(0);
  const auto* a = call.input<Element>(1);
  const auto* b = call.input<Element>(2);
  auto* y = call.output<Element>(0);
  const Shape& shape = call.output_layout(0).shape;
  const StridedWalk<3> walk(shape, [&](int i, int d) {
    return BroadcastStride(call.input_layout(i), shape, d);
  });
  std::array<int64_t, 3> steps;
  for (int i = 0; i < 3; ++i) steps[i] = walk.strides[i][walk.rank - 1];
  const auto run = [=](int64_t at, const std::array<int64_t, 3>& offsets,
                       int64_t length) {
    const uint8_t* condition_run = condition + offsets[0];
    const Element* a_run = a + offsets[1];
    const Element* b_run = b + offsets[2];
    for (int64_t i = 0; i < length; ++i) {
      y[at + i] = condition_run[i * steps[0]] != 0 ? a_run[i * steps[1]]
                                                   : b_run[i * steps[2]];
    }
  };
  call.context.workers->ParallelFor(
      shape.element_count(), kGrain,
      [&](int64_t begin, int64_t end) { walk.ForRange(begin, end, run); });
  return absl::OkStatus();
}

template absl::Status RunWhere<1>(const KernelCall&);
template absl::Status RunWhere<2>(const KernelCall&);
template absl::Status RunWhere<4>(const KernelCall&);
template absl::Status RunWhere<8>(const KernelCall&);
template absl::Status RunWhere<16>(const KernelCall&);

}  // namespace tensord
