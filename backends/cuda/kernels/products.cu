// MatMul, as numpy.matmul, and Gemm.
//
//   MatMul: y[batch, r, c] = sum over t of a[batch, r, t] * b[batch, t, c]
//   Gemm:   y[r, c] = alpha * a'[r, :] . b'[:, c] + beta * c[r, c]
//
// MatMul's dimensions before the last two broadcast; a 1-D a is one row, a 1-D
// b one column. Gemm's a' and b' are a and b, or their transposes; c broadcasts
// and may be absent. All are contiguous; y is none of the inputs' buffers.
// Sums are float32 for float32 and the 16-bit floats, which are rounded once,
// behind the epilogue; float64 for float64; integers wrap around.
//
// What serves where no library's product does: one tile of y a block of
// threads (product_tile.h), without tensor cores.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/api/kernel.h"
#include "backends/api/matmul_geometry.h"
#include "backends/cuda/kernels/apply_epilogue.h"
#include "backends/cuda/kernels/batch_digits.h"
#include "backends/cuda/kernels/epilogue.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/number.h"
#include "backends/cuda/kernels/product_tile.h"
#include "backends/cuda/kernels/rows.h"

namespace tensord::cuda {
namespace {

struct Matrices {
  int64_t batch = 1;
  int64_t m = 1, n = 1, k = 1;
  int64_t a_row, a_column;  // strides, in elements
  int64_t b_row, b_column;
  BatchDigits digits;
};

// What is added: beta * c[row, column], c broadcast by strides of 0.
template <typename T>
struct Addend {
  const T* c = nullptr;  // null: nothing is
  int64_t row_stride = 0;
  int64_t column_stride = 0;
  float alpha = 1;
  float beta = 0;
};

template <typename T>
__global__ void MultiplyMatrices(
    const T* a, const T* b, T* y, const Matrices matrices,
    const Addend<T> addend, __grid_constant__ const DeviceEpilogue epilogue) {
  using C = Wrapping<T>;
  const C alpha = static_cast<C>(addend.alpha);
  const C beta = static_cast<C>(addend.beta);
  for (int64_t index = blockIdx.y; index < matrices.batch; index += gridDim.y) {
    const BatchDigits::Offsets offsets = matrices.digits.At(index);
    const T* own_a = a + offsets.a;
    const T* own_b = b + offsets.b;
    MultiplyTile<C>(
        blockIdx.x, matrices.m, matrices.n, matrices.k, matrices.a_column == 1,
        matrices.b_row == 1,
        [&](int64_t row, int64_t t) {
          return static_cast<C>(
              ToCompute(own_a[row * matrices.a_row + t * matrices.a_column]));
        },
        [&](int64_t t, int64_t column) {
          return static_cast<C>(ToCompute(
              own_b[t * matrices.b_row + column * matrices.b_column]));
        },
        [&](int64_t row, int64_t column, auto& sums) {
          constexpr int kCount = sizeof(sums) / sizeof(C);
          const int64_t at = (index * matrices.m + row) * matrices.n + column;
#pragma unroll
          for (int j = 0; j < kCount; ++j) {
            sums[j] *= alpha;
            if (addend.c == nullptr) continue;
            sums[j] +=
                beta * static_cast<C>(ToCompute(
                           addend.c[row * addend.row_stride +
                                    (column + j) * addend.column_stride]));
          }
          if constexpr (kIsFloat<T>) ApplyEpilogue<T>(epilogue, at, sums);
#pragma unroll
          for (int j = 0; j < kCount; ++j) y[at + j] = Convert<T>(sums[j]);
        });
  }
}

template <typename T>
absl::Status Multiply(const KernelCall& call, const Matrices& matrices,
                      const Addend<T>& addend) {
  constexpr int64_t kMaxGridY = 65535;
  const LaunchShape shape = {
      dim3(static_cast<unsigned>(ProductTile::Count(matrices.m, matrices.n)),
           static_cast<unsigned>(std::min(matrices.batch, kMaxGridY))),
      dim3(ProductTile::kThreads)};
  if (matrices.batch == 0) return absl::OkStatus();
  return Launch(call.context, &MultiplyMatrices<T>, shape, call.input<T>(0),
                call.input<T>(1), call.output<T>(0), matrices, addend,
                EpilogueOf(call));
}

template <typename T>
absl::Status RunMatMul(const KernelCall& call) {
  const matmul::Product product =
      matmul::Resolve(call.input_layout(0).shape, call.input_layout(1).shape);
  return Multiply<T>(call,
                     {.batch = product.batch,
                      .m = product.m,
                      .n = product.n,
                      .k = product.k,
                      .a_row = product.k,
                      .a_column = 1,
                      .b_row = product.n,
                      .b_column = 1,
                      .digits = BatchDigits(product)},
                     {});
}

template <typename T>
absl::Status RunGemm(const KernelCall& call) {
  const auto& params = std::get<GemmParams>(call.params);
  const Shape& a = call.input_layout(0).shape;
  const Shape& y = call.output_layout(0).shape;
  Matrices matrices{.batch = 1,
                    .m = y[0],
                    .n = y[1],
                    .k = a[params.transpose_a ? 0 : 1],
                    .a_row = 1,
                    .a_column = 1,
                    .b_row = 1,
                    .b_column = 1,
                    .digits = {}};
  (params.transpose_a ? matrices.a_column : matrices.a_row) = a[1];
  (params.transpose_b ? matrices.b_column : matrices.b_row) =
      params.transpose_b ? matrices.k : matrices.n;
  Addend<T> addend{.alpha = params.alpha};
  if (call.has_input(2) && params.beta != 0) {
    const Shape& c = call.input_layout(2).shape;
    const int rank = c.rank();
    addend.c = call.input<T>(2);
    addend.beta = params.beta;
    if (rank >= 1 && c[rank - 1] != 1) addend.column_stride = 1;
    if (rank == 2 && c[0] != 1) addend.row_stride = c[1];
  }
  return Multiply<T>(call, matrices, addend);
}

// Integers have no use for fractional factors.
absl::Status AcceptsGemm(const NodeSite& site) {
  if (absl::Status status = AcceptsEpilogue(site); !status.ok()) return status;
  const auto& params = std::get<GemmParams>(site.params);
  const DType dtype = site.input_dtype(0);
  if (dtype == DType::kFloat32 || dtype == DType::kFloat64 ||
      dtype == DType::kFloat16 || dtype == DType::kBFloat16 ||
      (params.alpha == 1 && (params.beta == 1 || params.beta == 0))) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("alpha ", params.alpha, " and beta ", params.beta, " for ",
                   DTypeName(dtype), ", not 1"));
}

// Of the device's rate without tensor cores.
constexpr double kEfficiency = 0.25;

KernelCost CostOf(const NodeSite& site, int64_t k) {
  const double outputs = site.output(0).shape.element_count();
  const double elements = outputs + site.input(0).shape.element_count() +
                          site.input(1).shape.element_count();
  return {.flops = 2 * outputs * k + EpilogueFlops(site),
          .bytes = elements * ByteSize(site.input_dtype(0), 1),
          .efficiency = kEfficiency};
}

KernelCost MatMulCost(const NodeSite& site) {
  return CostOf(site,
                matmul::Resolve(site.input(0).shape, site.input(1).shape).k);
}

KernelCost GemmCost(const NodeSite& site) {
  const bool is_transposed = std::get<GemmParams>(site.params).transpose_a;
  return CostOf(site, site.input(0).shape[is_transposed ? 0 : 1]);
}

// T is unsigned for signed integers as well: their sums are the same bits.
template <typename T>
constexpr KernelEntry MatMulRow(DType dtype, const char* name) {
  return {.op = OpKind::kMatMul,
          .dtypes = All(dtype),
          .name = name,
          .source = "backends/cuda/kernels/products.cu",
          .accepts = &AcceptsEpilogue,
          .prepare = &PrepareEpilogue,
          .cost = &MatMulCost,
          .run = &RunMatMul<T>,
          .caps = {.takes_epilogue = true}};
}

template <typename T>
constexpr KernelEntry GemmRow(DType dtype, const char* name) {
  return {.op = OpKind::kGemm,
          .dtypes = All(dtype),
          .name = name,
          .source = "backends/cuda/kernels/products.cu",
          .accepts = &AcceptsGemm,
          .prepare = &PrepareEpilogue,
          .cost = &GemmCost,
          .run = &RunGemm<T>,
          .caps = {.takes_epilogue = true}};
}

constexpr KernelEntry kRows[] = {
    MatMulRow<float>(DType::kFloat32, "matmul_f32_tiles"),
    MatMulRow<double>(DType::kFloat64, "matmul_f64_tiles"),
    MatMulRow<Half>(DType::kFloat16, "matmul_f16_tiles"),
    MatMulRow<BHalf>(DType::kBFloat16, "matmul_bf16_tiles"),
    MatMulRow<uint32_t>(DType::kInt32, "matmul_i32_tiles"),
    MatMulRow<uint64_t>(DType::kInt64, "matmul_i64_tiles"),
    MatMulRow<uint32_t>(DType::kUInt32, "matmul_u32_tiles"),
    MatMulRow<uint64_t>(DType::kUInt64, "matmul_u64_tiles"),
    GemmRow<float>(DType::kFloat32, "gemm_f32_tiles"),
    GemmRow<double>(DType::kFloat64, "gemm_f64_tiles"),
    GemmRow<Half>(DType::kFloat16, "gemm_f16_tiles"),
    GemmRow<BHalf>(DType::kBFloat16, "gemm_bf16_tiles"),
    GemmRow<uint32_t>(DType::kInt32, "gemm_i32_tiles"),
    GemmRow<uint64_t>(DType::kInt64, "gemm_i64_tiles"),
    GemmRow<uint32_t>(DType::kUInt32, "gemm_u32_tiles"),
    GemmRow<uint64_t>(DType::kUInt64, "gemm_u64_tiles"),
};

}  // namespace

absl::Span<const KernelEntry> ProductRows() { return kRows; }

}  // namespace tensord::cuda
