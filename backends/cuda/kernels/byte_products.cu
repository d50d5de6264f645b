// MatMulInteger and QLinearMatMul, with shapes as numpy.matmul's.
//
//   sum[batch, r, c] = sum over t of (a[batch, r, t] - a_zero) *
//                      (b[batch, t, c] - b_zero)
//   QLinearMatMul: y = saturate(round(sum * (a_scale * b_scale / y_scale)) +
//                  y_zero)
//
// a, b and y are int8 or uint8 each, contiguous, y another buffer; the zero
// points and scales of a (of b) are one element, one for each row (column), or
// [..., M, 1] ([..., 1, N]) with the matrices' own batch; y's are one element.
// MatMulInteger's zero points may be absent, for 0. Sums are int32 and wrap
// around; byte_operand.h says how they are rounded.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "backends/api/kernel.h"
#include "backends/api/matmul_geometry.h"
#include "backends/cuda/kernels/batch_digits.h"
#include "backends/cuda/kernels/byte_operand.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/number.h"
#include "backends/cuda/kernels/product_tile.h"
#include "backends/cuda/kernels/rows.h"

namespace tensord::cuda {
namespace {

// Which element of a zero point or scale belongs to a line (a row of a, a
// column of b): the one, that of the line in its matrix, or that of the line
// among those of all matrices.
struct LineIndex {
  bool is_one = true;
  bool is_vector = false;

  LineIndex() = default;
  explicit LineIndex(const Shape& shape)
      : is_one(shape.element_count() == 1), is_vector(shape.rank() == 1) {}
  // `lines` of a matrix, which is number `matrix`.
  __device__ int64_t at(int64_t line, int64_t lines, int64_t matrix) const {
    if (is_one) return 0;
    return is_vector ? line % lines : matrix * lines + line;
  }
};

struct ByteSide {
  Bytes elements;
  Bytes zeros;
  Scales scales;
  LineIndex zero_index, scale_index;
  // Of one matrix; rows of several may be taken as one tall matrix's.
  int64_t lines, matrix_elements;

  __device__ int64_t Matrix(int64_t offset) const {
    return matrix_elements == 0 ? 0 : offset / matrix_elements;
  }
};

struct ByteMatrices {
  int64_t batch, m, n, k;
  BatchDigits digits;
  ByteSide a, b;
  ByteResult result;
};

__global__ void MultiplyBytes(const __grid_constant__ ByteMatrices p) {
  for (int64_t index = blockIdx.y; index < p.batch; index += gridDim.y) {
    const BatchDigits::Offsets offsets = p.digits.At(index);
    const int64_t a_matrix = p.a.Matrix(offsets.a);
    const int64_t b_matrix = p.b.Matrix(offsets.b);
    MultiplyTile<uint32_t>(
        blockIdx.x, p.m, p.n, p.k, /*a_is_along_depth=*/true,
        /*b_is_along_depth=*/false,
        [&](int64_t row, int64_t t) {
          const int zero =
              p.a.zeros.at(p.a.zero_index.at(row, p.a.lines, a_matrix));
          return static_cast<uint32_t>(
              p.a.elements.at(offsets.a + row * p.k + t) - zero);
        },
        [&](int64_t t, int64_t column) {
          const int zero =
              p.b.zeros.at(p.b.zero_index.at(column, p.b.lines, b_matrix));
          return static_cast<uint32_t>(
              p.b.elements.at(offsets.b + t * p.n + column) - zero);
        },
        [&](int64_t row, int64_t column, auto& sums) {
          constexpr int kCount = sizeof(sums) / sizeof(uint32_t);
          const bool has_scales = p.result.sums == nullptr;
          const float a_scale =
              has_scales
                  ? p.a.scales.at(p.a.scale_index.at(row, p.a.lines, a_matrix))
                  : 0.0f;
#pragma unroll
          for (int j = 0; j < kCount; ++j) {
            const float b_scale = has_scales
                                      ? p.b.scales.at(p.b.scale_index.at(
                                            column + j, p.b.lines, b_matrix))
                                      : 0.0f;
            p.result.Store((index * p.m + row) * p.n + column + j, sums[j],
                           a_scale, b_scale);
          }
        });
  }
}

// a and b are the numbers of the inputs.
ByteMatrices MatricesOf(const KernelCall& call, int a, int b) {
  const Shape& a_shape = call.input_layout(a).shape;
  const Shape& b_shape = call.input_layout(b).shape;
  const matmul::Product product = matmul::Resolve(a_shape, b_shape);
  ByteMatrices matrices = {};
  matrices.batch = product.batch;
  matrices.m = product.m;
  matrices.n = product.n;
  matrices.k = product.k;
  matrices.digits = BatchDigits(product);
  matrices.a.lines = std::max<int64_t>(
      a_shape.rank() == 1 ? 1 : a_shape[a_shape.rank() - 2], 1);
  matrices.b.lines = std::max<int64_t>(product.n, 1);
  matrices.a.matrix_elements = matrices.a.lines * product.k;
  matrices.b.matrix_elements = matrices.b.lines * product.k;
  return matrices;
}

absl::Status Multiply(const KernelCall& call, const ByteMatrices& matrices) {
  constexpr int64_t kMaxGridY = 65535;
  if (matrices.batch == 0) return absl::OkStatus();
  return Launch(
      call.context, &MultiplyBytes,
      {dim3(static_cast<unsigned>(ProductTile::Count(matrices.m, matrices.n)),
            static_cast<unsigned>(std::min(matrices.batch, kMaxGridY))),
       dim3(ProductTile::kThreads)},
      matrices);
}

template <typename A, typename B>
absl::Status RunMatMulInteger(const KernelCall& call) {
  ByteMatrices matrices = MatricesOf(call, 0, 1);
  matrices.a.elements = Bytes(call.input<A>(0));
  matrices.b.elements = Bytes(call.input<B>(1));
  if (call.has_input(2)) {
    matrices.a.zeros = Bytes(call.input<A>(2));
    matrices.a.zero_index = LineIndex(call.input_layout(2).shape);
  }
  if (call.has_input(3)) {
    matrices.b.zeros = Bytes(call.input<B>(3));
    matrices.b.zero_index = LineIndex(call.input_layout(3).shape);
  }
  matrices.result.sums = call.output<int32_t>(0);
  return Multiply(call, matrices);
}

enum Input { kA, kAScale, kAZero, kB, kBScale, kBZero, kYScale, kYZero };

template <typename A, typename B, typename Y, typename S>
absl::Status RunQLinearMatMul(const KernelCall& call) {
  ByteMatrices matrices = MatricesOf(call, kA, kB);
  matrices.a.elements = Bytes(call.input<A>(kA));
  matrices.a.zeros = Bytes(call.input<A>(kAZero));
  matrices.a.scales = Scales(call.input<S>(kAScale));
  matrices.a.zero_index = LineIndex(call.input_layout(kAZero).shape);
  matrices.a.scale_index = LineIndex(call.input_layout(kAScale).shape);
  matrices.b.elements = Bytes(call.input<B>(kB));
  matrices.b.zeros = Bytes(call.input<B>(kBZero));
  matrices.b.scales = Scales(call.input<S>(kBScale));
  matrices.b.zero_index = LineIndex(call.input_layout(kBZero).shape);
  matrices.b.scale_index = LineIndex(call.input_layout(kBScale).shape);
  matrices.result.y = reinterpret_cast<uint8_t*>(call.output<Y>(0));
  matrices.result.y_zero = Bytes(call.input<Y>(kYZero));
  matrices.result.y_scale = Scales(call.input<S>(kYScale));
  return Multiply(call, matrices);
}

template <int kAInput, int kBInput>
KernelCost ByteCost(const NodeSite& site) {
  const Shape& a = site.input(kAInput).shape;
  const Shape& b = site.input(kBInput).shape;
  const double outputs = site.output(0).shape.element_count();
  return {.flops = 2 * outputs * matmul::Resolve(a, b).k,
          .bytes = outputs * ByteSize(site.output_dtype(0), 1) +
                   a.element_count() + b.element_count(),
          .efficiency = 0.2};
}

template <typename A, typename B>
constexpr KernelEntry IntegerRow(const char* name) {
  constexpr DType kTa = kDTypeOf<A>;
  constexpr DType kTb = kDTypeOf<B>;
  return {.op = OpKind::kMatMulInteger,
          .dtypes = Takes({kTa, kTb, kTa, kTb}, {DType::kInt32}),
          .name = name,
          .source = "backends/cuda/kernels/byte_products.cu",
          .cost = &ByteCost<0, 1>,
          .run = &RunMatMulInteger<A, B>};
}

template <typename A, typename B, typename Y, typename S>
constexpr KernelEntry LinearRow(const char* name) {
  constexpr DType kTa = kDTypeOf<A>;
  constexpr DType kTb = kDTypeOf<B>;
  constexpr DType kTs = kDTypeOf<S>;
  return {.op = OpKind::kQLinearMatMul,
          .dtypes = Takes({kTa, kTs, kTa, kTb, kTs, kTb, kTs, kDTypeOf<Y>},
                          {kDTypeOf<Y>}),
          .name = name,
          .source = "backends/cuda/kernels/byte_products.cu",
          .cost = &ByteCost<kA, kB>,
          .run = &RunQLinearMatMul<A, B, Y, S>};
}

#define TENSORD_LINEAR_ROWS_AS(A, a, B, b, Y, y)                              \
  LinearRow<A, B, Y, float>("qlinear_matmul_" a "_" b "_" y "_f32_tiles"),    \
      LinearRow<A, B, Y, Half>("qlinear_matmul_" a "_" b "_" y "_f16_tiles"), \
      LinearRow<A, B, Y, BHalf>("qlinear_matmul_" a "_" b "_" y "_bf16_tiles")
#define TENSORD_BYTE_ROWS(A, a, B, b)                   \
  IntegerRow<A, B>("matmul_integer_" a "_" b "_tiles"), \
      TENSORD_LINEAR_ROWS_AS(A, a, B, b, int8_t, "i8"), \
      TENSORD_LINEAR_ROWS_AS(A, a, B, b, uint8_t, "u8")

constexpr KernelEntry kRows[] = {
    TENSORD_BYTE_ROWS(int8_t, "i8", int8_t, "i8"),
    TENSORD_BYTE_ROWS(int8_t, "i8", uint8_t, "u8"),
    TENSORD_BYTE_ROWS(uint8_t, "u8", int8_t, "i8"),
    TENSORD_BYTE_ROWS(uint8_t, "u8", uint8_t, "u8"),
};

}  // namespace

absl::Span<const KernelEntry> ByteProductRows() { return kRows; }

}  // namespace tensord::cuda
