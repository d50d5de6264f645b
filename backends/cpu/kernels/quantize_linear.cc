// QuantizeLinear.
//
//   y[i] = saturate(round(x[i] / scale) + zero point)
//
// x and y are contiguous, have the same shape, and are different buffers; which
// element of the scale, and of the optional zero point of its shape, belongs to
// which of x is in scale_runs.h. Rounds to the nearest integer, of two the even
// one. Divides in float32; the quotient is first rounded to the type that the
// standard divides in, which is the scale's unless the node says another. A NaN
// becomes the zero point.

#include <cstdint>
#include <type_traits>

#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/quantization.h"
#include "backends/cpu/kernels/scale_runs.h"
#include "backends/cpu/kernels/vector_integers.h"

namespace tensord {
namespace {

// What vector_integers.h has in vectors.
template <typename P, typename X, typename Q>
inline constexpr bool kIsInLoops =
    std::is_same_v<P, float>&& std::is_same_v<X, float> && sizeof(Q) == 1;

// Quotients as the type P has them.
template <typename P, typename X, typename S, typename Q>
void Run(const KernelCall& call) {
  const X* x = call.input<X>(0);
  const S* scale = call.input<S>(1);
  const Q* zero = call.has_input(2) ? call.input<Q>(2) : nullptr;
  Q* y = call.output<Q>(0);
  const auto quantize = [](X element, float divisor, int32_t zero_point) {
    const float dividend = static_cast<float>(P(static_cast<float>(element)));
    const P quotient(dividend / divisor);
    return Quantize<Q>(static_cast<float>(quotient), zero_point);
  };
  ScaleRuns(std::get<QuantizeParams>(call.params), call.input_layout(0).shape,
            call.input_layout(1).shape)
      .ForEach(*call.context.workers, [&](int64_t first, int64_t count,
                                          int64_t at, int64_t stride) {
        const auto divisor = [&](int64_t i) {
          return static_cast<float>(P(static_cast<float>(scale[at + i])));
        };
        if (stride == 0) {
          const float shared = divisor(0);
          const int32_t zero_point = zero == nullptr ? 0 : zero[at];
          if constexpr (kIsInLoops<P, X, Q>) {
            const auto loop = TheIntegerLoops().quantize<Q>();
            loop(x + first, shared, zero_point, count, y + first);
            return;
          }
          for (int64_t i = 0; i < count; ++i) {
            y[first + i] = quantize(x[first + i], shared, zero_point);
          }
          return;
        }
        for (int64_t i = 0; i < count; ++i) {
          y[first + i] = quantize(x[first + i], divisor(i),
                                  zero == nullptr ? 0 : zero[at + i]);
        }
      });
}

}  // namespace

template <typename X, typename S, typename Q>
absl::Status RunQuantizeLinear(const KernelCall& call) {
  switch (std::get<QuantizeParams>(call.params).precision) {
    case DType::kFloat32:
      Run<float, X, S, Q>(call);
      break;
    case DType::kFloat16:
      Run<Float16, X, S, Q>(call);
      break;
    case DType::kBFloat16:
      Run<BFloat16, X, S, Q>(call);
      break;
    default:
      Run<S, X, S, Q>(call);
  }
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE_TO(X, S, Q) \
  template absl::Status RunQuantizeLinear<X, S, Q>(const KernelCall&);
#define TENSORD_INSTANTIATE(X, S)       \
  TENSORD_INSTANTIATE_TO(X, S, int8_t)  \
  TENSORD_INSTANTIATE_TO(X, S, uint8_t) \
  TENSORD_INSTANTIATE_TO(X, S, int16_t) \
  TENSORD_INSTANTIATE_TO(X, S, uint16_t)
#define TENSORD_INSTANTIATE_FROM(X) \
  TENSORD_INSTANTIATE(X, float)     \
  TENSORD_INSTANTIATE(X, Float16)   \
  TENSORD_INSTANTIATE(X, BFloat16)

TENSORD_INSTANTIATE_FROM(float)
TENSORD_INSTANTIATE_FROM(Float16)
TENSORD_INSTANTIATE_FROM(BFloat16)
TENSORD_INSTANTIATE_FROM(int32_t)

}  // namespace tensord
