// Multinomial: classes drawn by their weights.
//
//   y[b, s] = the first class c with sum over k <= c of exp(x[b, k]) above
//             u[b, s] * the sum over all k
//
// for u uniform in [0, 1): element (b, s) of the seed's sequence, or of one
// that no other launch has. x [batch, classes] and y [batch, samples] are
// contiguous; the sums are in the workspace, of x's shape. Computes in double,
// after taking off each row's largest x. A row without a finite weight above 0
// is kInvalidArgument.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/random_numbers.h"

namespace tensord {
namespace {

constexpr int64_t kGrainSamples = 1024;

// Fills sums[c] with the weights up to class c; false where they are of no use.
template <typename T>
bool AddUp(const T* x, int64_t classes, double* sums) {
  double most = -std::numeric_limits<double>::infinity();
  for (int64_t c = 0; c < classes; ++c) {
    most = std::max(most, static_cast<double>(x[c]));
  }
  double sum = 0;
  for (int64_t c = 0; c < classes; ++c) {
    sum += std::exp(static_cast<double>(x[c]) - most);
    sums[c] = sum;
  }
  return std::isfinite(sum) && sum > 0;
}

}  // namespace

uint64_t MultinomialWorkspaceBytes(const NodeSite& site) {
  return static_cast<uint64_t>(site.input(0).shape.element_count()) *
         sizeof(double);
}

template <typename T, typename Index>
absl::Status RunMultinomial(const KernelCall& call) {
  const Shape& y_shape = call.output_layout(0).shape;
  if (y_shape.element_count() == 0) return absl::OkStatus();
  const int64_t classes = call.input_layout(0).shape[1];
  const int64_t samples = y_shape[1];
  const T* x = call.input<T>(0);
  Index* y = call.output<Index>(0);
  auto* sums = reinterpret_cast<double*>(call.context.workspace.address());
  for (int64_t b = 0; b < y_shape[0]; ++b) {
    if (!AddUp(x + b * classes, classes, sums + b * classes)) {
      return absl::InvalidArgumentError(
          absl::StrCat("row ", b, " has no weights to draw by"));
    }
  }
  const RandomSequence sequence(std::get<RandomParams>(call.params).seed);
  call.context.workers->ParallelFor(
      y_shape.element_count(), kGrainSamples, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const double* row = sums + i / samples * classes;
          const double mark = sequence.Uniform(i) * row[classes - 1];
          const double* above = std::upper_bound(row, row + classes, mark);
          // Rounding may take the mark to the very end.
          y[i] = static_cast<Index>(std::min(above - row, classes - 1));
        }
      });
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE(T)                                         \
  template absl::Status RunMultinomial<T, int32_t>(const KernelCall&); \
  template absl::Status RunMultinomial<T, int64_t>(const KernelCall&);

TENSORD_INSTANTIATE(float)
TENSORD_INSTANTIATE(double)
TENSORD_INSTANTIATE(Float16)
TENSORD_INSTANTIATE(BFloat16)

}  // namespace tensord
