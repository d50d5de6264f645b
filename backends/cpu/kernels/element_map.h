#ifndef TENSORD_BACKENDS_CPU_KERNELS_ELEMENT_MAP_H_
#define TENSORD_BACKENDS_CPU_KERNELS_ELEMENT_MAP_H_

#include <cstdint>

#include "absl/status/status.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"

// What operators that map each element by itself share:
//
//   y[i] = f(x[i])
//
// x is input 0, contiguous, and y has its shape. They may be the same buffer
// where their elements have the same size. f gets and gives ComputeType<T>:
// 16-bit elements are computed in float32, and rounded once, when stored.
namespace tensord {

// Elements that are worth handing to another thread: some 20 us of work.
inline constexpr int64_t kCheapGrain = 32 * 1024;
inline constexpr int64_t kCostlyGrain = 4 * 1024;  // with exp() and its like

// T is an element of x, Y one of y.
template <typename T, typename Y = T, typename Function>
absl::Status MapElements(const KernelCall& call, int64_t grain, Function f) {
  const T* x = call.input<T>(0);
  Y* y = call.output<Y>(0);
  call.context.workers->ParallelFor(
      call.output_layout(0).shape.element_count(), grain,
      [=](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          y[i] = f(static_cast<ComputeType<T>>(x[i]));
        }
      });
  return absl::OkStatus();
}

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_ELEMENT_MAP_H_
