// QuantizeLinear to, and DequantizeLinear from, dtypes of 8 bits and less that
// C++ cannot compute with: float8, float4, int4, uint4, int2, uint2.
//
// The formulas, shapes and roundings are those of quantize_linear.cc and
// dequantize_linear.cc. A quotient that becomes a small float is not rounded to
// an integer first; small_floats.h has what is too large for one. Elements of
// less than a byte are packed, low bits first; the unused bits of a last byte
// are 0. So work is cut at whole bytes, and each element looks its scale up.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/quantization.h"
#include "backends/cpu/kernels/scale_runs.h"
#include "backends/cpu/kernels/small_floats.h"

namespace tensord {
namespace {

// Elements of a block: a whole number of bytes, whatever the dtype.
constexpr int64_t kBlock = 256;
constexpr int64_t kGrainBlocks = 16;

// A small dtype and what its codes stand for.
struct SmallDType : KernelState {
  DType dtype;
  int bits;
  const SmallFloatFormat* format;  // null for integers
  std::array<float, 256> numbers{};

  explicit SmallDType(DType dtype)
      : dtype(dtype), bits(BitWidth(dtype)), format(FindSmallFloat(dtype)) {
    for (int code = 0; code < 1 << bits; ++code) {
      numbers[code] = DecodeSmall(dtype, static_cast<uint8_t>(code));
    }
  }

  int mask() const { return (1 << bits) - 1; }
  bool is_signed() const {
    return dtype == DType::kInt4 || dtype == DType::kInt2;
  }

  float At(const std::byte* data, int64_t i) const {
    const int64_t bit = i * bits;
    return numbers[(std::to_integer<int>(data[bit / 8]) >> (bit % 8)) & mask()];
  }
  int Encode(float quotient, float zero_point, bool saturates) const {
    if (format == nullptr) {
      const int low = is_signed() ? -(1 << (bits - 1)) : 0;
      return QuantizeTo(quotient, static_cast<int32_t>(zero_point), low,
                        low + mask()) &
             mask();
    }
    // -0 stays where there is nothing to add.
    const float sum = zero_point == 0 ? quotient : quotient + zero_point;
    return EncodeSmallFloat(*format, sum, saturates);
  }
};

bool IsSmall(DType dtype) {
  return FindSmallFloat(dtype) != nullptr || dtype == DType::kInt4 ||
         dtype == DType::kUInt4 || dtype == DType::kInt2 ||
         dtype == DType::kUInt2;
}

absl::Status CheckSmall(DType dtype) {
  if (IsSmall(dtype)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(DTypeName(dtype), " is no small dtype"));
}

// Calls body(begin, end) for whole blocks of [0, count).
template <typename Body>
void ForBlocks(WorkerPool& workers, int64_t count, Body body) {
  workers.ParallelFor((count + kBlock - 1) / kBlock, kGrainBlocks,
                      [&](int64_t first, int64_t last) {
                        body(first * kBlock, std::min(last * kBlock, count));
                      });
}

template <typename P, typename X, typename S>
void Quantize(const KernelCall& call) {
  const auto& params = std::get<QuantizeParams>(call.params);
  const auto& small = static_cast<const SmallDType&>(*call.state);
  const Shape& shape = call.input_layout(0).shape;
  const ScaleRuns runs(params, shape, call.input_layout(1).shape);
  const X* x = call.input<X>(0);
  const S* scale = call.input<S>(1);
  const std::byte* zero =
      call.has_input(2) ? call.inputs[2].address() : nullptr;
  std::byte* y = call.outputs[0].address();
  ForBlocks(
      *call.context.workers, shape.element_count(),
      [&](int64_t begin, int64_t end) {
        const int64_t first_byte = begin * small.bits / 8;
        std::memset(y + first_byte, 0, (end * small.bits + 7) / 8 - first_byte);
        for (int64_t i = begin; i < end; ++i) {
          const int64_t at = runs.IndexOf(i);
          const P dividend(static_cast<float>(x[i]));
          const P divisor(static_cast<float>(scale[at]));
          const P quotient(static_cast<float>(dividend) /
                           static_cast<float>(divisor));
          const int code = small.Encode(
              static_cast<float>(quotient),
              zero == nullptr ? 0.0f : small.At(zero, at), params.saturates);
          const int64_t bit = i * small.bits;
          y[bit / 8] |= static_cast<std::byte>(code << (bit % 8));
        }
      });
}

template <typename Y, typename S>
void Dequantize(const KernelCall& call) {
  const auto& params = std::get<QuantizeParams>(call.params);
  const auto& small = static_cast<const SmallDType&>(*call.state);
  const Shape& shape = call.input_layout(0).shape;
  const ScaleRuns runs(params, shape, call.input_layout(1).shape);
  const std::byte* x = call.inputs[0].address();
  const S* scale = call.input<S>(1);
  const std::byte* zero =
      call.has_input(2) ? call.inputs[2].address() : nullptr;
  Y* y = call.output<Y>(0);
  ForBlocks(*call.context.workers, shape.element_count(),
            [&](int64_t begin, int64_t end) {
              for (int64_t i = begin; i < end; ++i) {
                const int64_t at = runs.IndexOf(i);
                const float difference =
                    zero == nullptr ? small.At(x, i)
                                    : small.At(x, i) - small.At(zero, at);
                y[i] = Y(difference * static_cast<float>(scale[at]));
              }
            });
}

}  // namespace

absl::Status AcceptsQuantizeSmall(const NodeSite& site) {
  return CheckSmall(site.output_dtype(0));
}

absl::Status AcceptsDequantizeSmall(const NodeSite& site) {
  return CheckSmall(site.input_dtype(0));
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareQuantizeSmall(
    const NodeSite& site, Device&) {
  return std::make_unique<SmallDType>(site.output_dtype(0));
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareDequantizeSmall(
    const NodeSite& site, Device&) {
  return std::make_unique<SmallDType>(site.input_dtype(0));
}

template <typename X, typename S>
absl::Status RunQuantizeSmall(const KernelCall& call) {
  switch (std::get<QuantizeParams>(call.params).precision) {
    case DType::kFloat32:
      Quantize<float, X, S>(call);
      break;
    case DType::kFloat16:
      Quantize<Float16, X, S>(call);
      break;
    case DType::kBFloat16:
      Quantize<BFloat16, X, S>(call);
      break;
    default:
      Quantize<S, X, S>(call);
  }
  return absl::OkStatus();
}

template <typename S>
absl::Status RunDequantizeSmall(const KernelCall& call) {
  switch (std::get<QuantizeParams>(call.params).output_dtype) {
    case DType::kFloat32:
      Dequantize<float, S>(call);
      break;
    case DType::kFloat16:
      Dequantize<Float16, S>(call);
      break;
    case DType::kBFloat16:
      Dequantize<BFloat16, S>(call);
      break;
    default:
      Dequantize<S, S>(call);
  }
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE_BY(S)                                         \
  template absl::Status RunQuantizeSmall<float, S>(const KernelCall&);    \
  template absl::Status RunQuantizeSmall<Float16, S>(const KernelCall&);  \
  template absl::Status RunQuantizeSmall<BFloat16, S>(const KernelCall&); \
  template absl::Status RunQuantizeSmall<int32_t, S>(const KernelCall&);  \
  template absl::Status RunDequantizeSmall<S>(const KernelCall&);

TENSORD_INSTANTIATE_BY(float)
TENSORD_INSTANTIATE_BY(Float16)
TENSORD_INSTANTIATE_BY(BFloat16)

}  // namespace tensord
