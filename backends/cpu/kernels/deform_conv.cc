// DeformConv: a convolution whose taps are moved, each by its own offset.
//
//   y[n, m, o] = bias[m] + sum over c and t of w[m, c, t] * mask[n, g, t, o] *
//                x[n, c, o * stride + t * dilation - pad + offset[n, g, t, :,
//                o]]
//
// read between the elements by linear interpolation, with zeros around x. x
// [N, C, D...], w [M, C / group, K...], offset [N, offset groups * taps *
// dimensions, O...], optional bias [M], optional mask [N, offset groups * taps,
// O...] and y [N, M, O...] are contiguous; y is another buffer. Up to three
// dimensions. Accumulates in the elements' own type, float32 for 16-bit floats.
//
// A task is a tile of outputs of one image: first what all of its taps read is
// written to a column matrix in the workspace, which then all rows of w are
// multiplied by. An offset is brought near x before it becomes an index, so
// that infinities and NaN read zeros.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "backends/api/conv_geometry.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/efficiency.h"
#include "backends/cpu/kernels/instantiate.h"
#include "backends/cpu/kernels/is_stopped.h"

namespace tensord {
namespace {

constexpr int kOffset = 2;
constexpr int kBias = 3;
constexpr int kMask = 4;
// Outputs of a tile: a few vectors, so that the columns of a layer with many
// channels stay in the second-level cache.
constexpr int64_t kTile = 32;
constexpr int64_t kMaxTasks = 16;
constexpr int kMaxCorners = 8;

const DeformConvParams& ParamsOf(const OpParams& params) {
  return std::get<DeformConvParams>(params);
}

conv::Geometry GeometryOf(const OpParams& params, const Shape& x,
                          const Shape& w, const Shape& y) {
  return conv::Resolve(ParamsOf(params).conv, x, w, y);
}
conv::Geometry GeometryOf(const NodeSite& site) {
  return GeometryOf(site.params, site.input(0).shape, site.input(1).shape,
                    site.output(0).shape);
}

int64_t TilesOfAnImage(const conv::Geometry& geometry) {
  return (geometry.outputs() + kTile - 1) / kTile;
}
// Elements of a tile's column matrix, [channels of all groups * taps, kTile].
int64_t ColumnElements(const conv::Geometry& geometry) {
  return geometry.groups * geometry.depth() * kTile;
}

// The elements around a place, and their shares.
template <typename Number>
struct Corners {
  int count = 1;
  std::array<int64_t, kMaxCorners> elements = {0};
  std::array<Number, kMaxCorners> weights = {1};

  // The place's position along one more dimension, inside of those before.
  void Add(int64_t extent, double position) {
    // Farther out there is nothing either; a NaN is out.
    position = position > -2
                   ? std::min(position, static_cast<double>(extent) + 1)
                   : -2;
    const double floor = std::floor(position);
    const auto low = static_cast<int64_t>(floor);
    const double above = position - floor;
    const int before = count;
    const auto old_elements = elements;
    const auto old_weights = weights;
    count = 0;
    for (int k = 0; k < 2; ++k) {
      const double share = k == 0 ? 1 - above : above;
      if (low + k < 0 || low + k >= extent || share == 0) continue;
      for (int i = 0; i < before; ++i) {
        elements[count] = old_elements[i] * extent + low + k;
        weights[count++] = old_weights[i] * static_cast<Number>(share);
      }
    }
  }
};

// The operands of one run.
template <typename T>
struct Operands {
  using Number = ComputeType<T>;

  conv::Geometry geometry;
  int64_t offset_groups;
  int rank;
  const T* x;
  const T* w;
  const T* offset;
  const T* bias;
  const T* mask;
  T* y;

  explicit Operands(const KernelCall& call)
      : geometry(GeometryOf(call.params, call.input_layout(0).shape,
                            call.input_layout(1).shape,
                            call.output_layout(0).shape)),
        offset_groups(ParamsOf(call.params).offset_group),
        rank(call.input_layout(0).shape.rank() - 2),
        x(call.input<T>(0)),
        w(call.input<T>(1)),
        offset(call.input<T>(kOffset)),
        bias(call.has_input(kBias) ? call.input<T>(kBias) : nullptr),
        mask(call.has_input(kMask) ? call.input<T>(kMask) : nullptr),
        y(call.output<T>(0)) {}

  int64_t channels() const { return geometry.groups * geometry.channels; }

  // What a tap of an offset group reads for output o of image n.
  Corners<Number> CornersAt(int64_t n, int64_t offset_group, int64_t tap,
                            int64_t o) const {
    const int64_t row =
        (n * offset_groups + offset_group) * geometry.taps() + tap;
    const int64_t outputs = geometry.outputs();
    const T* moves = offset + row * rank * outputs + o;
    std::array<double, conv::kMaxSpatialRank> positions;
    for (int d = conv::kMaxSpatialRank - 1; d >= 0; --d) {
      const conv::Axis& axis = geometry.axes[d];
      positions[d] = static_cast<double>(
          axis.InputAt(o % axis.output, tap % axis.window.kernel));
      o /= axis.output;
      tap /= axis.window.kernel;
    }
    Corners<Number> corners;
    for (int i = 0; i < rank; ++i) {
      const int d = conv::kMaxSpatialRank - rank + i;
      corners.Add(geometry.axes[d].input,
                  positions[d] + static_cast<double>(moves[i * outputs]));
    }
    return corners;
  }

  // Fills [channels * taps, kTile] with what the outputs from `first` on read;
  // columns past `width` are left alone.
  void FillColumns(int64_t n, int64_t first, int64_t width,
                   Number* columns) const {
    const int64_t taps = geometry.taps();
    const int64_t inputs = geometry.inputs();
    const int64_t group_channels = channels() / offset_groups;
    for (int64_t g = 0; g < offset_groups; ++g) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        for (int64_t b = 0; b < width; ++b) {
          Corners<Number> corners = CornersAt(n, g, tap, first + b);
          const Number share = MaskAt(n, g, tap, first + b);
          for (int64_t c = g * group_channels; c < (g + 1) * group_channels;
               ++c) {
            const T* plane = x + (n * channels() + c) * inputs;
            Number sum = 0;
            for (int i = 0; i < corners.count; ++i) {
              sum += corners.weights[i] * plane[corners.elements[i]];
            }
            columns[(c * taps + tap) * kTile + b] = share * sum;
          }
        }
      }
    }
  }

  Number MaskAt(int64_t n, int64_t offset_group, int64_t tap, int64_t o) const {
    if (mask == nullptr) return 1;
    const int64_t row =
        (n * offset_groups + offset_group) * geometry.taps() + tap;
    return mask[row * geometry.outputs() + o];
  }

  // The outputs of every row of w for one tile.
  void MultiplyColumns(int64_t n, int64_t first, int64_t width,
                       const Number* columns) const {
    const int64_t depth = geometry.depth();
    const int64_t rows = geometry.groups * geometry.rows;
    for (int64_t m = 0; m < rows; ++m) {
      std::array<Number, kTile> sums;
      sums.fill(bias == nullptr ? Number{0} : Number{bias[m]});
      const T* weights = w + m * depth;
      const Number* column = columns + m / geometry.rows * depth * kTile;
      for (int64_t k = 0; k < depth; ++k, column += kTile) {
        const Number weight = weights[k];
        for (int64_t b = 0; b < kTile; ++b) sums[b] += weight * column[b];
      }
      T* out = y + (n * rows + m) * geometry.outputs() + first;
      for (int64_t b = 0; b < width; ++b) out[b] = static_cast<T>(sums[b]);
    }
  }
};

int64_t TaskCount(const conv::Geometry& geometry) {
  return std::min(geometry.images * TilesOfAnImage(geometry), kMaxTasks);
}

}  // namespace

absl::Status AcceptsDeformConv(const NodeSite& site) {
  if (site.layouts.empty()) return absl::OkStatus();
  const int spatial_rank = site.input(0).shape.rank() - 2;
  if (spatial_rank <= conv::kMaxSpatialRank) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat(spatial_rank, " spatial dimensions are more than ",
                   conv::kMaxSpatialRank));
}

uint64_t DeformConvWorkspaceBytes(const NodeSite& site) {
  const conv::Geometry geometry = GeometryOf(site);
  const uint64_t bytes =
      site.input_dtype(0) == DType::kFloat64 ? sizeof(double) : sizeof(float);
  return static_cast<uint64_t>(TaskCount(geometry)) *
         static_cast<uint64_t>(ColumnElements(geometry)) * bytes;
}

KernelCost DeformConvCost(const NodeSite& site) {
  const conv::Geometry geometry = GeometryOf(site);
  const double columns = static_cast<double>(geometry.images) *
                         static_cast<double>(geometry.outputs()) *
                         static_cast<double>(geometry.groups) *
                         static_cast<double>(geometry.depth());
  int64_t elements = site.output(0).shape.element_count();
  for (int i = 0; i < site.input_count; ++i) {
    if (site.has_input(i)) elements += site.input(i).shape.element_count();
  }
  return {.flops = 2 * columns * static_cast<double>(geometry.rows + 4),
          .bytes = static_cast<double>(ByteSize(site.input_dtype(0), 1)) *
                   static_cast<double>(elements),
          .efficiency = kPortableEfficiency};
}

template <typename T>
absl::Status RunDeformConv(const KernelCall& call) {
  using Number = ComputeType<T>;
  if (call.output_layout(0).shape.element_count() == 0) {
    return absl::OkStatus();
  }
  const Operands<T> operands(call);
  const conv::Geometry& geometry = operands.geometry;
  const int64_t tiles = TilesOfAnImage(geometry);
  const int64_t all_tiles = geometry.images * tiles;
  const int64_t tasks = TaskCount(geometry);
  // Without channels there is neither a column nor a workspace.
  Number* workspace =
      ColumnElements(geometry) == 0
          ? nullptr
          : reinterpret_cast<Number*>(call.context.workspace.address());
  call.context.workers->ParallelFor(tasks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      Number* columns = workspace + task * ColumnElements(geometry);
      // Columns past a tile's width are multiplied like the others.
      std::fill_n(columns, ColumnElements(geometry), Number{0});
      for (int64_t tile = task; tile < all_tiles; tile += tasks) {
        if (IsStopped(call.context)) return;
        const int64_t n = tile / tiles;
        const int64_t first = tile % tiles * kTile;
        const int64_t width = std::min(kTile, geometry.outputs() - first);
        operands.FillColumns(n, first, width, columns);
        operands.MultiplyColumns(n, first, width, columns);
      }
    }
  });
  return absl::OkStatus();
}

TENSORD_INSTANTIATE_FLOATS(RunDeformConv);

}  // namespace tensord
