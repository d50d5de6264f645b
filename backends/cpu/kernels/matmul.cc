// MatMul, as numpy.matmul.
//
//   y[batch, r, c] = sum over t of a[batch, r, t] * b[batch, t, c]
//
// with the dimensions before the last two broadcast; a 1-D a is one row, a 1-D
// b one column. All are contiguous; y is none of the inputs' buffers.
// Accumulates in the elements' own type, or float32 for 16-bit floats, which
// are rounded once. An epilogue is computed over y when y is whole.
//
// matmul_f32_few_rows reads b in place, matmul_*_blocked packs blocks of both
// sides (16-bit floats sum in a workspace of y's shape), matmul_*_any is the
// plain loop.

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/api/matmul_geometry.h"
#include "backends/cpu/kernels/efficiency.h"
#include "backends/cpu/kernels/epilogue.h"
#include "backends/cpu/kernels/few_rows.h"
#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/kernels/wrapping.h"

namespace tensord {
namespace {

using matmul::Product;

Product ProductOf(const NodeSite& site) {
  return matmul::Resolve(site.input(0).shape, site.input(1).shape);
}
Product ProductOf(const KernelCall& call) {
  return matmul::Resolve(call.input_layout(0).shape,
                         call.input_layout(1).shape);
}

}  // namespace

KernelCost MatMulCost(const NodeSite& site) {
  const Product product = ProductOf(site);
  const double outputs = site.output(0).shape.element_count();
  const double elements = outputs + site.input(0).shape.element_count() +
                          site.input(1).shape.element_count();
  return {.flops = 2 * outputs * product.k + EpilogueFlops(site),
          .bytes = elements * ByteSize(site.input_dtype(0), 1),
          .efficiency = ProductEfficiency(product.m)};
}

absl::Status AcceptsMatMul(const NodeSite& site) {
  return AcceptsEpilogue(site);
}

absl::Status AcceptsMatMulFewRows(const NodeSite& site) {
  if (absl::Status status = AcceptsMatMul(site); !status.ok()) return status;
  if (site.layouts.empty()) return absl::OkStatus();
  const Product product = ProductOf(site);
  if (product.m > kMaxFewRows) {
    return absl::FailedPreconditionError(
        absl::StrCat(product.m, " rows are above ", kMaxFewRows));
  }
  if (product.batch == 1) return absl::OkStatus();
  // The matrices would run one after the other.
  return absl::FailedPreconditionError(
      absl::StrCat(product.batch, " matrices, not 1"));
}

namespace {

absl::Status MatMulFewRows(const KernelCall& call) {
  const Product product = ProductOf(call);
  float* y = call.output<float>(0);
  MultiplyFewRows(*call.context.workers, product.m, product.n, product.k,
                  call.input<float>(0), call.input<float>(1),
                  /*is_b_transposed=*/false,
                  [&](int64_t row, int64_t column, float sum) {
                    y[row * product.n + column] = sum;
                  });
  return absl::OkStatus();
}

}  // namespace

absl::Status RunMatMulFewRows(const KernelCall& call) {
  return RunThenEpilogue(call, &MatMulFewRows);
}

uint64_t MatMulWorkspaceBytes(const NodeSite& site) {
  return static_cast<uint64_t>(site.output(0).shape.element_count()) *
         sizeof(float);
}

namespace {

template <typename T>
absl::Status MatMulBlocked(const KernelCall& call) {
  const Product product = ProductOf(call);
  const gemm::Machine machine = gemm::ThisMachine();
  T* y = call.output<T>(0);
  if (product.k == 0) {
    std::fill_n(y, call.output_layout(0).shape.element_count(), T(0));
    return absl::OkStatus();
  }
  if (call.output_layout(0).shape.element_count() == 0) return absl::OkStatus();
  float* sums;
  if constexpr (kIsFloat16<T>) {
    sums = reinterpret_cast<float*>(call.context.workspace.address());
  } else {
    sums = y;
  }
  gemm::ForTiles(
      *call.context.workers, product.batch, product.m, product.n, machine,
      [&](int64_t index, int64_t m0, int64_t m1, int64_t n0, int64_t n1) {
        const Product::Offsets offsets = product.At(index);
        const T* a = call.input<T>(0) + offsets.a;
        const T* b = call.input<T>(1) + offsets.b;
        const int64_t first_output = index * product.m * product.n;
        const gemm::Problem problem{.m = product.m,
                                    .n = product.n,
                                    .k = product.k,
                                    .c = sums + first_output,
                                    .c_stride = product.n};
        gemm::MultiplyTile(
            problem, machine, m0, m1, n0, n1,
            [&](int64_t first, int64_t count, int64_t k0, int64_t depth,
                float* scratch) {
              gemm::PackRows(a, product.k, 1, 1.0f, first, count, k0, depth,
                             machine.rows, scratch);
              return scratch;
            },
            [&](int64_t first, int64_t count, int64_t k0, int64_t depth,
                float* scratch) {
              gemm::PackColumns(b, product.n, 1, k0, depth, first, count,
                                machine.columns, scratch);
              return scratch;
            });
        if constexpr (kIsFloat16<T>) {
          gemm::StoreTile(problem, m0, m1, n0, n1, y + first_output);
        }
      });
  return absl::OkStatus();
}

}  // namespace

template <typename T>
absl::Status RunMatMulBlocked(const KernelCall& call) {
  return RunThenEpilogue(call, &MatMulBlocked<T>);
}

namespace {

template <typename T>
absl::Status MatMulAny(const KernelCall& call) {
  using U = Wrapping<T>;
  const Product product = ProductOf(call);
  const T* a = call.input<T>(0);
  const T* b = call.input<T>(1);
  T* y = call.output<T>(0);
  call.context.workers->ParallelFor(
      product.batch * product.m, 1, [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
          const Product::Offsets offsets = product.At(task / product.m);
          const T* a_row = a + offsets.a + task % product.m * product.k;
          for (int64_t column = 0; column < product.n; ++column) {
            const T* b_column = b + offsets.b + column;
            U sum = 0;
            for (int64_t t = 0; t < product.k; ++t) {
              sum += static_cast<U>(a_row[t]) *
                     static_cast<U>(b_column[t * product.n]);
            }
            y[task * product.n + column] = static_cast<T>(sum);
          }
        }
      });
  return absl::OkStatus();
}

}  // namespace

template <typename T>
absl::Status RunMatMulAny(const KernelCall& call) {
  return RunThenEpilogue(call, &MatMulAny<T>);
}

template absl::Status RunMatMulBlocked<float>(const KernelCall&);
template absl::Status RunMatMulBlocked<Float16>(const KernelCall&);
template absl::Status RunMatMulBlocked<BFloat16>(const KernelCall&);
template absl::Status RunMatMulAny<float>(const KernelCall&);
template absl::Status RunMatMulAny<double>(const KernelCall&);
template absl::Status RunMatMulAny<Float16>(const KernelCall&);
template absl::Status RunMatMulAny<BFloat16>(const KernelCall&);
template absl::Status RunMatMulAny<int32_t>(const KernelCall&);
template absl::Status RunMatMulAny<int64_t>(const KernelCall&);
template absl::Status RunMatMulAny<uint32_t>(const KernelCall&);
template absl::Status RunMatMulAny<uint64_t>(const KernelCall&);

}  // namespace tensord
