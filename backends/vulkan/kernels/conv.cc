// Conv and ConvTranspose, of one to three spatial dimensions.
//
//   y[n, m, o] = bias[m] + sum over c, t of w[m, c, t] * x[n, c, i(o, t)]
//
// with i = o * stride + t * dilation - pad, or for ConvTranspose the i that
// spreads to o; what is outside of x is 0. x and y are [N, C, D...], or with
// channels_last [N, D..., C]; w is [M, C / group, K...], for ConvTranspose
// [C, M / group, K...]. All are contiguous; y is no input's buffer. Sums are
// float32; 16-bit floats are rounded once, behind the epilogue.
//
// Of one tap in place, a product of matrices (matmul.h). Else in tiles, as a
// product of w with what outputs see of x (conv.comp); output by output where a
// group has few channels (conv_direct.comp).

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/api/conv_geometry.h"
#include "backends/vulkan/kernels/chain.h"
#include "backends/vulkan/kernels/matmul.h"
#include "backends/vulkan/kernels/row_list.h"
#include "backends/vulkan/kernels/rows.h"
#include "vulkan/shader_codes.h"

namespace tensord::vulkan {
namespace {

constexpr uint32_t kSide = 16;  // product_tile.glsl's
// Below so many output channels of a group a tile's rows are mostly empty.
constexpr int64_t kFewRows = 8;

// conv.glsl's tables.
struct Convolution {
  uint32_t images, groups, channels, rows;
  int32_t inputs[3];
  uint32_t outputs[3];
  int32_t strides[3];
  uint32_t output_count;
  uint32_t depth;
  uint32_t x_image, x_channel, x_place;
  uint32_t y_image, y_channel, y_place;
  uint32_t w_group, w_row;
};
struct Term {
  uint32_t x;
  uint32_t w;
  int32_t taps[3];
};

struct Nothing {};

conv::Geometry GeometryOf(const NodeSite& site) {
  const auto resolve = site.op == OpKind::kConvTranspose
                           ? &conv::ResolveTransposed
                           : &conv::Resolve;
  return resolve(std::get<ConvParams>(site.params), site.input(0).shape,
                 site.input(1).shape, site.output(0).shape);
}

// Everything that shaders count has to fit 31 bits.
absl::Status CheckCounts(const conv::Geometry& geometry) {
  constexpr int64_t kMost = int64_t{1} << 30;
  int64_t largest =
      std::max({geometry.inputs(), geometry.outputs(), geometry.depth(),
                geometry.rows, geometry.images * geometry.outputs()});
  for (const conv::Axis& axis : geometry.axes) {
    largest = std::max(largest, axis.output * axis.window.stride +
                                    std::abs(axis.window.pad_begin) +
                                    axis.window.span());
  }
  if (largest <= kMost) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("it counts places up to ", largest, ", above ", kMost));
}

Convolution ConvolutionOf(const conv::Geometry& geometry, bool channels_last,
                          bool is_transposed) {
  const auto narrow = [](int64_t x) { return static_cast<uint32_t>(x); };
  const int64_t x_channels = geometry.groups * geometry.channels;
  const int64_t y_channels = geometry.groups * geometry.rows;
  Convolution of = {};
  of.images = narrow(geometry.images);
  of.groups = narrow(geometry.groups);
  of.channels = narrow(geometry.channels);
  of.rows = narrow(geometry.rows);
  for (int d = 0; d < conv::kMaxSpatialRank; ++d) {
    of.inputs[d] = static_cast<int32_t>(geometry.axes[d].input);
    of.outputs[d] = narrow(geometry.axes[d].output);
    of.strides[d] = static_cast<int32_t>(geometry.axes[d].window.stride);
  }
  of.output_count = narrow(geometry.outputs());
  of.depth = narrow(geometry.depth());
  of.x_image = narrow(x_channels * geometry.inputs());
  of.x_channel = narrow(channels_last ? 1 : geometry.inputs());
  of.x_place = narrow(channels_last ? x_channels : 1);
  of.y_image = narrow(y_channels * geometry.outputs());
  of.y_channel = narrow(channels_last ? 1 : geometry.outputs());
  of.y_place = narrow(channels_last ? y_channels : 1);
  of.w_group = narrow(geometry.rows * geometry.depth());
  of.w_row = narrow(is_transposed ? geometry.taps() : geometry.depth());
  return of;
}

std::vector<Term> TermsOf(const conv::Geometry& geometry, const Convolution& of,
                          bool is_transposed) {
  const int64_t taps = geometry.taps();
  const int64_t w_channel = is_transposed ? geometry.rows * taps : taps;
  std::vector<Term> terms;
  terms.reserve(geometry.depth());
  for (int64_t channel = 0; channel < geometry.channels; ++channel) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      Term term = {static_cast<uint32_t>(channel) * of.x_channel,
                   static_cast<uint32_t>(channel * w_channel + tap),
                   {}};
      int64_t rest = tap;
      for (int d = conv::kMaxSpatialRank - 1; d >= 0; --d) {
        const WindowAxis& window = geometry.axes[d].window;
        const int64_t at = rest % window.kernel * window.dilation;
        rest /= window.kernel;
        term.taps[d] = static_cast<int32_t>(
            is_transposed ? window.pad_begin - at : at - window.pad_begin);
      }
      terms.push_back(term);
    }
  }
  return terms;
}

// Whether each output sees the one input at its own place.
bool IsPointwise(const conv::Geometry& geometry) {
  if (geometry.groups != 1 || geometry.taps() != 1) return false;
  for (const conv::Axis& axis : geometry.axes) {
    if (axis.input != axis.output || axis.window.stride != 1 ||
        axis.window.pad_begin != 0) {
      return false;
    }
  }
  return true;
}

// Such a convolution is a product: of w [M, C] with each image [C, places], or
// with channels last of all places [places, C] with w's transpose.
absl::Status AddPointwise(const NodeSite& site, const conv::Geometry& geometry,
                          bool channels_last, const Operand& bias, Plan& plan) {
  const auto narrow = [](int64_t x) { return static_cast<uint32_t>(x); };
  const uint32_t channels = narrow(geometry.channels);
  const uint32_t rows = narrow(geometry.rows);
  const uint32_t places = narrow(geometry.outputs());
  const uint32_t images = narrow(geometry.images);
  Matrices of = {};
  of.k = channels;
  of.alpha = 1;
  of.beta = 1;
  if (channels_last) {
    of.m = images * places;
    of.n = rows;
    of.a_row = channels;
    of.a_column = 1;
    of.b_row = 1;
    of.b_column = channels;
    of.c_column = 1;
    of.batch = 1;
    return AddProducts(site, of, plan.In(0), plan.In(1), bias, plan);
  }
  of.m = rows;
  of.n = places;
  of.a_row = channels;
  of.a_column = 1;
  of.b_row = places;
  of.b_column = 1;
  of.c_row = 1;
  of.batch = images;
  of.batch_rank = 1;
  of.dimensions[0] = {std::max(images, 1u), 0, channels * places};
  return AddProducts(site, of, plan.In(1), plan.In(0), bias, plan);
}

absl::Status PlanConv(const NodeSite& site, Plan& plan) {
  if (absl::Status s = conv::CheckSpatialRank(site.input(0).shape); !s.ok()) {
    return s;
  }
  const bool is_transposed = site.op == OpKind::kConvTranspose;
  const bool channels_last = std::get<ConvParams>(site.params).channels_last;
  const conv::Geometry geometry = GeometryOf(site);
  if (absl::Status s = CheckCounts(geometry); !s.ok()) return s;
  const Operand bias = site.params.epilogue != nullptr &&
                               site.params.epilogue->own_input_count <= 2
                           ? Operand()
                           : plan.In(2);
  if (!is_transposed && IsPointwise(geometry)) {
    return AddPointwise(site, geometry, channels_last, bias, plan);
  }
  const absl::StatusOr<PlannedEpilogue> epilogue = PlanEpilogue(site, plan);
  if (!epilogue.ok()) return epilogue.status();
  const Convolution of = ConvolutionOf(geometry, channels_last, is_transposed);
  const std::vector<Term> terms = TermsOf(geometry, of, is_transposed);
  const std::initializer_list<Operand> operands = {
      plan.In(0),
      plan.In(1),
      bias,
      plan.Out(0),
      plan.Table(of),
      plan.Table(
          absl::MakeConstSpan(reinterpret_cast<const std::byte*>(terms.data()),
                              terms.size() * sizeof(Term))),
      epilogue->table,
      epilogue->inputs[0],
      epilogue->inputs[1],
      epilogue->inputs[2],
      epilogue->inputs[3]};
  const uint32_t has_epilogue = site.params.epilogue != nullptr ? 1 : 0;
  const auto dtype = static_cast<uint32_t>(site.output_dtype(0));
  const int64_t count = site.output(0).shape.element_count();
  if (geometry.rows < kFewRows || geometry.depth() < kFewRows) {
    plan.Add(shaders::k_conv_direct,
             {256, dtype, has_epilogue, is_transposed ? 1u : 0u},
             GroupsFor(count), operands, Nothing());
    return absl::OkStatus();
  }
  const int64_t columns = geometry.images * geometry.outputs();
  const auto tile = [](int64_t extent) -> uint32_t {
    return extent <= 2 * kSide ? (extent <= kSide ? 1 : 2) : 4;
  };
  const auto tiles = [](int64_t extent, uint32_t of_tile) {
    return (extent + kSide * of_tile - 1) / (kSide * of_tile);
  };
  const int64_t across = tiles(columns, tile(columns));
  const int64_t down = tiles(geometry.rows, tile(geometry.rows));
  if (across > kMostGroups || down > kMostGroups ||
      geometry.groups > kMostGroups) {
    return absl::UnimplementedError(
        absl::StrCat(columns, " outputs of ", geometry.rows,
                     " channels are too many tiles"));
  }
  plan.Add(
      shaders::k_conv,
      {kSide * kSide, dtype, has_epilogue, is_transposed ? 1u : 0u, 0, 0, 0, 0,
       0, 0, tile(geometry.rows), tile(columns),
       /*rows by depth=*/1, /*columns by depth=*/channels_last ? 1u : 0u},
      {count == 0 ? 0 : static_cast<uint32_t>(across),
       static_cast<uint32_t>(down), static_cast<uint32_t>(geometry.groups)},
      operands, Nothing());
  return absl::OkStatus();
}

KernelCost ConvCost(const NodeSite& site) {
  constexpr double kEfficiency = 0.15;
  KernelCost cost =
      CostByElements(site, 2.0 * static_cast<double>(GeometryOf(site).depth()));
  cost.flops += EpilogueFlops(site);
  cost.efficiency = kEfficiency;
  return cost;
}

RowList Rows() {
  const RowTraits conv = {
      .source = "backends/vulkan/kernels/conv.cc",
      .cost = &ConvCost,
      .caps = {.takes_epilogue = true, .takes_channels_last = true}};
  const RowTraits transposed = {.source = conv.source,
                                .cost = &ConvCost,
                                .caps = {.takes_epilogue = true}};
  RowList rows;
  rows.AddAll<&PlanConv>(OpKind::kConv, "conv", kFloats, conv);
  rows.AddAll<&PlanConv>(OpKind::kConvTranspose, "conv_transpose", kFloats,
                         transposed);
  return rows;
}

}  // namespace

absl::Span<const KernelEntry> ConvRows() {
  static const auto* const rows = new RowList(Rows());
  return rows->rows();
}

}  // namespace tensord::vulkan
