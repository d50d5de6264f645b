// Gemm: a matrix product with a matrix added.
//
//   y = alpha * a' * b' + beta * c
//
// a' [M, K] and b' [K, N] are a and b, or their transposes; c broadcasts to
// y [M, N] and may be absent. All are contiguous; y is none of the inputs'
// buffers. Accumulates in the elements' own type, or float32 for 16-bit floats,
// which are rounded once. An epilogue is computed over y when y is whole.
//
// gemm_f32_few_rows reads b in place where M is small, gemm_*_blocked packs
// blocks of both sides (16-bit floats sum in a workspace of y's shape),
// gemm_*_any is the plain loop.

#include "backends/cpu/kernels/gemm.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/efficiency.h"
#include "backends/cpu/kernels/epilogue.h"
#include "backends/cpu/kernels/few_rows.h"
#include "backends/cpu/kernels/gemm_addend.h"
#include "backends/cpu/kernels/wrapping.h"

namespace tensord {
namespace {

struct Extents {
  int64_t m, n, k;
};

Extents Resolve(const GemmParams& params, const Shape& a, const Shape& y) {
  return {y[0], y[1], a[params.transpose_a ? 0 : 1]};
}

}  // namespace

KernelCost GemmCost(const NodeSite& site) {
  const Extents extents = Resolve(std::get<GemmParams>(site.params),
                                  site.input(0).shape, site.output(0).shape);
  const double m = extents.m, n = extents.n, k = extents.k;
  return {.flops = 2 * m * n * k + EpilogueFlops(site),
          .bytes = (m * k + k * n + m * n) * ByteSize(site.input_dtype(0), 1),
          .efficiency = ProductEfficiency(m)};
}

absl::Status AcceptsGemm(const NodeSite& site) { return AcceptsEpilogue(site); }

absl::Status AcceptsGemmFewRows(const NodeSite& site) {
  if (absl::Status status = AcceptsGemm(site); !status.ok()) return status;
  if (std::get<GemmParams>(site.params).transpose_a) {
    return absl::FailedPreconditionError("A is transposed");
  }
  if (site.layouts.empty()) return absl::OkStatus();
  const int64_t m = site.output(0).shape[0];
  if (m <= kMaxFewRows) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(m, " rows are above ", kMaxFewRows));
}

namespace {

absl::Status GemmFewRows(const KernelCall& call) {
  const GemmParams& params = std::get<GemmParams>(call.params);
  const auto [m, n, k] =
      Resolve(params, call.input_layout(0).shape, call.output_layout(0).shape);
  const Addend<float> addend(call);
  float* y = call.output<float>(0);
  MultiplyFewRows(*call.context.workers, m, n, k, call.input<float>(0),
                  call.input<float>(1), params.transpose_b,
                  [&, columns = n](int64_t row, int64_t column, float sum) {
                    y[row * columns + column] =
                        params.alpha * sum + addend.at(row, column);
                  });
  return absl::OkStatus();
}

}  // namespace

absl::Status RunGemmFewRows(const KernelCall& call) {
  return RunThenEpilogue(call, &GemmFewRows);
}

uint64_t GemmWorkspaceBytes(const NodeSite& site) {
  return static_cast<uint64_t>(site.output(0).shape.element_count()) *
         sizeof(float);
}

namespace {

template <typename T>
absl::Status GemmBlocked(const KernelCall& call) {
  const GemmParams& params = std::get<GemmParams>(call.params);
  const Extents extents =
      Resolve(params, call.input_layout(0).shape, call.output_layout(0).shape);
  const gemm::Machine machine = gemm::ThisMachine();
  const T* a = call.input<T>(0);
  const T* b = call.input<T>(1);
  T* y = call.output<T>(0);
  if (extents.m == 0 || extents.n == 0) return absl::OkStatus();
  float* sums;
  if constexpr (kIsFloat16<T>) {
    sums = reinterpret_cast<float*>(call.context.workspace.address());
  } else {
    sums = y;
  }
  const int64_t a_row = params.transpose_a ? 1 : extents.k;
  const int64_t a_column = params.transpose_a ? extents.m : 1;
  const int64_t b_row = params.transpose_b ? 1 : extents.n;
  const int64_t b_column = params.transpose_b ? extents.k : 1;
  const Addend<T> addend(call);
  const gemm::Problem problem{.m = extents.m,
                              .n = extents.n,
                              .k = extents.k,
                              .c = sums,
                              .c_stride = extents.n,
                              .accumulates = true};
  gemm::ForTiles(*call.context.workers, 1, extents.m, extents.n, machine,
                 [&](int64_t, int64_t m0, int64_t m1, int64_t n0, int64_t n1) {
                   for (int64_t row = m0; row < m1; ++row) {
                     float* c = problem.c + row * problem.c_stride;
                     for (int64_t column = n0; column < n1; ++column) {
                       c[column] = addend.at(row, column);
                     }
                   }
                   gemm::MultiplyTile(
                       problem, machine, m0, m1, n0, n1,
                       [&](int64_t first, int64_t count, int64_t k0,
                           int64_t depth, float* scratch) {
                         gemm::PackRows(a, a_row, a_column, params.alpha, first,
                                        count, k0, depth, machine.rows,
                                        scratch);
                         return scratch;
                       },
                       [&](int64_t first, int64_t count, int64_t k0,
                           int64_t depth, float* scratch) {
                         gemm::PackColumns(b, b_row, b_column, k0, depth, first,
                                           count, machine.columns, scratch);
                         return scratch;
                       });
                   if constexpr (kIsFloat16<T>) {
                     gemm::StoreTile(problem, m0, m1, n0, n1, y);
                   }
                 });
  return absl::OkStatus();
}

}  // namespace

template <typename T>
absl::Status RunGemmBlocked(const KernelCall& call) {
  return RunThenEpilogue(call, &GemmBlocked<T>);
}

// Integers have no use for fractional factors.
absl::Status AcceptsGemmAny(const NodeSite& site) {
  if (absl::Status status = AcceptsGemm(site); !status.ok()) return status;
  const GemmParams& params = std::get<GemmParams>(site.params);
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

namespace {

template <typename T>
absl::Status GemmAny(const KernelCall& call) {
  using U = Wrapping<T>;
  const GemmParams& params = std::get<GemmParams>(call.params);
  const Extents extents =
      Resolve(params, call.input_layout(0).shape, call.output_layout(0).shape);
  const T* a = call.input<T>(0);
  const T* b = call.input<T>(1);
  T* y = call.output<T>(0);
  const int64_t a_row = params.transpose_a ? 1 : extents.k;
  const int64_t a_column = params.transpose_a ? extents.m : 1;
  const int64_t b_row = params.transpose_b ? 1 : extents.n;
  const int64_t b_column = params.transpose_b ? extents.k : 1;
  const Addend<T> addend(call);
  const U alpha = static_cast<U>(params.alpha);
  call.context.workers->ParallelFor(
      extents.m, 1, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          for (int64_t column = 0; column < extents.n; ++column) {
            U sum = 0;
            for (int64_t t = 0; t < extents.k; ++t) {
              sum += static_cast<U>(a[row * a_row + t * a_column]) *
                     static_cast<U>(b[t * b_row + column * b_column]);
            }
            y[row * extents.n + column] =
                static_cast<T>(alpha * sum + addend.at(row, column));
          }
        }
      });
  return absl::OkStatus();
}

}  // namespace

template <typename T>
absl::Status RunGemmAny(const KernelCall& call) {
  return RunThenEpilogue(call, &GemmAny<T>);
}

template absl::Status RunGemmBlocked<float>(const KernelCall&);
template absl::Status RunGemmBlocked<Float16>(const KernelCall&);
template absl::Status RunGemmBlocked<BFloat16>(const KernelCall&);
template absl::Status RunGemmAny<float>(const KernelCall&);
template absl::Status RunGemmAny<double>(const KernelCall&);
template absl::Status RunGemmAny<Float16>(const KernelCall&);
template absl::Status RunGemmAny<BFloat16>(const KernelCall&);
template absl::Status RunGemmAny<int32_t>(const KernelCall&);
template absl::Status RunGemmAny<int64_t>(const KernelCall&);
template absl::Status RunGemmAny<uint32_t>(const KernelCall&);
template absl::Status RunGemmAny<uint64_t>(const KernelCall&);

}  // namespace tensord
