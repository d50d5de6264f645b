// A bias, a residual and an activation behind a library's product or
// convolution, where the library has no way to do them itself
// (simple_epilogue_launch.h). One walk over y in place; a thread takes 16 bytes
// at a time where y, the addend and the channels' runs allow it.

#include "backends/cuda/kernels/device.h"
#include "backends/cuda/kernels/expression_steps.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/simple_epilogue_launch.h"

namespace tensord::cuda {
namespace {

__device__ inline float Activate(float x, Activation activation, float low,
                                 float high) {
  switch (activation) {
    case Activation::kRelu:
      return x < 0 ? 0.0f : x;
    case Activation::kClip:
      return Clip(x, low, high);
    case Activation::kGelu:
      return Gelu(x);
    case Activation::kGeluByTanh:
      return GeluByTanh(x);
    default:
      return x;
  }
}

// kSize elements a thread; with more than one, `inner` is 1 or a multiple of
// kSize, and so are the channels where it is 1. Unsigned 32-bit indices divide
// faster than 64-bit ones.
template <typename T, int kSize, typename Index>
__global__ void ApplySimpleEpilogue(Index packs, Index channels, Index inner,
                                    const T* bias, const T* addend, T* y,
                                    Activation activation, float low,
                                    float high) {
  struct alignas(kSize * sizeof(T)) Elements {
    T at[kSize];
  };
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < packs; i += step) {
    const Index first = i * kSize;
    Elements result = reinterpret_cast<Elements*>(y)[i];
    Elements added;
    if (addend != nullptr) {
      added = reinterpret_cast<const Elements*>(addend)[i];
    }
    const Index channel = first / inner % channels;
    for (int k = 0; k < kSize; ++k) {
      float x = static_cast<float>(result.at[k]);
      if (addend != nullptr) x += static_cast<float>(added.at[k]);
      if (bias != nullptr) {
        x += static_cast<float>(bias[inner == 1 ? channel + k : channel]);
      }
      result.at[k] = static_cast<T>(Activate(x, activation, low, high));
    }
    reinterpret_cast<Elements*>(y)[i] = result;
  }
}

template <typename T, int kSize>
absl::Status LaunchSized(const LaunchContext& context,
                         const SimpleEpilogueCall& call) {
  const int64_t packs = call.count / kSize;
  const auto launch = [&](auto index) {
    using Index = decltype(index);
    return Launch(
        context, ApplySimpleEpilogue<T, kSize, Index>, ForElements(packs),
        static_cast<Index>(packs), static_cast<Index>(call.channels),
        static_cast<Index>(call.inner), static_cast<const T*>(call.bias),
        static_cast<const T*>(call.addend), static_cast<T*>(call.y),
        call.activation, call.low, call.high);
  };
  // A step of the grid past the end must not overflow either.
  constexpr int64_t kMax32 = int64_t{1} << 31;
  return call.count < kMax32 ? launch(uint32_t{}) : launch(uint64_t{});
}

template <typename T>
absl::Status LaunchTyped(const LaunchContext& context,
                         const SimpleEpilogueCall& call) {
  constexpr int kSize = 16 / sizeof(T);
  const auto is_aligned = [](const void* address) {
    return reinterpret_cast<uintptr_t>(address) % 16 == 0;
  };
  const int64_t run = call.inner == 1 ? call.channels : call.inner;
  const bool is_packed = call.count % kSize == 0 &&
                         (call.bias == nullptr || run % kSize == 0) &&
                         is_aligned(call.y) && is_aligned(call.addend);
  return is_packed ? LaunchSized<T, kSize>(context, call)
                   : LaunchSized<T, 1>(context, call);
}

}  // namespace

absl::Status LaunchSimpleEpilogue(const LaunchContext& context,
                                  const SimpleEpilogueCall& call) {
  switch (call.dtype) {
    case DType::kFloat16:
      return LaunchTyped<__half>(context, call);
    case DType::kBFloat16:
      return LaunchTyped<__nv_bfloat16>(context, call);
    default:
      return LaunchTyped<float>(context, call);
  }
}

}  // namespace tensord::cuda
