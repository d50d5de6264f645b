// Conv of 16-bit floats over one to three spatial dimensions: the formula,
// layouts and aliasing of conv.cc. Sums up a stretch of one row of y at a time
// in float32 on the stack, and rounds it once; an epilogue is computed over y
// when y is whole, and rounds once more.

#include <algorithm>
#include <cstdint>

#include "backends/api/conv_geometry.h"
#include "backends/api/float16.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/conv_rows.h"
#include "backends/cpu/kernels/epilogue.h"

namespace tensord {

absl::Status AcceptsConvHalf(const NodeSite& site) {
  if (absl::Status status = AcceptsEpilogue(site); !status.ok()) return status;
  if (site.layouts.empty()) return absl::OkStatus();
  return conv::CheckSpatialRank(site.input(0).shape);
}

namespace {

template <typename T>
absl::Status ConvHalf(const KernelCall& call) {
  const conv::Geometry geometry = conv::Resolve(
      std::get<ConvParams>(call.params), call.input_layout(0).shape,
      call.input_layout(1).shape, call.output_layout(0).shape);
  const T* x = call.input<T>(0);
  const T* w = call.input<T>(1);
  const T* bias = call.has_input(2) ? call.input<T>(2) : nullptr;
  T* y = call.output<T>(0);
  conv::ForRowStretches(
      *call.context.workers, geometry, [&](const conv::RowStretch& stretch) {
        float sums[conv::kRowStretch];
        std::fill_n(sums, stretch.count,
                    bias == nullptr ? 0.0f : float{bias[stretch.channel]});
        conv::AddRow(
            geometry, stretch, [x](int64_t i) -> float { return x[i]; },
            [w](int64_t i) -> float { return w[i]; }, sums);
        std::copy_n(sums, stretch.count, y + stretch.output);
      });
  return absl::OkStatus();
}

}  // namespace

template <typename T>
absl::Status RunConvHalf(const KernelCall& call) {
  return RunThenEpilogue(call, &ConvHalf<T>);
}

template absl::Status RunConvHalf<Float16>(const KernelCall&);
template absl::Status RunConvHalf<BFloat16>(const KernelCall&);

}  // namespace tensord
