// DynamicQuantizeLinear.
//
//   scale = (max(0, max(x)) - min(0, min(x))) / 255, or 1 where that is 0
//   zero point = saturate(round(-min(0, min(x)) / scale))
//   y[i] = saturate(round(x[i] / scale) + zero point)
//
// x is contiguous, y has its shape and is another buffer; scale and zero point
// are scalars. Each output may be absent. Computes in float32 and rounds to the
// nearest integer, of two the even one. NaNs are left out of the range and
// become the zero point.
//
// Blocks find the ranges of their parts, which the next launch puts together:
// each of its threads for itself, since there are few.

#include <cstdint>

#include "backends/cuda/kernels/cast.h"
#include "backends/cuda/kernels/map.h"
#include "backends/cuda/kernels/quantization.h"
#include "backends/cuda/kernels/row_sums.h"

namespace tensord::cuda {
namespace {

constexpr int kMaxParts = 256;

struct Range {
  float low;
  float high;
};

__device__ void Include(Range& range, float low, float high) {
  range.low = low < range.low ? low : range.low;
  range.high = high > range.high ? high : range.high;
}

__global__ void RangeKernel(const float* x, int64_t count, Range* parts) {
  const RowPlan block = {1, count, kRowThreads};
  Range range = {0, 0};
  for (int64_t i = GridThread(); i < count; i += GridThreads()) {
    Include(range, x[i], x[i]);
  }
  range.low = CombineRow(block, range.low,
                         [](float a, float b) { return b < a ? b : a; });
  range.high = CombineRow(block, range.high,
                          [](float a, float b) { return b > a ? b : a; });
  if (threadIdx.x == 0) parts[blockIdx.x] = range;
}

__global__ void QuantizeKernel(const float* x, int64_t count,
                               const Range* parts, int part_count, uint8_t* y,
                               float* scale, uint8_t* zero_point) {
  Range range = {0, 0};
  for (int i = 0; i < part_count; ++i) {
    Include(range, parts[i].low, parts[i].high);
  }
  const float step =
      range.high == range.low ? 1.0f : (range.high - range.low) / 255;
  const int32_t zero = QuantizeTo(0 - range.low / step, 0, 0, 255);
  if (GridThread() == 0) {
    if (scale != nullptr) *scale = step;
    if (zero_point != nullptr) *zero_point = static_cast<uint8_t>(zero);
  }
  if (y == nullptr) return;
  for (int64_t i = GridThread(); i < count; i += GridThreads()) {
    y[i] = static_cast<uint8_t>(QuantizeTo(x[i] / step, zero, 0, 255));
  }
}

}  // namespace

uint64_t DynamicQuantizeWorkspaceBytes(const NodeSite&) {
  return kMaxParts * sizeof(Range);
}

absl::Status RunDynamicQuantize(const KernelCall& call) {
  const float* x = call.input<float>(0);
  const int64_t count = call.input_layout(0).shape.element_count();
  auto* parts = reinterpret_cast<Range*>(call.context.workspace.address());
  const int part_count = static_cast<int>(
      std::clamp<int64_t>(count / (4 * kRowThreads), 1, kMaxParts));
  const auto has_output = [&](size_t i) {
    return i < call.outputs.size() && call.outputs[i].is_present();
  };
  absl::Status status =
      Launch(call.context, RangeKernel,
             {dim3(static_cast<unsigned>(part_count)), dim3(kRowThreads)}, x,
             count, parts);
  if (!status.ok()) return status;
  // One thread at least, for the scale of an empty tensor; not so many that
  // putting the parts together would cost more than the elements do.
  constexpr int64_t kMaxThreads = 256 * 1024;
  return Launch(call.context, QuantizeKernel,
                ForElements(std::clamp<int64_t>(count, 1, kMaxThreads)), x,
                count, static_cast<const Range*>(parts), part_count,
                has_output(0) ? call.output<uint8_t>(0) : nullptr,
                has_output(1) ? call.output<float>(1) : nullptr,
                has_output(2) ? call.output<uint8_t>(2) : nullptr);
}

}  // namespace tensord::cuda
