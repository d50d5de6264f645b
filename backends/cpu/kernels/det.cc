// Det: determinants of square matrices.
//
//   y[b] = product of the pivots of x[b], with the sign of the row exchanges
//
// by Gaussian elimination with the largest element of a column as its pivot. x
// is contiguous [..., m, m] and y another buffer, [...]. Every dtype is
// eliminated in double, in a workspace of x's shape: what remains after
// cancellation is all that a determinant has. A matrix of 0 by 0 has 1.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/efficiency.h"
#include "backends/cpu/kernels/instantiate.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 16 * 1024;

// The row from `column` on with the largest element in that column. A NaN is
// taken as soon as it is met: the determinant is one then.
int64_t PivotRow(const double* a, int64_t m, int64_t column) {
  int64_t best = column;
  for (int64_t row = column; row < m; ++row) {
    const double candidate = std::abs(a[row * m + column]);
    if (std::isnan(candidate)) return row;
    if (candidate > std::abs(a[best * m + column])) best = row;
  }
  return best;
}

// Destroys a [m, m].
double Determinant(double* a, int64_t m, WorkerPool& workers) {
  double product = 1;
  for (int64_t column = 0; column < m; ++column) {
    const int64_t row = PivotRow(a, m, column);
    if (row != column) {
      std::swap_ranges(a + row * m, a + (row + 1) * m, a + column * m);
      product = -product;
    }
    const double* pivot = a + column * m;
    if (pivot[column] == 0) return 0;
    product *= pivot[column];
    const int64_t below = m - column - 1;
    workers.ParallelFor(below, kGrainElements / std::max<int64_t>(below, 1) + 1,
                        [=](int64_t begin, int64_t end) {
                          for (int64_t i = column + 1 + begin;
                               i < column + 1 + end; ++i) {
                            double* other = a + i * m;
                            const double factor = other[column] / pivot[column];
                                            for (int64_t j = column + 1; j < m; ++j) {
                              other[j] -= factor * pivot[j];
                            }
                          }
                        });
  }
  return product;
}

int64_t RowCount(const Shape& x) { return x[x.rank() - 1]; }

}  // namespace

uint64_t DetWorkspaceBytes(const NodeSite& site) {
  return static_cast<uint64_t>(site.input(0).shape.element_count()) *
         sizeof(double);
}

KernelCost DetCost(const NodeSite& site) {
  const Shape& x = site.input(0).shape;
  const auto elements = static_cast<double>(x.element_count());
  return {
      .flops = elements * static_cast<double>(RowCount(x)) * 2 / 3,
      .bytes = elements * static_cast<double>(ByteSize(site.input_dtype(0), 1) +
                                              sizeof(double)),
      .efficiency = kPortableEfficiency};
}

template <typename T>
absl::Status RunDet(const KernelCall& call) {
  const Shape& shape = call.input_layout(0).shape;
  const int64_t m = RowCount(shape);
  const T* x = call.input<T>(0);
  T* y = call.output<T>(0);
  if (shape.element_count() == 0) {  // then there is no workspace either
    std::fill_n(y, call.output_layout(0).shape.element_count(), T(1.0f));
    return absl::OkStatus();
  }
  auto* a = reinterpret_cast<double*>(call.context.workspace.address());
  WorkerPool& workers = *call.context.workers;
  workers.ParallelFor(
      call.output_layout(0).shape.element_count(), kGrainElements / (m * m) + 1,
      [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) {
          double* matrix = a + b * m * m;
          std::copy_n(x + b * m * m, m * m, matrix);
          y[b] = static_cast<T>(Determinant(matrix, m, workers));
        }
      });
  return absl::OkStatus();
}

TENSORD_INSTANTIATE_FLOATS(RunDet);

}  // namespace tensord
