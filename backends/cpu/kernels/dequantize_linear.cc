// DequantizeLinear.
//
//   y[i] = (x[i] - zero point) * scale
//
// x and y are contiguous, have the same shape, and are different buffers; which
// element of the scale, and of the optional zero point of its shape, belongs to
// which of x is in scale_runs.h. The difference is exact, its product with the
// scale is float32's, and the result is rounded to y's type.

#include <cstdint>
#include <type_traits>

#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/scale_runs.h"
#include "backends/cpu/kernels/vector_integers.h"

namespace tensord {
namespace {

// Differences of 32-bit integers need 33 bits.
template <typename Q>
using Difference = std::conditional_t<sizeof(Q) == 4, int64_t, int32_t>;

template <typename Y, typename Q, typename S>
void Run(const KernelCall& call) {
  const Q* x = call.input<Q>(0);
  const S* scale = call.input<S>(1);
  const Q* zero = call.has_input(2) ? call.input<Q>(2) : nullptr;
  Y* y = call.output<Y>(0);
  const auto dequantize = [](Q element, Difference<Q> zero_point,
                             float factor) {
    return Y(static_cast<float>(element - zero_point) * factor);
  };
  ScaleRuns(std::get<QuantizeParams>(call.params), call.input_layout(0).shape,
            call.input_layout(1).shape)
      .ForEach(*call.context.workers, [&](int64_t first, int64_t count,
                                          int64_t at, int64_t stride) {
        if (stride == 0) {
          const float factor = scale[at];
          const Difference<Q> zero_point = zero == nullptr ? 0 : zero[at];
          if constexpr (std::is_same_v<Y, float> && sizeof(Q) == 1) {
            const auto loop = TheIntegerLoops().dequantize<Q>();
            loop(x + first, factor, zero_point, count, y + first);
            return;
          }
          for (int64_t i = 0; i < count; ++i) {
            y[first + i] = dequantize(x[first + i], zero_point, factor);
          }
          return;
        }
        for (int64_t i = 0; i < count; ++i) {
          y[first + i] =
              dequantize(x[first + i], zero == nullptr ? 0 : zero[at + i],
                         static_cast<float>(scale[at + i]));
        }
      });
}

}  // namespace

template <typename Q, typename S>
absl::Status RunDequantizeLinear(const KernelCall& call) {
  switch (std::get<QuantizeParams>(call.params).output_dtype) {
    case DType::kFloat32:
      Run<float, Q, S>(call);
      break;
    case DType::kFloat16:
      Run<Float16, Q, S>(call);
      break;
    case DType::kBFloat16:
      Run<BFloat16, Q, S>(call);
      break;
    default:
      Run<S, Q, S>(call);
  }
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE(Q)                                              \
  template absl::Status RunDequantizeLinear<Q, float>(const KernelCall&);   \
  template absl::Status RunDequantizeLinear<Q, Float16>(const KernelCall&); \
  template absl::Status RunDequantizeLinear<Q, BFloat16>(const KernelCall&);

TENSORD_INSTANTIATE(int8_t)
TENSORD_INSTANTIATE(uint8_t)
TENSORD_INSTANTIATE(int16_t)
TENSORD_INSTANTIATE(uint16_t)
TENSORD_INSTANTIATE(int32_t)

}  // namespace tensord
