// Conv with a group for each channel and channels last, along one or two
// dimensions:
//
//   y[n, o, c] = bias[c] + sum over t of w[c, 0, t] * x[n, o * stride - pad +
//                t * dilation, c]
//
// with x outside its extents 0. x and y are contiguous [N, spatial..., C], the
// optional bias [C], w [C, 1, kernel...] a constant; y is none of the inputs'
// buffers. Sums are float32 and rounded once, behind the epilogue.
//
// A thread has 16 bytes of neighbouring channels of two neighbouring outputs.
// The weights are packed ahead, [taps, C], so that they are read as x is. For
// windows of 3 the loops are written out, and each input of a row of the window
// is read once for both outputs.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/api/backend.h"
#include "backends/api/conv_geometry.h"
#include "backends/api/kernel.h"
#include "backends/api/packed_weights.h"
#include "backends/cuda/kernels/apply_epilogue.h"
#include "backends/cuda/kernels/conv_shape.h"
#include "backends/cuda/kernels/early_launch.h"
#include "backends/cuda/kernels/epilogue.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/number.h"
#include "backends/cuda/kernels/pack.h"
#include "backends/cuda/kernels/rows.h"
#include "backends/cuda/shared_weights.h"

namespace tensord::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kStrip = 2;  // outputs of a thread, along the width

template <typename T>
inline constexpr int kPack = 16 / sizeof(T);  // channels of a thread

// Height and width alone.
struct Depthwise {
  int channels;
  ConvAxis height, width;
  // What the number of a thread is divided by: packs of channels, strips of a
  // row, rows.
  Divisor<uint32_t> by_packs, by_strips, by_rows;
  int64_t threads;
};

template <typename T>
__device__ inline void AddProduct(const Pack<T, kPack<T>>& x,
                                  const Pack<T, kPack<T>>& w,
                                  float (&sums)[kPack<T>]) {
#pragma unroll
  for (int i = 0; i < kPack<T>; ++i) {
    sums[i] += ToCompute(x.at[i]) * ToCompute(w.at[i]);
  }
}

template <typename T>
__device__ inline Pack<T, kPack<T>> LoadInput(const T* row, int column,
                                              const Depthwise& shape) {
  if (column < 0 || column >= shape.width.input) return {};
  return LoadPack<kPack<T>>(row + int64_t{column} * shape.channels);
}

// One row of the window: x_row and w_row are of the thread's channels. With
// kKernel and kStride 0 the shape says what they are.
template <typename T, int kKernel, int kStride>
__device__ inline void AddWindowRow(const T* x_row, const T* w_row, int column,
                                    const Depthwise& shape,
                                    float (&sums)[kStrip][kPack<T>]) {
  if constexpr (kKernel == 0) {
    for (int k = 0; k < shape.width.kernel; ++k) {
      const auto w = LoadPack<kPack<T>>(w_row + k * shape.channels);
#pragma unroll
      for (int s = 0; s < kStrip; ++s) {
        AddProduct<T>(LoadInput(x_row,
                                column + s * shape.width.stride +
                                    k * shape.width.dilation,
                                shape),
                      w, sums[s]);
      }
    }
  } else {
    constexpr int kInputs = (kStrip - 1) * kStride + kKernel;
    Pack<T, kPack<T>> x[kInputs];
#pragma unroll
    for (int i = 0; i < kInputs; ++i)
      x[i] = LoadInput(x_row, column + i, shape);
#pragma unroll
    for (int k = 0; k < kKernel; ++k) {
      const auto w = LoadPack<kPack<T>>(w_row + k * shape.channels);
#pragma unroll
      for (int s = 0; s < kStrip; ++s) {
        AddProduct<T>(x[s * kStride + k], w, sums[s]);
      }
    }
  }
}

template <typename T, int kKernel, int kStride>
__global__ void __launch_bounds__(kThreads)
    ConvolveDepthwise(const T* x, const T* w, const T* bias, T* y,
                      const __grid_constant__ Depthwise shape,
                      const __grid_constant__ DeviceEpilogue epilogue) {
  LetKernelBehindBegin();
  WaitForKernelAhead();
  const int64_t index = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (index >= shape.threads) return;
  auto rest = static_cast<uint32_t>(index);
  const uint32_t strips = shape.by_packs.Quotient(rest);
  const int channel =
      static_cast<int>(rest - strips * shape.by_packs.value()) * kPack<T>;
  rest = strips;
  const uint32_t rows = shape.by_strips.Quotient(rest);
  const int o_w =
      static_cast<int>(rest - rows * shape.by_strips.value()) * kStrip;
  const uint32_t image = shape.by_rows.Quotient(rows);
  const int o_h = static_cast<int>(rows - image * shape.by_rows.value());

  float sums[kStrip][kPack<T>] = {};
  const int64_t row_elements = int64_t{shape.width.input} * shape.channels;
  const T* x_image = x + image * shape.height.input * row_elements + channel;
  const int kernel = kKernel == 0 ? shape.height.kernel : kKernel;
  const int column = o_w * shape.width.stride - shape.width.pad;
#pragma unroll
  for (int k = 0; k < kernel; ++k) {
    const int row = InputAt(shape.height, o_h, k, /*is_transposed=*/false);
    if (row < 0 || row >= shape.height.input) continue;
    AddWindowRow<T, kKernel, kStride>(
        x_image + row * row_elements,
        w + int64_t{k} * shape.width.kernel * shape.channels + channel, column,
        shape, sums);
  }

  if (bias != nullptr) {
#pragma unroll
    for (int i = 0; i < kPack<T>; ++i) {
      const float b = ToCompute(bias[channel + i]);
#pragma unroll
      for (int s = 0; s < kStrip; ++s) sums[s][i] += b;
    }
  }
  const int64_t at =
      (int64_t{rows} * shape.width.output + o_w) * shape.channels + channel;
#pragma unroll 1
  for (int s = 0; s < kStrip && o_w + s < shape.width.output; ++s) {
    float values[kPack<T>];
#pragma unroll
    for (int i = 0; i < kPack<T>; ++i)
      values[i] = s == 0 ? sums[0][i] : sums[1][i];
    ApplyEpilogue<T>(epilogue, at + s * shape.channels, values);
    Pack<T, kPack<T>> pack;
#pragma unroll
    for (int i = 0; i < kPack<T>; ++i) pack.at[i] = Convert<T>(values[i]);
    StorePack(y + at + s * shape.channels, pack);
  }
}
static_assert(kStrip == 2);

conv::Geometry GeometryOf(const OpParams& params, const Shape& x,
                          const Shape& w, const Shape& y) {
  return conv::Resolve(std::get<ConvParams>(params), x, w, y);
}
conv::Geometry GeometryOf(const NodeSite& site) {
  return GeometryOf(site.params, site.input(0).shape, site.input(1).shape,
                    site.output(0).shape);
}

template <typename T>
Depthwise DepthwiseOf(const conv::Geometry& geometry) {
  const ConvShape shape = ConvShapeOf(geometry, /*is_channels_last=*/true,
                                      /*is_transposed=*/false);
  Depthwise result = {};
  result.channels = shape.groups;
  result.height = shape.axes[1];
  result.width = shape.axes[2];
  const int64_t packs = shape.groups / kPack<T>;
  const int64_t strips = (result.width.output + kStrip - 1) / kStrip;
  result.by_packs = Divisor<uint32_t>(std::max<int64_t>(packs, 1));
  result.by_strips = Divisor<uint32_t>(std::max<int64_t>(strips, 1));
  result.by_rows =
      Divisor<uint32_t>(std::max<int64_t>(result.height.output, 1));
  result.threads = packs * strips * result.height.output * shape.images;
  return result;
}

struct DepthwiseState final : EpilogueState, UsesPackedWeights {
  explicit DepthwiseState(const NodeSite& site) : EpilogueState(site) {}
  void AppendPacked(Packed& to) const override { to.push_back(weights); }

  std::shared_ptr<const Storage> weights;
};

// T is of the elements' size.
template <typename T>
absl::StatusOr<std::unique_ptr<KernelState>> PrepareDepthwise(
    const NodeSite& site, Device& device) {
  using Bits = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
  auto state = std::make_unique<DepthwiseState>(site);
  const conv::Geometry geometry = GeometryOf(site);
  const int64_t channels = geometry.groups;
  auto weights = SharedWeights(
      device, HostBytes(site, 1),
      absl::StrCat("depthwise ", channels, " ", geometry.taps()), [&] {
        const auto* w = reinterpret_cast<const Bits*>(site.host_constant(1));
        std::vector<std::byte> bytes(channels * geometry.taps() * sizeof(Bits));
        auto* packed = reinterpret_cast<Bits*>(bytes.data());
        for (int64_t t = 0; t < geometry.taps(); ++t) {
          for (int64_t c = 0; c < channels; ++c) {
            packed[t * channels + c] = w[c * geometry.taps() + t];
          }
        }
        return bytes;
      });
  if (!weights.ok()) return weights.status();
  state->weights = *std::move(weights);
  return state;
}

template <typename T>
absl::Status AcceptsDepthwise(const NodeSite& site) {
  if (absl::Status status = AcceptsEpilogue(site); !status.ok()) return status;
  if (absl::Status status = CheckConv(site, 0, 1); !status.ok()) return status;
  if (!std::get<ConvParams>(site.params).channels_last) {
    return absl::FailedPreconditionError("the channels are not last");
  }
  if (site.layouts.empty()) return absl::OkStatus();
  const conv::Geometry geometry = GeometryOf(site);
  if (geometry.channels != 1 || geometry.rows != 1) {
    return absl::FailedPreconditionError(
        absl::StrCat("a group has ", geometry.channels, " channels and makes ",
                     geometry.rows, ", not 1 and 1"));
  }
  if (geometry.groups % kPack<T> != 0 || site.input(0).offset % kPack<T> != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        geometry.groups, " channels from element ", site.input(0).offset,
        " on are not read ", kPack<T>, " at a time"));
  }
  if (geometry.axes[0].window.kernel != 1 || geometry.axes[0].input != 1 ||
      geometry.axes[0].output != 1) {
    return absl::FailedPreconditionError("it has three dimensions");
  }
  if (site.host_constant(1) == nullptr) {
    return absl::FailedPreconditionError("the weights are not constant");
  }
  if (DepthwiseOf<T>(geometry).threads >= int64_t{1} << 31) {
    return absl::UnimplementedError("it has more than 2^31 packs of outputs");
  }
  return absl::OkStatus();
}

KernelCost DepthwiseCost(const NodeSite& site) {
  const double outputs = site.output(0).shape.element_count();
  const double elements = outputs + site.input(0).shape.element_count();
  return {.flops = 2 * outputs * GeometryOf(site).taps() + EpilogueFlops(site),
          .bytes = elements * ByteSize(site.input_dtype(0), 1),
          .efficiency = 0.3};
}

// The kernel for a window, by what is written out for it.
template <typename T>
auto KernelOf(const Depthwise& shape) {
  const bool is_square = shape.height.kernel == shape.width.kernel &&
                         shape.width.dilation == 1 && shape.width.stride <= 2;
  const int kernel = is_square ? shape.width.kernel : 0;
  const bool is_by_1 = shape.width.stride == 1;
  if (kernel == 3) {
    return is_by_1 ? &ConvolveDepthwise<T, 3, 1> : &ConvolveDepthwise<T, 3, 2>;
  }
  return &ConvolveDepthwise<T, 0, 0>;
}

template <typename T>
absl::Status RunDepthwise(const KernelCall& call) {
  const auto& state = static_cast<const DepthwiseState&>(*call.state);
  const Depthwise shape = DepthwiseOf<T>(
      GeometryOf(call.params, call.input_layout(0).shape,
                 call.input_layout(1).shape, call.output_layout(0).shape));
  const int64_t blocks = (shape.threads + kThreads - 1) / kThreads;
  return LaunchEarly(call.context, KernelOf<T>(shape),
                     {dim3(static_cast<unsigned>(blocks)), dim3(kThreads)},
                     call.input<T>(0),
                     reinterpret_cast<const T*>(state.weights->address()),
                     call.has_input(2) ? call.input<T>(2) : nullptr,
                     call.output<T>(0), shape, EpilogueOf(call));
}

template <typename T>
constexpr KernelEntry Row(const char* name) {
  return {.op = OpKind::kConv,
          .dtypes = All(kDTypeOf<T>),
          .name = name,
          .source = "backends/cuda/kernels/conv_depthwise.cu",
          .accepts = &AcceptsDepthwise<T>,
          .prepare = &PrepareDepthwise<T>,
          .cost = &DepthwiseCost,
          .run = &RunDepthwise<T>,
          .caps = {.takes_epilogue = true, .takes_channels_last = true}};
}

constexpr KernelEntry kRows[] = {
    Row<float>("conv_f32_depthwise"),
    Row<Half>("conv_f16_depthwise"),
    Row<BHalf>("conv_bf16_depthwise"),
};

}  // namespace

absl::Span<const KernelEntry> ConvDepthwiseRows() { return kRows; }

}  // namespace tensord::cuda
