// MatMul, as numpy.matmul, and Gemm, in tiles.
//
//   MatMul: y[batch, r, c] = sum over t of a[batch, r, t] * b[batch, t, c]
//   Gemm:   y[r, c] = alpha * a'[r, :] . b'[:, c] + beta * c[r, c]
//
// MatMul's dimensions before the last two broadcast; a 1-D a is one row, a 1-D
// b one column. Gemm's a' and b' are a and b, or their transposes; c broadcasts
// and may be absent. All are contiguous; y is none of the inputs' buffers.
// Sums are float32; 16-bit floats are rounded once, behind the epilogue.

#include "backends/vulkan/kernels/matmul.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "backends/api/matmul_geometry.h"
#include "backends/vulkan/kernels/chain.h"
#include "backends/vulkan/kernels/row_list.h"
#include "backends/vulkan/kernels/rows.h"
#include "vulkan/shader_codes.h"

namespace tensord::vulkan {
namespace {

constexpr uint32_t kSide = 16;  // product_tile.glsl's

struct Nothing {};

absl::Status PlanMatMul(const NodeSite& site, Plan& plan) {
  const matmul::Product product =
      matmul::Resolve(site.input(0).shape, site.input(1).shape);
  if (product.batch_rank > Matrices::kMostDimensions) {
    return absl::UnimplementedError(absl::StrCat(product.batch_rank,
                                                 " batch dimensions are above ",
                                                 Matrices::kMostDimensions));
  }
  Matrices of = {.m = static_cast<uint32_t>(product.m),
                 .n = static_cast<uint32_t>(product.n),
                 .k = static_cast<uint32_t>(product.k),
                 .a_row = static_cast<uint32_t>(product.k),
                 .a_column = 1,
                 .b_row = static_cast<uint32_t>(product.n),
                 .b_column = 1,
                 .c_row = 0,
                 .c_column = 0,
                 .alpha = 1,
                 .beta = 0,
                 .batch = static_cast<uint32_t>(product.batch),
                 .batch_rank = static_cast<uint32_t>(product.batch_rank),
                 .dimensions = {}};
  for (int d = 0; d < product.batch_rank; ++d) {
    const int from = product.batch_rank - 1 - d;
    of.dimensions[d] = {static_cast<uint32_t>(product.extents[from]),
                        static_cast<uint32_t>(product.a_strides[from]),
                        static_cast<uint32_t>(product.b_strides[from])};
  }
  return AddProducts(site, of, plan.In(0), plan.In(1), {}, plan);
}

absl::Status PlanGemm(const NodeSite& site, Plan& plan) {
  const auto& params = std::get<GemmParams>(site.params);
  const Shape& a = site.input(0).shape;
  const Shape& y = site.output(0).shape;
  Matrices of = {.m = static_cast<uint32_t>(y[0]),
                 .n = static_cast<uint32_t>(y[1]),
                 .k = static_cast<uint32_t>(a[params.transpose_a ? 0 : 1]),
                 .a_row = 1,
                 .a_column = 1,
                 .b_row = 1,
                 .b_column = 1,
                 .c_row = 0,
                 .c_column = 0,
                 .alpha = params.alpha,
                 .beta = params.beta,
                 .batch = 1,
                 .batch_rank = 0,
                 .dimensions = {}};
  (params.transpose_a ? of.a_column : of.a_row) = static_cast<uint32_t>(a[1]);
  (params.transpose_b ? of.b_column : of.b_row) =
      params.transpose_b ? of.k : of.n;
  Operand addend;
  if (site.has_input(2) && params.beta != 0) {
    const Shape& c = site.input(2).shape;
    const int rank = c.rank();
    addend = plan.In(2);
    if (rank >= 1 && c[rank - 1] != 1) of.c_column = 1;
    if (rank == 2 && c[0] != 1) of.c_row = static_cast<uint32_t>(c[1]);
  }
  return AddProducts(site, of, plan.In(0), plan.In(1), addend, plan);
}

KernelCost CostOf(const NodeSite& site, int64_t k) {
  // Of the device's rate: what tiles in shared memory attain.
  constexpr double kEfficiency = 0.25;
  const auto outputs =
      static_cast<double>(site.output(0).shape.element_count());
  KernelCost cost = CostByElements(site, 2.0 * static_cast<double>(k));
  cost.flops = 2 * outputs * static_cast<double>(k) + EpilogueFlops(site);
  cost.efficiency = kEfficiency;
  return cost;
}

KernelCost MatMulCost(const NodeSite& site) {
  return CostOf(site,
                matmul::Resolve(site.input(0).shape, site.input(1).shape).k);
}

KernelCost GemmCost(const NodeSite& site) {
  const bool is_transposed = std::get<GemmParams>(site.params).transpose_a;
  return CostOf(site, site.input(0).shape[is_transposed ? 0 : 1]);
}

RowList Rows() {
  const char* const source = "backends/vulkan/kernels/matmul.cc";
  RowList rows;
  rows.AddAll<&PlanMatMul>(OpKind::kMatMul, "matmul_tiles", kFloats,
                           {.source = source,
                            .cost = &MatMulCost,
                            .caps = {.takes_epilogue = true}});
  rows.AddAll<&PlanGemm>(
      OpKind::kGemm, "gemm_tiles", kFloats,
      {.source = source, .cost = &GemmCost, .caps = {.takes_epilogue = true}});
  return rows;
}

}  // namespace

absl::Status AddProducts(const NodeSite& site, const Matrices& of,
                         const Operand& a, const Operand& b,
                         const Operand& addend, Plan& plan) {
  const absl::StatusOr<PlannedEpilogue> epilogue = PlanEpilogue(site, plan);
  if (!epilogue.ok()) return epilogue.status();
  // Few rows or columns get a tile that has no more.
  const uint32_t rows = of.m <= 2 * kSide ? (of.m <= kSide ? 1 : 2) : 4;
  const uint32_t columns = of.n <= 2 * kSide ? (of.n <= kSide ? 1 : 2) : 4;
  const uint32_t down = (of.m + kSide * rows - 1) / (kSide * rows);
  const uint32_t across = (of.n + kSide * columns - 1) / (kSide * columns);
  if (down > kMostGroups || across > kMostGroups) {
    return absl::UnimplementedError(
        absl::StrCat("a product of ", of.m, " rows and ", of.n,
                     " columns has too many tiles"));
  }
  const bool is_empty = down == 0 || across == 0 || of.batch == 0;
  plan.Add(shaders::k_matmul,
           {kSide * kSide, static_cast<uint32_t>(site.output_dtype(0)),
            site.params.epilogue != nullptr ? 1u : 0u, 0, 0, 0, 0, 0, 0, 0,
            rows, columns, of.a_column == 1 ? 1u : 0u, of.b_row == 1 ? 1u : 0u},
           {is_empty ? 0 : across, down, std::min(of.batch, kMostGroups)},
           {a, b, addend, plan.Out(0), plan.Table(of), epilogue->table,
            epilogue->inputs[0], epilogue->inputs[1], epilogue->inputs[2],
            epilogue->inputs[3]},
           Nothing());
  return absl::OkStatus();
}

absl::Span<const KernelEntry> MatMulRows() {
  static const auto* const rows = new RowList(Rows());
  return rows->rows();
}

}  // namespace tensord::vulkan
