// Conv over one to three spatial dimensions, channels in groups.
//
//   y[n, m, o] = bias[m] + sum over c, t of
//                w[m, c, t] * x[n, g * C/G + c, o * stride - pad + t *
//                dilation]
//
// with g the group of output channel m, and x outside its extents 0. x is
// contiguous [N, C, spatial...], w [M, C/G, kernel...], the optional bias [M],
// y [N, M, outputs...]; y is none of the inputs' buffers. Accumulates in the
// elements' own type. An epilogue is computed over y when y is whole.
//
// Three siblings. conv_f32_1x1 and conv_f32_im2col multiply the weights, packed
// once per node where they are constant and else into the workspace, by the
// matrix whose columns are the windows; only how that matrix is packed differs.
// conv_*_direct adds shifted rows of x to rows of y: what is left where a group
// has too few output channels for a matrix product.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/api/conv_geometry.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/api/packed_weights.h"
#include "backends/cpu/kernels/conv_windows.h"
#include "backends/cpu/kernels/efficiency.h"
#include "backends/cpu/kernels/epilogue.h"
#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/kernels/is_stopped.h"
#include "backends/cpu/packed_store.h"

namespace tensord {
namespace {

using conv::Geometry;
using conv::kMaxSpatialRank;

// Below this many output channels a group, packing the windows costs more than
// the product.
constexpr int64_t kMinMatrixRows = 4;

Geometry GeometryOf(const KernelCall& call) {
  return conv::Resolve(std::get<ConvParams>(call.params),
                       call.input_layout(0).shape, call.input_layout(1).shape,
                       call.output_layout(0).shape);
}

Geometry GeometryOf(const NodeSite& site) {
  return conv::Resolve(std::get<ConvParams>(site.params), site.input(0).shape,
                       site.input(1).shape, site.output(0).shape);
}

absl::Status AcceptsAny(const NodeSite& site) {
  if (absl::Status status = AcceptsEpilogue(site); !status.ok()) return status;
  if (site.layouts.empty()) return absl::OkStatus();
  return conv::CheckSpatialRank(site.input(0).shape);
}

class PackedWeights final : public KernelState, public UsesPackedWeights {
 public:
  explicit PackedWeights(std::shared_ptr<const Storage> storage)
      : storage_(std::move(storage)) {}
  // Of each group, one after the other.
  const float* elements() const {
    return reinterpret_cast<const float*>(storage_->address());
  }
  void AppendPacked(Packed& to) const override { to.push_back(storage_); }

 private:
  const std::shared_ptr<const Storage> storage_;  // the device counts it
};

int64_t PackedGroupElements(const Geometry& geometry) {
  return gemm::PackedRows::ElementCount(geometry.rows, geometry.depth(),
                                        gemm::ThisMachine());
}

void PackWeights(const Geometry& geometry, const float* w, float* packed) {
  const int64_t stride = PackedGroupElements(geometry);
  for (int64_t g = 0; g < geometry.groups; ++g) {
    gemm::PackedRows::Pack(w + g * geometry.rows * geometry.depth(),
                           geometry.rows, geometry.depth(), gemm::ThisMachine(),
                           packed + g * stride);
  }
}

// The node's product for each image and group. pack_b(x, geometry, machine,
// n0, count, k0, depth, scratch) packs columns of the window matrix of the
// group's channels at x.
template <typename PackB>
absl::Status RunProduct(const KernelCall& call, PackB pack_b) {
  const Geometry geometry = GeometryOf(call);
  const gemm::Machine machine = gemm::ThisMachine();
  const float* x = call.input<float>(0);
  const float* bias = call.has_input(2) ? call.input<float>(2) : nullptr;
  float* y = call.output<float>(0);
  const int64_t x_stride = geometry.channels * geometry.inputs();
  const int64_t y_stride = geometry.rows * geometry.outputs();
  const int64_t k = geometry.depth();
  if (k == 0) {
    // No input channel: the sum is empty, and there is no workspace.
    for (int64_t plane = 0;
         plane < geometry.images * geometry.groups * geometry.rows; ++plane) {
      std::fill_n(y + plane * geometry.outputs(), geometry.outputs(),
                  bias != nullptr
                      ? bias[plane % (geometry.groups * geometry.rows)]
                      : 0.0f);
    }
    return absl::OkStatus();
  }

  const int64_t packed_stride = PackedGroupElements(geometry);
  const float* packed;
  if (call.state != nullptr) {
    packed = static_cast<const PackedWeights*>(call.state)->elements();
  } else {
    auto* scratch = reinterpret_cast<float*>(call.context.workspace.address());
    PackWeights(geometry, call.input<float>(1), scratch);
    packed = scratch;
  }

  gemm::ForTiles(
      *call.context.workers, geometry.images * geometry.groups, geometry.rows,
      geometry.outputs(), machine,
      [&](int64_t index, int64_t m0, int64_t m1, int64_t n0, int64_t n1) {
        const int64_t group = index % geometry.groups;
        const float* weights = packed + group * packed_stride;
        const float* image = x + index * x_stride;
        const gemm::Problem problem{
            .m = geometry.rows,
            .n = geometry.outputs(),
            .k = k,
            .c = y + index * y_stride,
            .c_stride = geometry.outputs(),
            .row_init =
                bias != nullptr ? bias + group * geometry.rows : nullptr};
        gemm::MultiplyTile(
            problem, machine, m0, m1, n0, n1,
            [&](int64_t first, int64_t, int64_t k0, int64_t depth, float*) {
              return gemm::PackedRows::Block(weights, geometry.rows, first, k0,
                                             depth, machine);
            },
            [&](int64_t first, int64_t count, int64_t k0, int64_t depth,
                float* scratch) {
              pack_b(image, geometry, machine, first, count, k0, depth,
                     scratch);
              return scratch;
            });
      });
  return absl::OkStatus();
}

// out[i] = row[i * stride + start] where that is inside [0, extent), else 0.
void GatherRow(const float* row, int64_t extent, int64_t start, int64_t stride,
               int64_t length, float* out) {
  const auto [first, end] = conv::Inside(extent, start, stride, length);
  std::fill_n(out, first, 0.0f);
  if (stride == 1) {
    std::copy_n(row + (start + first), end - first, out + first);
  } else {
    for (int64_t i = first; i < end; ++i) out[i] = row[start + i * stride];
  }
  std::fill(out + end, out + length, 0.0f);
}

void PackWindows(const float* x, const Geometry& geometry,
                 const gemm::Machine& machine, int64_t n0, int64_t count,
                 int64_t k0, int64_t depth, float* packed) {
  static_assert(gemm::kMaxColumns <= conv::kMaxPanelColumns);
  const conv::Axis& axis = geometry.axes[2];
  for (int64_t first = 0; first < count; first += machine.columns) {
    const int64_t columns = std::min<int64_t>(machine.columns, count - first);
    conv::ForWindowRows(
        geometry, n0 + first, columns, k0, depth,
        [&](int64_t t, const conv::Run& run, int64_t row, int64_t start) {
          float* out = packed + t * machine.columns + run.column;
          if (row < 0) {
            std::fill_n(out, run.length, 0.0f);
          } else {
            GatherRow(x + row, axis.input, start, axis.window.stride,
                      run.length, out);
          }
        });
    for (int64_t t = 0; t < depth && columns < machine.columns; ++t) {
      std::fill(packed + t * machine.columns + columns,
                packed + (t + 1) * machine.columns, 0.0f);
    }
    packed += machine.columns * depth;
  }
}

// Adds the taps of one input channel to one output plane, as long as the run
// goes on: a tap goes over the whole plane.
template <typename T>
void AddChannel(const LaunchContext& context, const Geometry& geometry,
                const T* x, const T* w, T* y) {
  const auto& [axis_d, axis_h, axis_w] = geometry.axes;
  for (int64_t tap_d = 0; tap_d < axis_d.window.kernel; ++tap_d) {
    const auto [d0, d1] = axis_d.OutputsInside(tap_d);
    for (int64_t tap_h = 0; tap_h < axis_h.window.kernel; ++tap_h) {
      const auto [h0, h1] = axis_h.OutputsInside(tap_h);
      for (int64_t tap_w = 0; tap_w < axis_w.window.kernel; ++tap_w) {
        if (IsStopped(context)) return;
        const auto [w0, w1] = axis_w.OutputsInside(tap_w);
        const T weight = *w++;
        const int64_t stride = axis_w.window.stride;
        const int64_t shift =
            tap_w * axis_w.window.dilation - axis_w.window.pad_begin;
        for (int64_t d = d0; d < d1; ++d) {
          const int64_t x_d = d * axis_d.window.stride +
                              tap_d * axis_d.window.dilation -
                              axis_d.window.pad_begin;
          for (int64_t h = h0; h < h1; ++h) {
            const int64_t x_h = h * axis_h.window.stride +
                                tap_h * axis_h.window.dilation -
                                axis_h.window.pad_begin;
            const T* x_row = x + (x_d * axis_h.input + x_h) * axis_w.input;
            T* y_row = y + (d * axis_h.output + h) * axis_w.output;
            if (stride == 1) {
              for (int64_t o = w0; o < w1; ++o) {
                y_row[o] += weight * x_row[o + shift];
              }
            } else {
              for (int64_t o = w0; o < w1; ++o) {
                y_row[o] += weight * x_row[o * stride + shift];
              }
            }
          }
        }
      }
    }
  }
}

}  // namespace

absl::Status AcceptsConvDirect(const NodeSite& site) {
  return AcceptsAny(site);
}

absl::Status AcceptsConvIm2col(const NodeSite& site) {
  if (absl::Status status = AcceptsAny(site); !status.ok()) return status;
  if (site.layouts.empty()) return absl::OkStatus();
  const int64_t rows = GeometryOf(site).rows;
  if (rows >= kMinMatrixRows) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      rows, " output channels a group are below ", kMinMatrixRows));
}

absl::Status AcceptsConv1x1(const NodeSite& site) {
  if (absl::Status status = AcceptsConvIm2col(site); !status.ok()) {
    return status;
  }
  if (site.layouts.empty()) return absl::OkStatus();
  const Geometry geometry = GeometryOf(site);
  for (int i = 0; i < kMaxSpatialRank; ++i) {
    const WindowAxis& window = geometry.axes[i].window;
    if (window.kernel == 1 && window.stride == 1 && window.pad_begin == 0 &&
        window.pad_end == 0) {
      continue;
    }
    return absl::FailedPreconditionError(absl::StrCat(
        "kernel ", window.kernel, ", stride ", window.stride, ", pads ",
        window.pad_begin, " and ", window.pad_end, ", not 1, 1, 0 and 0"));
  }
  return absl::OkStatus();
}

uint64_t ConvWorkspaceBytes(const NodeSite& site) {
  if (site.host_constant(1) != nullptr) return 0;  // packed by PrepareConv
  const Geometry geometry = GeometryOf(site);
  return geometry.groups * PackedGroupElements(geometry) * sizeof(float);
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareConv(const NodeSite& site,
                                                         Device& device) {
  const auto* w = reinterpret_cast<const float*>(site.host_constant(1));
  if (w == nullptr) return PrepareWithEpilogue(site, nullptr);
  const Geometry geometry = GeometryOf(site);
  auto packed = PackedStoreOf(device).Get(
      HostBytes(site, 1),
      absl::StrCat("Conv rows ", geometry.groups, " ", geometry.rows, " ",
                   geometry.depth()),
      geometry.groups * PackedGroupElements(geometry) * sizeof(float),
      [&](std::byte* to) {
        PackWeights(geometry, w, reinterpret_cast<float*>(to));
        return absl::OkStatus();
      });
  if (!packed.ok()) return packed.status();
  return PrepareWithEpilogue(
      site, std::make_unique<PackedWeights>(*std::move(packed)));
}

KernelCost ConvCost(const NodeSite& site) {
  constexpr int64_t kFewPixels = 8;
  const Geometry geometry = GeometryOf(site);
  const double outputs = site.output(0).shape.element_count();
  const double elements = outputs + site.input(0).shape.element_count() +
                          site.input(1).shape.element_count();
  KernelCost cost{
      .flops = 2.0 * outputs * geometry.depth() + EpilogueFlops(site),
      .bytes = elements * ByteSize(site.input_dtype(0), 1),
      .efficiency = kPortableEfficiency};
  if (geometry.outputs() < kFewPixels) {
    // Every weight is read for little; it takes a microsecond to begin.
    cost.flops += 4600;
    cost.efficiency = 0.015;
  }
  return cost;
}

namespace {

absl::Status Conv1x1(const KernelCall& call) {
  return RunProduct(
      call,
      [](const float* x, const Geometry& geometry, const gemm::Machine& machine,
         int64_t n0, int64_t count, int64_t k0, int64_t depth, float* packed) {
        gemm::PackColumns(x, geometry.outputs(), 1, k0, depth, n0, count,
                          machine.columns, packed);
      });
}

}  // namespace

absl::Status RunConv1x1(const KernelCall& call) {
  return RunThenEpilogue(call, &Conv1x1);
}

namespace {

absl::Status ConvIm2col(const KernelCall& call) {
  return RunProduct(call, &PackWindows);
}

}  // namespace

absl::Status RunConvIm2col(const KernelCall& call) {
  return RunThenEpilogue(call, &ConvIm2col);
}

namespace {

template <typename T>
absl::Status ConvDirect(const KernelCall& call) {
  const Geometry geometry = GeometryOf(call);
  const T* x = call.input<T>(0);
  const T* w = call.input<T>(1);
  const T* bias = call.has_input(2) ? call.input<T>(2) : nullptr;
  T* y = call.output<T>(0);
  const int64_t outputs_a_group = geometry.rows;
  call.context.workers->ParallelFor(
      geometry.images * geometry.groups * outputs_a_group, 1,
      [&](int64_t begin, int64_t end) {
        for (int64_t plane = begin; plane < end; ++plane) {
          const int64_t m = plane % (geometry.groups * outputs_a_group);
          const int64_t image_group = plane / outputs_a_group;
          T* y_plane = y + plane * geometry.outputs();
          std::fill_n(y_plane, geometry.outputs(),
                      bias != nullptr ? bias[m] : T{0});
          for (int64_t c = 0; c < geometry.channels; ++c) {
            AddChannel(
                call.context, geometry,
                x + (image_group * geometry.channels + c) * geometry.inputs(),
                w + (m * geometry.channels + c) * geometry.taps(), y_plane);
          }
        }
      });
  return absl::OkStatus();
}

}  // namespace

template <typename T>
absl::Status RunConvDirect(const KernelCall& call) {
  return RunThenEpilogue(call, &ConvDirect<T>);
}

template absl::Status RunConvDirect<float>(const KernelCall&);
template absl::Status RunConvDirect<double>(const KernelCall&);

}  // namespace tensord
