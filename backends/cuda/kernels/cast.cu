// Cast and CastLike between the dtypes that C++ can compute with.
//
//   y[i] = x[i] in y's dtype, as Convert() in number.h says
//
// x and y are contiguous, have the same shape, and are different buffers.
// CastLike's second input, which says the dtype, is not read. A bool is a byte
// of 0 or 1. There is a kernel for each dtype of x, which switches over y's
// around the loop over a run.

#include <cstdint>
#include <memory>

#include "backends/cuda/kernels/cast.h"
#include "backends/cuda/kernels/map.h"
#include "backends/cuda/kernels/visit_dtype.h"

namespace tensord::cuda {
namespace {

template <int kWidth, typename To, typename From>
__device__ void StoreAs(const From (&from)[kWidth], int count, bool is_aligned,
                        int64_t first, void* y) {
  To to[kWidth];
  for (int k = 0; k < kWidth; ++k) to[k] = Convert<To>(from[k]);
  StoreRun<kWidth>(to, count, is_aligned && count == kWidth,
                   static_cast<To*>(y) + first);
}

template <typename From>
__global__ void CastKernel(DType dtype, const From* x, void* y, int64_t count,
                           bool is_aligned) {
  constexpr int kWidth = sizeof(From) == 8 ? 2 : 4;
  for (int64_t first = GridThread() * kWidth; first < count;
       first += GridThreads() * kWidth) {
    const int left =
        static_cast<int>(count - first < kWidth ? count - first : kWidth);
    From from[kWidth];
    LoadRun<kWidth>(x + first, left, is_aligned && left == kWidth, from);
    switch (dtype) {
#define TENSORD_CAST_TO(dtype, To)                         \
  case DType::dtype:                                       \
    StoreAs<kWidth, To>(from, left, is_aligned, first, y); \
    break;
      TENSORD_CAST_TO(kFloat32, float)
      TENSORD_CAST_TO(kFloat64, double)
      TENSORD_CAST_TO(kFloat16, Half)
      TENSORD_CAST_TO(kBFloat16, BHalf)
      TENSORD_CAST_TO(kInt8, int8_t)
      TENSORD_CAST_TO(kInt16, int16_t)
      TENSORD_CAST_TO(kInt32, int32_t)
      TENSORD_CAST_TO(kInt64, int64_t)
      TENSORD_CAST_TO(kUInt8, uint8_t)
      TENSORD_CAST_TO(kUInt16, uint16_t)
      TENSORD_CAST_TO(kUInt32, uint32_t)
      TENSORD_CAST_TO(kUInt64, uint64_t)
      TENSORD_CAST_TO(kBool, bool)
#undef TENSORD_CAST_TO
      default:
        break;
    }
  }
}

// CastParams says y's dtype only of Cast, not of CastLike.
struct CastState final : KernelState {
  explicit CastState(DType to) : to(to) {}
  const DType to;
};

}  // namespace

bool IsNumber(DType dtype) {
  return IsFloatDType(dtype) || dtype == DType::kBool ||
         dtype == DType::kInt8 || dtype == DType::kInt16 ||
         dtype == DType::kInt32 || dtype == DType::kInt64 ||
         IsUnsignedDType(dtype);
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareCast(const NodeSite& site,
                                                         Device&) {
  return std::make_unique<CastState>(site.output_dtype(0));
}

absl::Status RunCast(const KernelCall& call, DType from) {
  const DType to = static_cast<const CastState&>(*call.state).to;
  const int64_t count = call.output_layout(0).shape.element_count();
  const auto launch = [&](auto tag) {
    using From = typename decltype(tag)::type;
    constexpr int kWidth = sizeof(From) == 8 ? 2 : 4;
    const From* x = call.input<From>(0);
    auto* y = reinterpret_cast<uint8_t*>(call.outputs[0].address());
    const bool is_aligned =
        IsAligned(x, kWidth) && IsAligned(y, kWidth * BitWidth(to) / 8);
    return Launch(call.context, CastKernel<From>, ForRuns(count, kWidth), to, x,
                  static_cast<void*>(y), count, is_aligned);
  };
  if (from == DType::kBool) return launch(TypeTag<uint8_t>());
  return IsFloatDType(from) ? VisitFloat(from, launch)
                            : VisitInteger(from, launch);
}

}  // namespace tensord::cuda
