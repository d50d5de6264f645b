// DeformConv and Col2Im: windows of an image as columns of a matrix, and back.
//
//   DeformConv  y[n, m, o] = bias[m] + sum over c and t of w[m, c, t] *
//               mask[n, g, t, o] * x[n, c, o * stride + t * dilation - pad +
//               offset[n, g, t, :, o]]
//   Col2Im      y[n, c, l * stride + k * dilation - pad] += x[n, (c, k), l]
//
// DeformConv reads between the elements by linear interpolation, with zeros
// around x. x [N, C, D...], w [M, C / group, K...], offset [N, offset groups *
// taps * dimensions, O...], optional bias [M], optional mask [N, offset groups
// * taps, O...] and y [N, M, O...] are contiguous; up to three dimensions. One
// kernel writes what all taps of an image read to a column matrix [C * taps,
// outputs] in the workspace, the next multiplies the weights by it. An offset
// is brought near x before it becomes an index, so that infinities and NaN read
// zeros.
//
// Col2Im: x is contiguous [batch, channels * elements of a block, blocks], y
// [batch, channels, image...]; the block's shape, input 2, must be known before
// the run. A thread sums up one element of y.
//
// y is no input's buffer. Sums are in the elements' own type, float32 for
// 16-bit floats.

#include <math.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "absl/strings/str_cat.h"
#include "backends/api/host_arguments.h"
#include "backends/api/kernel.h"
#include "backends/api/window.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/number.h"
#include "backends/cuda/kernels/row_macros.h"
#include "backends/cuda/kernels/rows.h"

namespace tensord::cuda {
namespace {

enum Input { kX, kW, kOffset, kBias, kMask };
constexpr int kMaxSpatialRank = 3;
constexpr int kMaxCorners = 8;

struct Axis {
  int64_t kernel, stride, dilation, pad_begin, input, output;
};

struct Geometry {
  int rank;
  Axis axes[kMaxSpatialRank];  // the outermost first
  int64_t images, channels, groups, rows, offset_groups;
  int64_t taps = 1;
  int64_t inputs = 1;   // of a channel
  int64_t outputs = 1;  // of a row

  __device__ __host__ int64_t group_channels() const {
    return channels / groups;
  }
};

// The elements around a place, and their shares.
template <typename Number>
struct Corners {
  int count = 1;
  int64_t elements[kMaxCorners] = {0};
  Number weights[kMaxCorners] = {1};

  // The place's position along one more dimension, inside of those before.
  __device__ void Add(int64_t extent, double position) {
    // Farther out there is nothing either; a NaN is out.
    const double end = static_cast<double>(extent) + 1;
    position = position > -2 ? (position < end ? position : end) : -2;
    const double low = floor(position);
    const double above = position - low;
    const auto first = static_cast<int64_t>(low);
    const int before = count;
    int64_t old_elements[kMaxCorners];
    Number old_weights[kMaxCorners];
    for (int i = 0; i < before; ++i) {
      old_elements[i] = elements[i];
      old_weights[i] = weights[i];
    }
    count = 0;
    for (int k = 0; k < 2; ++k) {
      const double share = k == 0 ? 1 - above : above;
      if (first + k < 0 || first + k >= extent || share == 0) continue;
      for (int i = 0; i < before; ++i) {
        elements[count] = old_elements[i] * extent + first + k;
        weights[count++] = old_weights[i] * static_cast<Number>(share);
      }
    }
  }
};

// columns [C * taps, outputs] of image n.
template <typename T>
__global__ void FillColumns(Geometry geometry, int64_t n, const T* x,
                            const T* offset, const T* mask,
                            Compute<T>* columns) {
  using Number = Compute<T>;
  const int64_t count =
      geometry.offset_groups * geometry.taps * geometry.outputs;
  const int64_t outputs = geometry.outputs;
  const int64_t group_channels = geometry.channels / geometry.offset_groups;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += step) {
    const int64_t o = i % outputs;
    const int64_t tap = i / outputs % geometry.taps;
    const int64_t g = i / outputs / geometry.taps;
    const int64_t row = (n * geometry.offset_groups + g) * geometry.taps + tap;
    double positions[kMaxSpatialRank];
    int64_t rest_output = o;
    int64_t rest_tap = tap;
    for (int d = geometry.rank - 1; d >= 0; --d) {
      const Axis& axis = geometry.axes[d];
      const int64_t at = rest_output % axis.output * axis.stride -
                         axis.pad_begin +
                         rest_tap % axis.kernel * axis.dilation;
      rest_output /= axis.output;
      rest_tap /= axis.kernel;
      const T move = offset[(row * geometry.rank + d) * outputs + o];
      positions[d] =
          static_cast<double>(at) + static_cast<double>(ToCompute(move));
    }
    Corners<Number> corners;
    for (int d = 0; d < geometry.rank; ++d) {
      corners.Add(geometry.axes[d].input, positions[d]);
    }
    const Number share =
        mask == nullptr
            ? Number{1}
            : static_cast<Number>(ToCompute(mask[row * outputs + o]));
    for (int64_t c = g * group_channels; c < (g + 1) * group_channels; ++c) {
      const T* plane = x + (n * geometry.channels + c) * geometry.inputs;
      Number sum = 0;
      for (int k = 0; k < corners.count; ++k) {
        sum += corners.weights[k] *
               static_cast<Number>(ToCompute(plane[corners.elements[k]]));
      }
      columns[(c * geometry.taps + tap) * outputs + o] = share * sum;
    }
  }
}

// Image n of y: the weights' rows times the columns of their group.
template <typename T>
__global__ void MultiplyColumns(Geometry geometry, int64_t n, const T* w,
                                const T* bias, const Compute<T>* columns,
                                T* y) {
  using Number = Compute<T>;
  const int64_t depth = geometry.group_channels() * geometry.taps;
  const int64_t rows_of_a_group = geometry.rows / geometry.groups;
  const int64_t count = geometry.rows * geometry.outputs;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += step) {
    const int64_t o = i % geometry.outputs;
    const int64_t m = i / geometry.outputs;
    const T* weights = w + m * depth;
    const Number* column =
        columns + m / rows_of_a_group * depth * geometry.outputs + o;
    Number sum =
        bias == nullptr ? Number{0} : static_cast<Number>(ToCompute(bias[m]));
    for (int64_t k = 0; k < depth; ++k) {
      sum += static_cast<Number>(ToCompute(weights[k])) *
             column[k * geometry.outputs];
    }
    y[n * count + i] = Convert<T>(sum);
  }
}

Geometry GeometryOf(const DeformConvParams& params, const Shape& x,
                    const Shape& w, const Shape& y) {
  Geometry geometry = {};
  geometry.taps = geometry.inputs = geometry.outputs = 1;
  geometry.rank = x.rank() - 2;
  geometry.images = x[0];
  geometry.channels = x[1];
  geometry.groups = params.conv.group;
  geometry.rows = w[0];
  geometry.offset_groups = params.offset_group;
  for (int d = 0; d < geometry.rank; ++d) {
    const WindowAxis window =
        ResolveWindowAxis(params.conv, d, geometry.rank, w[d + 2], x[d + 2]);
    geometry.axes[d] = {window.kernel,    window.stride, window.dilation,
                        window.pad_begin, x[d + 2],      y[d + 2]};
    geometry.taps *= window.kernel;
    geometry.inputs *= x[d + 2];
    geometry.outputs *= y[d + 2];
  }
  return geometry;
}

template <typename T>
absl::Status RunDeformConv(const KernelCall& call) {
  if (call.output_layout(0).shape.element_count() == 0) return absl::OkStatus();
  const Geometry geometry = GeometryOf(
      std::get<DeformConvParams>(call.params), call.input_layout(kX).shape,
      call.input_layout(kW).shape, call.output_layout(0).shape);
  auto* columns =
      reinterpret_cast<Compute<T>*>(call.context.workspace.address());
  const T* bias = call.has_input(kBias) ? call.input<T>(kBias) : nullptr;
  const T* mask = call.has_input(kMask) ? call.input<T>(kMask) : nullptr;
  // Without channels there is nothing to fill, and no workspace.
  const int64_t fills =
      geometry.channels == 0
          ? 0
          : geometry.offset_groups * geometry.taps * geometry.outputs;
  for (int64_t n = 0; n < geometry.images; ++n) {
    if (absl::Status s = Launch(
            call.context, FillColumns<T>, ForElements(fills, 128), geometry, n,
            call.input<T>(kX), call.input<T>(kOffset), mask, columns);
        !s.ok()) {
      return s;
    }
    if (absl::Status s =
            Launch(call.context, MultiplyColumns<T>,
                   ForElements(geometry.rows * geometry.outputs), geometry, n,
                   call.input<T>(kW), bias, columns, call.output<T>(0));
        !s.ok()) {
      return s;
    }
  }
  return absl::OkStatus();
}

absl::Status AcceptsDeformConv(const NodeSite& site) {
  if (site.layouts.empty()) return absl::OkStatus();
  const int rank = site.input(kX).shape.rank() - 2;
  if (rank <= kMaxSpatialRank) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      rank, " spatial dimensions are more than ", kMaxSpatialRank));
}

Geometry GeometryOf(const NodeSite& site) {
  return GeometryOf(std::get<DeformConvParams>(site.params),
                    site.input(kX).shape, site.input(kW).shape,
                    site.output(0).shape);
}

uint64_t DeformConvWorkspaceBytes(const NodeSite& site) {
  const Geometry geometry = GeometryOf(site);
  return static_cast<uint64_t>(geometry.channels * geometry.taps *
                               geometry.outputs) *
         (site.input_dtype(kX) == DType::kFloat64 ? 8 : 4);
}

KernelCost DeformConvCost(const NodeSite& site) {
  const Geometry geometry = GeometryOf(site);
  const double columns = static_cast<double>(geometry.images) *
                         static_cast<double>(geometry.channels) *
                         static_cast<double>(geometry.taps) *
                         static_cast<double>(geometry.outputs);
  const double rows =
      static_cast<double>(geometry.rows) / static_cast<double>(geometry.groups);
  return {.flops = 2 * columns * (rows + 4),
          .bytes = 8 * columns * (1 + rows / 16),
          .efficiency = 0.05};
}

// One spatial dimension of Col2Im.
struct Dimension {
  int64_t image, block, blocks, dilation, stride, pad;
};
struct Image {
  int rank;
  Dimension dimensions[kMaxRank];
  int64_t pixels = 1;
  int64_t block_elements = 1;
  int64_t blocks;  // of x
};

template <typename T>
__global__ void SumColumns(Image image, const T* x, T* y, int64_t count) {
  using Number = Compute<T>;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += step) {
    const T* columns =
        x + i / image.pixels * image.block_elements * image.blocks;
    Number sum = 0;
    for (int64_t k = 0; k < image.block_elements; ++k) {
      // The block in which element k of the block is this pixel, if any.
      int64_t rest_pixel = i % image.pixels;
      int64_t rest_element = k;
      int64_t block = 0;
      int64_t stride = 1;
      bool is_there = true;
      for (int d = image.rank - 1; d >= 0; --d) {
        const Dimension& dimension = image.dimensions[d];
        const int64_t at = rest_pixel % dimension.image + dimension.pad -
                           rest_element % dimension.block * dimension.dilation;
        rest_pixel /= dimension.image;
        rest_element /= dimension.block;
        is_there = is_there && at >= 0 && at % dimension.stride == 0 &&
                   at / dimension.stride < dimension.blocks;
        block += at / dimension.stride * stride;
        stride *= dimension.blocks;
      }
      if (is_there) {
        sum +=
            static_cast<Number>(ToCompute(columns[k * image.blocks + block]));
      }
    }
    y[i] = Convert<T>(sum);
  }
}

class BlockShape final : public KernelState {
 public:
  Dims extents;
};

absl::Status AcceptsCol2Im(const NodeSite& site) {
  return site.layouts.empty() ? absl::OkStatus() : CheckKnown(site, {2});
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareCol2Im(const NodeSite& site,
                                                           Device&) {
  auto state = std::make_unique<BlockShape>();
  if (IsGiven(site, 2)) state->extents = HostIntegers(site, 2);
  return state;
}

template <typename T>
absl::Status RunCol2Im(const KernelCall& call) {
  const auto& params = std::get<Col2ImParams>(call.params);
  const Dims& block = static_cast<const BlockShape*>(call.state)->extents;
  const Shape& y = call.output_layout(0).shape;
  Image image = {};
  image.pixels = image.block_elements = 1;
  image.rank = y.rank() - 2;
  image.blocks = call.input_layout(0).shape[2];
  for (int d = 0; d < image.rank; ++d) {
    Dimension& dimension = image.dimensions[d];
    dimension.image = y[d + 2];
    dimension.block = block[d];
    dimension.dilation = params.dilations.empty() ? 1 : params.dilations[d];
    dimension.stride = params.strides.empty() ? 1 : params.strides[d];
    dimension.pad = params.pads.empty() ? 0 : params.pads[d];
    const int64_t end = params.pads.empty() ? 0 : params.pads[d + image.rank];
    dimension.blocks = (dimension.image + dimension.pad + end -
                        dimension.dilation * (dimension.block - 1) - 1) /
                           dimension.stride +
                       1;
    image.pixels *= dimension.image;
    image.block_elements *= dimension.block;
  }
  return Launch(call.context, SumColumns<T>, ForElements(y.element_count()),
                image, call.input<T>(0), call.output<T>(0), y.element_count());
}

KernelCost Col2ImCost(const NodeSite& site) {
  const auto elements =
      static_cast<double>(site.input(0).shape.element_count() +
                          site.output(0).shape.element_count());
  return {
      .flops = elements,
      .bytes = elements * static_cast<double>(ByteSize(site.input_dtype(0), 1)),
      .efficiency = 0.05};
}

#define DEFORM_CONV(T, dtype, suffix, ...)                               \
  TENSORD_CUDA_ROW(DeformConv, "deform_conv_" suffix, All(DType::dtype), \
                   "deform_conv.cu", .accepts = &AcceptsDeformConv,      \
                   .workspace_bytes = &DeformConvWorkspaceBytes,         \
                   .cost = &DeformConvCost, .run = &RunDeformConv<T>)
#define COL2IM(T, dtype, suffix, ...)                                      \
  TENSORD_CUDA_ROW(Col2Im, "col2im_" suffix,                               \
                   (Takes({DType::dtype, DType::kInt64}, {DType::dtype})), \
                   "deform_conv.cu", .accepts = &AcceptsCol2Im,            \
                   .prepare = &PrepareCol2Im, .cost = &Col2ImCost,         \
                   .run = &RunCol2Im<T>)

constexpr KernelEntry kRows[] = {
    TENSORD_CUDA_FLOATS(DEFORM_CONV),
    TENSORD_CUDA_FLOATS(COL2IM),
};

}  // namespace

absl::Span<const KernelEntry> DeformConvRows() { return kRows; }

}  // namespace tensord::cuda
