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

#include <algorithm>
#include <cstdint>

#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/quantization.h"
#include "backends/cpu/kernels/vector_integers.h"

namespace tensord {
namespace {

constexpr int64_t kGrain = 16 * 1024;

// Pieces whose ranges are found side by side.
constexpr int64_t kMaxPieces = 64;

struct Range {
  float low = 0;
  float high = 0;

  void Include(float x) {
    low = x < low ? x : low;
    high = x > high ? x : high;
  }
};

Range RangeOf(WorkerPool& workers, const float* x, int64_t count) {
  Range ranges[kMaxPieces];
  const int64_t piece = std::max(kGrain, (count + kMaxPieces - 1) / kMaxPieces);
  workers.ParallelFor(
      (count + piece - 1) / piece, 1, [&](int64_t begin, int64_t end) {
        for (int64_t p = begin; p < end; ++p) {
          const int64_t last = std::min(count, (p + 1) * piece);
          Range range;
          TheIntegerLoops().widen_range(x + p * piece, last - p * piece,
                                        &range.low, &range.high);
          ranges[p] = range;
        }
      });
  Range all;
  for (const Range& range : ranges) {
    all.Include(range.low);
    all.Include(range.high);
  }
  return all;
}

}  // namespace

absl::Status RunDynamicQuantizeLinear(const KernelCall& call) {
  const float* x = call.input<float>(0);
  const int64_t count = call.input_layout(0).shape.element_count();
  const Range range = RangeOf(*call.context.workers, x, count);
  const float scale =
      range.high == range.low ? 1.0f : (range.high - range.low) / 255;
  const uint8_t zero_point = Quantize<uint8_t>(0 - range.low / scale, 0);
  const auto has_output = [&](size_t i) {
    return i < call.outputs.size() && call.outputs[i].is_present();
  };
  if (has_output(0)) {
    uint8_t* y = call.output<uint8_t>(0);
    call.context.workers->ParallelFor(
        count, kGrain, [=](int64_t begin, int64_t end) {
          TheIntegerLoops().quantize_u8(x + begin, scale, zero_point,
                                        end - begin, y + begin);
        });
  }
  if (has_output(1)) *call.output<float>(1) = scale;
  if (has_output(2)) *call.output<uint8_t>(2) = zero_point;
  return absl::OkStatus();
}

}  // namespace tensord
