// QuantizeLinear and DequantizeLinear.
//
//   QuantizeLinear    y[i] = saturate(round(x[i] / scale) + zero point)
//   DequantizeLinear  y[i] = (x[i] - zero point) * scale
//
// x and y are contiguous, have the same shape, and are different buffers. There
// is one scale, or one for each index of an axis, or for each block of
// neighbours along it; the zero point is optional and has the scale's shape.
// Quotients are float32's, rounded to the type that the standard divides in
// (the scale's, unless the node says another), and then to the nearest integer,
// of two the even one; a quotient that becomes a small float is not rounded to
// an integer first. A NaN becomes the zero point. Differences are exact, and
// their product with the scale is float32's, rounded to y's dtype.

#include <math.h>

#include <cstdint>
#include <memory>

#include "absl/strings/str_cat.h"
#include "backends/api/axis_view.h"
#include "backends/api/host_arguments.h"
#include "backends/cuda/kernels/any_element.h"
#include "backends/cuda/kernels/cast.h"
#include "backends/cuda/kernels/map.h"
#include "backends/cuda/kernels/quantization.h"
#include "backends/cuda/kernels/visit_dtype.h"

namespace tensord::cuda {
namespace {

// An operand in device memory; `data` is null where absent.
struct AnyOperand {
  DType dtype;
  int bits;
  const void* data;
};

// Which scale is an element's: x is seen as [outer, extent, inner].
struct ScaleMap {
  int64_t extent = 1;
  int64_t inner = 1;
  int64_t block = 0;      // elements of the axis that share a scale
  int64_t blocks = 0;     // 0: one scale for all
  bool has_rows = false;  // scales have x's other dimensions too

  __device__ int64_t IndexOf(int64_t i) const {
    if (blocks == 0) return 0;
    const int64_t along = i / inner % extent;
    if (!has_rows) return along;
    return (i / inner / extent * blocks + along / block) * inner + i % inner;
  }
};

struct Plan {
  AnyOperand x, scale, zero;
  ScaleMap map;
  DType to;
  int to_bits;
  DType quotient;  // that the standard divides in
  bool saturates;
};

struct Dtypes final : KernelState {
  DType x, scale, y;
};

__device__ float RoundedTo(DType dtype, float x) {
  if (dtype == DType::kFloat16) return ToCompute(Convert<Half>(x));
  if (dtype == DType::kBFloat16) return ToCompute(Convert<BHalf>(x));
  return x;
}

__device__ float LoadFloat(const AnyOperand& operand, int64_t i) {
  return LoadAny<float>(operand.dtype, operand.bits, operand.data, i);
}

// An integer of 16 bits and less.
__device__ int32_t LoadInteger(const AnyOperand& operand, int64_t i) {
  return static_cast<int32_t>(
      LoadAny<int64_t>(operand.dtype, operand.bits, operand.data, i));
}

__device__ int CodeOf(const Plan& plan, int64_t i) {
  const int64_t at = plan.map.IndexOf(i);
  const float divisor = RoundedTo(plan.quotient, LoadFloat(plan.scale, at));
  float dividend = LoadFloat(plan.x, i);
  // Rounding to odd was for other ends: int32 becomes the nearest float32.
  if (plan.x.dtype == DType::kInt32) {
    dividend = static_cast<float>(static_cast<const int32_t*>(plan.x.data)[i]);
  }
  const float quotient =
      RoundedTo(plan.quotient, RoundedTo(plan.quotient, dividend) / divisor);
  const SmallFormat format = SmallFormatOf(plan.to);
  if (format.bits != 0) {
    const float zero = plan.zero.data == nullptr ? 0 : LoadFloat(plan.zero, at);
    // -0 stays where there is nothing to add.
    return EncodeSmallFloat(format, zero == 0 ? quotient : quotient + zero,
                            plan.saturates);
  }
  const int32_t zero =
      plan.zero.data == nullptr ? 0 : LoadInteger(plan.zero, at);
  const bool is_signed = IsSmallSigned(plan.to) || plan.to == DType::kInt8 ||
                         plan.to == DType::kInt16;
  const int32_t least = is_signed ? -(1 << (plan.to_bits - 1)) : 0;
  return QuantizeTo(quotient, zero, least, least + (1 << plan.to_bits) - 1);
}

// A thread makes a byte of elements that are smaller.
__global__ void QuantizeKernel(Plan plan, void* y, int64_t count) {
  const int width = plan.to_bits < 8 ? 8 / plan.to_bits : 1;
  for (int64_t first = GridThread() * width; first < count;
       first += GridThreads() * width) {
    if (plan.to_bits == 16) {
      static_cast<uint16_t*>(y)[first] =
          static_cast<uint16_t>(CodeOf(plan, first));
      continue;
    }
    int byte = 0;
    for (int k = 0; k < width && first + k < count; ++k) {
      const int code = CodeOf(plan, first + k) & ((1 << plan.to_bits) - 1);
      byte |= code << (k * plan.to_bits);
    }
    static_cast<uint8_t*>(y)[first / width] = static_cast<uint8_t>(byte);
  }
}

__global__ void DequantizeKernel(Plan plan, void* y, int64_t count) {
  const bool is_float = SmallFormatOf(plan.x.dtype).bits != 0;
  for (int64_t i = GridThread(); i < count; i += GridThreads()) {
    const int64_t at = plan.map.IndexOf(i);
    float difference;
    if (is_float) {
      difference = LoadFloat(plan.x, i);
      if (plan.zero.data != nullptr) difference -= LoadFloat(plan.zero, at);
    } else {  // of 32-bit integers, which need 33 bits
      int64_t exact =
          LoadAny<int64_t>(plan.x.dtype, plan.x.bits, plan.x.data, i);
      if (plan.zero.data != nullptr) {
        exact -= LoadAny<int64_t>(plan.zero.dtype, plan.zero.bits,
                                  plan.zero.data, at);
      }
      difference = static_cast<float>(exact);
    }
    StoreAny(plan.to, difference * LoadFloat(plan.scale, at), y, i);
  }
}

ScaleMap MapOf(const QuantizeParams& params, const Shape& x,
               const Shape& scale) {
  ScaleMap map;
  if (scale.element_count() == 1) return map;
  const AxisView view(x, params.axis);
  map.extent = view.extent;
  map.inner = view.inner;
  map.has_rows = params.block_size != 0;
  map.block = std::max<int64_t>(params.block_size, 1);
  map.blocks =
      map.has_rows ? scale[Normalised(params.axis, x.rank())] : view.extent;
  return map;
}

AnyOperand OperandOf(const KernelCall& call, int i, DType dtype) {
  const int bits = BitWidth(dtype);
  if (!call.has_input(i)) return {dtype, bits, nullptr};
  const int64_t offset_bytes = call.input_layout(i).offset * bits / 8;
  return {dtype, bits, call.inputs[i].address() + offset_bytes};
}

Plan PlanOf(const KernelCall& call, DType zero) {
  const auto& params = std::get<QuantizeParams>(call.params);
  const auto& dtypes = static_cast<const Dtypes&>(*call.state);
  Plan plan;
  plan.x = OperandOf(call, 0, dtypes.x);
  plan.scale = OperandOf(call, 1, dtypes.scale);
  plan.zero = OperandOf(call, 2, zero);
  plan.map =
      MapOf(params, call.input_layout(0).shape, call.input_layout(1).shape);
  plan.to = dtypes.y;
  plan.to_bits = BitWidth(dtypes.y);
  plan.quotient =
      params.precision == DType::kUndefined ? dtypes.scale : params.precision;
  plan.saturates = params.saturates;
  return plan;
}

bool IsQuantized(DType dtype) {
  return (IsSmall(dtype) && dtype != DType::kFloat8E8M0) ||
         dtype == DType::kInt8 || dtype == DType::kUInt8 ||
         dtype == DType::kInt16 || dtype == DType::kUInt16;
}

bool IsScale(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 ||
         dtype == DType::kBFloat16;
}

absl::Status Declines(DType dtype, absl::string_view as) {
  return absl::UnimplementedError(
      absl::StrCat(DTypeName(dtype), " is not taken as ", as));
}

}  // namespace

absl::Status AcceptsQuantize(const NodeSite& site) {
  const DType x = site.input_dtype(0);
  const DType y = site.output_dtype(0);
  if (!IsScale(x) && x != DType::kInt32) return Declines(x, "input");
  if (!IsScale(site.input_dtype(1))) {
    return Declines(site.input_dtype(1), "scale");
  }
  if (!IsQuantized(y)) return Declines(y, "output");
  return absl::OkStatus();
}

absl::Status AcceptsDequantize(const NodeSite& site) {
  const DType x = site.input_dtype(0);
  const DType y = site.output_dtype(0);
  if (!IsQuantized(x) && x != DType::kInt32) return Declines(x, "input");
  if (!IsScale(site.input_dtype(1))) {
    return Declines(site.input_dtype(1), "scale");
  }
  if (!IsScale(y)) return Declines(y, "output");
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareQuantize(
    const NodeSite& site, Device&) {
  auto state = std::make_unique<Dtypes>();
  state->x = site.input_dtype(0);
  state->scale = site.input_dtype(1);
  state->y = site.output_dtype(0);
  return state;
}

absl::Status RunQuantize(const KernelCall& call) {
  const int64_t count = call.output_layout(0).shape.element_count();
  const Plan plan = PlanOf(call, static_cast<const Dtypes&>(*call.state).y);
  const int width = plan.to_bits < 8 ? 8 / plan.to_bits : 1;
  return Launch(call.context, QuantizeKernel, ForRuns(count, width), plan,
                static_cast<void*>(call.outputs[0].address()), count);
}

absl::Status RunDequantize(const KernelCall& call) {
  const int64_t count = call.output_layout(0).shape.element_count();
  const Plan plan = PlanOf(call, static_cast<const Dtypes&>(*call.state).x);
  return Launch(call.context, DequantizeKernel, ForRuns(count, 1), plan,
                static_cast<void*>(call.outputs[0].address()), count);
}

}  // namespace tensord::cuda
