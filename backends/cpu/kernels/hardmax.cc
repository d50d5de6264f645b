// Hardmax along one dimension.
//
//   y[o, c, i] = 1 if c is the first at which x[o, c, i] is greatest, else 0
//
// x and y are contiguous, seen as [outer, columns, inner], and different
// buffers. A NaN is greater than any number, as in numpy.

#include <algorithm>
#include <cstdint>

#include "backends/api/axis_view.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 16 * 1024;

}  // namespace

template <typename T>
absl::Status RunHardmax(const KernelCall& call) {
  const auto& params = std::get<SoftmaxParams>(call.params);
  const Shape& shape = call.input_layout(0).shape;
  if (shape.element_count() == 0) return absl::OkStatus();
  const AxisView view = params.flattens_at_axis
                            ? AxisView::Flattened(shape, params.axis)
                            : AxisView(shape, params.axis);
  const T* x = call.input<T>(0);
  T* y = call.output<T>(0);
  // One task is a line along the axis.
  call.context.workers->ParallelFor(
      view.outer * view.inner, kGrainElements / view.extent + 1,
      [=](int64_t begin, int64_t end) {
        for (int64_t line = begin; line < end; ++line) {
          const int64_t at =
              line / view.inner * view.extent * view.inner + line % view.inner;
          int64_t best = 0;
          for (int64_t c = 0; c < view.extent; ++c) {
            const ComputeType<T> element = x[at + c * view.inner];
            const ComputeType<T> most = x[at + best * view.inner];
            if (element > most || (element != element && most == most)) {
              best = c;
            }
            y[at + c * view.inner] = 0;
          }
          y[at + best * view.inner] = 1;
        }
      });
  return absl::OkStatus();
}

template absl::Status RunHardmax<float>(const KernelCall&);
template absl::Status RunHardmax<double>(const KernelCall&);
template absl::Status RunHardmax<Float16>(const KernelCall&);
template absl::Status RunHardmax<BFloat16>(const KernelCall&);

}  // namespace tensord
