// ConvTranspose over one to three spatial dimensions, channels in groups.
//
//   y[n, m, o] = bias[m] + sum over c, i, t with o = i * stride + t * dilation
//                - pad of w[c, m - g * M/G, t] * x[n, c, i]
//
// with g the group of output channel m, c over the input channels of that
// group. x is contiguous [N, C, spatial...], w [C, M/G, kernel...], the
// optional bias [M], y [N, M, outputs...]; y is none of the inputs' buffers.
// Accumulates in the elements' own type.
//
// Multiplies the transposed weights, packed once per node where they are
// constant, by stretches of x: the product [M/G * taps, inputs] has what each
// input adds at each tap, and is added up into y. The product is never whole in
// memory, so that it stays in cache and a large kernel needs no large
// workspace. conv_transpose_direct.cc has the sibling for few input channels
// and other types.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/api/conv_geometry.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/api/packed_weights.h"
#include "backends/cpu/kernels/epilogue.h"
#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/packed_store.h"

namespace tensord {
namespace {

using conv::Geometry;

// Below this many input channels a group, a product has next to nothing to add
// up.
constexpr int64_t kMinMatrixDepth = 4;

// How much of the product is in memory at once: 4 MiB of floats, but at least
// as many columns as the product's own blocks have.
constexpr int64_t kProductElements = int64_t{1} << 20;

constexpr int64_t kGrainElements = 8 * 1024;

Geometry GeometryOf(const KernelCall& call) {
  return conv::ResolveTransposed(
      std::get<ConvParams>(call.params), call.input_layout(0).shape,
      call.input_layout(1).shape, call.output_layout(0).shape);
}

Geometry GeometryOf(const NodeSite& site) {
  return conv::ResolveTransposed(std::get<ConvParams>(site.params),
                                 site.input(0).shape, site.input(1).shape,
                                 site.output(0).shape);
}

int64_t ProductRows(const Geometry& geometry) {
  return geometry.rows * geometry.taps();
}

// The inputs of a stretch.
int64_t StretchColumns(const Geometry& geometry) {
  const int64_t columns =
      kProductElements / std::max<int64_t>(ProductRows(geometry), 1);
  return std::max(columns, gemm::kBlockColumns);
}

// What the product takes of the workspace: at least any stretch's, and never
// less for larger extents.
int64_t ProductElements(const Geometry& geometry) {
  const int64_t rows = ProductRows(geometry);
  if (geometry.inputs() <= StretchColumns(geometry)) {
    return rows * geometry.inputs();
  }
  return std::max(kProductElements, rows * gemm::kBlockColumns);
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
  return gemm::PackedRows::ElementCount(ProductRows(geometry),
                                        geometry.channels, gemm::ThisMachine());
}

// As gemm::PackedRows has them, from the transposed [C/G, M/G * taps].
void PackWeights(const Geometry& geometry, const float* w, float* packed) {
  const gemm::Machine machine = gemm::ThisMachine();
  const int64_t m = ProductRows(geometry);
  for (int64_t g = 0; g < geometry.groups; ++g) {
    for (int64_t k0 = 0; k0 < geometry.channels; k0 += gemm::kDepth) {
      gemm::PackRows(w, 1, m, 1.0f, 0, m, k0,
                     std::min(gemm::kDepth, geometry.channels - k0),
                     machine.rows,
                     packed + gemm::RoundUp(m, machine.rows) * k0);
    }
    w += m * geometry.channels;
    packed += PackedGroupElements(geometry);
  }
}

// product [m, count] = the group's weights times x[:, first .. first + count).
void MultiplyStretch(WorkerPool& workers, const Geometry& geometry,
                     const float* packed, const float* x, int64_t first,
                     int64_t count, float* product) {
  const gemm::Machine machine = gemm::ThisMachine();
  const gemm::Problem problem{.m = ProductRows(geometry),
                              .n = count,
                              .k = geometry.channels,
                              .c = product,
                              .c_stride = count};
  gemm::ForTiles(
      workers, 1, problem.m, count, machine,
      [&](int64_t, int64_t m0, int64_t m1, int64_t n0, int64_t n1) {
        gemm::MultiplyTile(
            problem, machine, m0, m1, n0, n1,
            [&](int64_t row, int64_t, int64_t k0, int64_t depth, float*) {
              return gemm::PackedRows::Block(packed, problem.m, row, k0, depth,
                                             machine);
            },
            [&](int64_t column, int64_t columns, int64_t k0, int64_t depth,
                float* scratch) {
              gemm::PackColumns(x, geometry.inputs(), 1, k0, depth,
                                first + column, columns, machine.columns,
                                scratch);
              return scratch;
            });
      });
}

// Adds what a stretch's product has for row (d, h) of one output channel. The
// product's rows of that channel are one a tap.
void AddToRow(const Geometry& geometry, const float* product, int64_t first,
              int64_t count, int64_t d, int64_t h, float* y) {
  const auto& [axis_d, axis_h, axis_w] = geometry.axes;
  for (int64_t tap_d = 0; tap_d < axis_d.window.kernel; ++tap_d) {
    const int64_t i_d = axis_d.InputOf(d, tap_d);
    if (i_d < 0) continue;
    for (int64_t tap_h = 0; tap_h < axis_h.window.kernel; ++tap_h) {
      const int64_t i_h = axis_h.InputOf(h, tap_h);
      if (i_h < 0) continue;
      // Where the input's row starts in the stretch, and what of it is there.
      const int64_t start = (i_d * axis_h.input + i_h) * axis_w.input - first;
      const int64_t low = std::max<int64_t>(-start, 0);
      const int64_t high = std::min(count - start, axis_w.input);
      if (low >= high) continue;
      const int64_t taps =
          (tap_d * axis_h.window.kernel + tap_h) * axis_w.window.kernel;
      for (int64_t tap_w = 0; tap_w < axis_w.window.kernel; ++tap_w) {
        const float* row = product + (taps + tap_w) * count;
        const int64_t stride = axis_w.window.stride;
        const int64_t shift =
            tap_w * axis_w.window.dilation - axis_w.window.pad_begin;
        const auto [begin, end] =
            axis_w.InputsInside(tap_w, low, high, 0, axis_w.output);
        for (int64_t i = begin; i < end; ++i) {
          y[i * stride + shift] += row[start + i];
        }
      }
    }
  }
}

}  // namespace

absl::Status AcceptsConvTransposeCol2im(const NodeSite& site) {
  if (absl::Status status = AcceptsEpilogue(site); !status.ok()) return status;
  if (site.layouts.empty()) return absl::OkStatus();
  const Shape& x = site.input(0).shape;
  if (absl::Status status = conv::CheckSpatialRank(x); !status.ok()) {
    return status;
  }
  const int64_t channels = GeometryOf(site).channels;
  if (channels >= kMinMatrixDepth) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      channels, " input channels a group are below ", kMinMatrixDepth));
}

uint64_t ConvTransposeWorkspaceBytes(const NodeSite& site) {
  const Geometry geometry = GeometryOf(site);
  uint64_t elements = ProductElements(geometry);
  if (site.host_constant(1) == nullptr) {
    elements += geometry.groups * PackedGroupElements(geometry);
  }
  return elements * sizeof(float);
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareConvTranspose(
    const NodeSite& site, Device& device) {
  const auto* w = reinterpret_cast<const float*>(site.host_constant(1));
  if (w == nullptr) return PrepareWithEpilogue(site, nullptr);
  const Geometry geometry = GeometryOf(site);
  auto packed = PackedStoreOf(device).Get(
      HostBytes(site, 1),
      absl::StrCat("ConvTranspose rows ", geometry.groups, " ",
                   ProductRows(geometry), " ", geometry.channels),
      geometry.groups * PackedGroupElements(geometry) * sizeof(float),
      [&](std::byte* to) {
        PackWeights(geometry, w, reinterpret_cast<float*>(to));
        return absl::OkStatus();
      });
  if (!packed.ok()) return packed.status();
  return PrepareWithEpilogue(
      site, std::make_unique<PackedWeights>(*std::move(packed)));
}

KernelCost ConvTransposeCost(const NodeSite& site) {
  const Geometry geometry = GeometryOf(site);
  const double inputs = site.input(0).shape.element_count();
  const double elements = inputs + site.output(0).shape.element_count() +
                          site.input(1).shape.element_count();
  return {.flops = 2.0 * inputs * ProductRows(geometry) + EpilogueFlops(site),
          .bytes = elements * ByteSize(site.input_dtype(0), 1),
          .efficiency = 0.13};
}

namespace {

absl::Status ConvTransposeCol2im(const KernelCall& call) {
  const Geometry geometry = GeometryOf(call);
  WorkerPool& workers = *call.context.workers;
  const float* bias = call.has_input(2) ? call.input<float>(2) : nullptr;
  float* y = call.output<float>(0);
  const int64_t inputs = geometry.inputs();
  const int64_t outputs = geometry.outputs();
  const int64_t depth_rows = geometry.axes[0].output;
  const int64_t height = geometry.axes[1].output;
  const int64_t width = geometry.axes[2].output;
  const int64_t rows = ProductRows(geometry);
  const int64_t planes = geometry.groups * geometry.rows;
  workers.ParallelFor(geometry.images * planes, kGrainElements / outputs + 1,
                      [&](int64_t begin, int64_t end) {
                        for (int64_t p = begin; p < end; ++p) {
                          std::fill_n(y + p * outputs, outputs,
                                      bias ? bias[p % planes] : 0.0f);
                        }
                      });

  if (inputs == 0 || rows == 0) return absl::OkStatus();  // no workspace then
  auto* product = reinterpret_cast<float*>(call.context.workspace.address());
  const float* packed;
  if (call.state != nullptr) {
    packed = static_cast<const PackedWeights*>(call.state)->elements();
  } else {
    float* scratch = product + ProductElements(geometry);
    PackWeights(geometry, call.input<float>(1), scratch);
    packed = scratch;
  }
  const int64_t stretch = StretchColumns(geometry);
  for (int64_t index = 0; index < geometry.images * geometry.groups; ++index) {
    const float* x = call.input<float>(0) + index * geometry.channels * inputs;
    const float* weights =
        packed + index % geometry.groups * PackedGroupElements(geometry);
    for (int64_t first = 0; first < inputs; first += stretch) {
      const int64_t count = std::min(stretch, inputs - first);
      MultiplyStretch(workers, geometry, weights, x, first, count, product);
      workers.ParallelFor(
          geometry.rows * depth_rows * height, kGrainElements / width + 1,
          [&](int64_t begin, int64_t end) {
            for (int64_t row = begin; row < end; ++row) {
              const int64_t m = row / height / depth_rows;
              AddToRow(geometry, product + m * geometry.taps() * count, first,
                       count, row / height % depth_rows, row % height,
                       y + (index * geometry.rows * depth_rows * height + row) *
                               width);
            }
          });
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunConvTransposeCol2im(const KernelCall& call) {
  return RunThenEpilogue(call, &ConvTransposeCol2im);
}

}  // namespace tensord
