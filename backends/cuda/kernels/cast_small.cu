// Cast and CastLike from or to dtypes of 8 bits and less that C++ cannot
// compute with: float8, float4, int4, uint4, int2, uint2.
//
//   y[i] = x[i] in y's dtype
//
// x and y are contiguous, have the same shape, and are different buffers.
// Elements of less than a byte are packed, low bits first; the unused bits of
// y's last byte are 0, so a thread makes a whole byte. CastLike's second input
// is not read.
//
// It goes through numbers that lose nothing that the result could tell: int64
// where an integer of 4 or 2 bits is involved (to which a float is truncated;
// then the low bits stay), else float32 rounded to odd.

#include <cstdint>
#include <memory>

#include "absl/strings/str_cat.h"
#include "backends/cuda/kernels/any_element.h"
#include "backends/cuda/kernels/cast.h"
#include "backends/cuda/kernels/map.h"

namespace tensord::cuda {
namespace {

struct SmallCast {
  DType from;
  int from_bits;
  DType to;
  int to_bits;
  bool saturates;
  PowerRounding rounding;
};

struct SmallCastState final : KernelState {
  SmallCast cast;
};

__device__ int EncodeOf(const SmallCast& cast, int64_t number) {
  if (IsSmallInteger(cast.to)) {
    return static_cast<int>(number & ((1 << cast.to_bits) - 1));
  }
  const auto x = static_cast<float>(number);
  return cast.to == DType::kFloat8E8M0
             ? EncodePowerOfTwo(x, cast.saturates, cast.rounding)
             : EncodeSmallFloat(SmallFormatOf(cast.to), x, cast.saturates);
}
__device__ int EncodeOf(const SmallCast& cast, float x) {
  return cast.to == DType::kFloat8E8M0
             ? EncodePowerOfTwo(x, cast.saturates, cast.rounding)
             : EncodeSmallFloat(SmallFormatOf(cast.to), x, cast.saturates);
}

template <typename Number>
__global__ void SmallCastKernel(SmallCast cast, const void* x, void* y,
                                int64_t count) {
  const int width = cast.to_bits < 8 ? 8 / cast.to_bits : 1;
  for (int64_t first = GridThread() * width; first < count;
       first += GridThreads() * width) {
    if (cast.to_bits > 8 || cast.to == DType::kBool ||
        cast.to == DType::kInt8 || cast.to == DType::kUInt8) {
      StoreAny(cast.to, LoadAny<Number>(cast.from, cast.from_bits, x, first), y,
               first);
      continue;
    }
    int byte = 0;
    for (int k = 0; k < width && first + k < count; ++k) {
      const Number number =
          LoadAny<Number>(cast.from, cast.from_bits, x, first + k);
      byte |= EncodeOf(cast, number) << (k * cast.to_bits);
    }
    static_cast<uint8_t*>(y)[first / width] = static_cast<uint8_t>(byte);
  }
}

}  // namespace

absl::Status AcceptsCastSmall(const NodeSite& site) {
  const DType from = site.input_dtype(0);
  const DType to = site.output_dtype(0);
  for (const DType dtype : {from, to}) {
    if (!IsSmall(dtype) && !IsNumber(dtype)) {
      return absl::UnimplementedError(
          absl::StrCat(DTypeName(dtype), " has no casts"));
    }
  }
  if (IsSmall(from) || IsSmall(to)) return absl::OkStatus();
  return absl::UnimplementedError("neither dtype is a small one");
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareCastSmall(
    const NodeSite& site, Device&) {
  const auto& params = std::get<CastParams>(site.params);
  auto state = std::make_unique<SmallCastState>();
  const DType from = site.input_dtype(0);
  const DType to = site.output_dtype(0);
  state->cast = {from,         BitWidth(from),   to,
                 BitWidth(to), params.saturates, params.rounding};
  return state;
}

absl::Status RunCastSmall(const KernelCall& call) {
  const SmallCast& cast = static_cast<const SmallCastState&>(*call.state).cast;
  const int64_t count = call.output_layout(0).shape.element_count();
  const int width = cast.to_bits < 8 ? 8 / cast.to_bits : 1;
  const void* x = call.inputs[0].address();
  void* y = call.outputs[0].address();
  const bool goes_through_integers =
      IsSmallInteger(cast.from) || IsSmallInteger(cast.to);
  return Launch(
      call.context,
      goes_through_integers ? SmallCastKernel<int64_t> : SmallCastKernel<float>,
      ForRuns(count, width), cast, x, y, count);
}

}  // namespace tensord::cuda
