// AffineGrid: where a transformed image's elements come from.
//
//   y[n, o, i] = sum over j of theta[n, i, j] * place[j] + theta[n, i, r]
//
// for every element o of an image of r = 2 or 3 dimensions. place[j] is o's
// index in dimension r - 1 - j of `extent` elements, which lie evenly from -1
// to 1: their middles with align_corners, else their outer edges. A single
// middle lies at -1. theta [N, r, r + 1] and y [N, O..., r] are contiguous; the
// size, input 1, is y's, so it is not read. Computes in double and rounds once.

#include <algorithm>
#include <array>
#include <cstdint>

#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/instantiate.h"

namespace tensord {
namespace {

constexpr int64_t kGrainPlaces = 2 * 1024;
constexpr int kMaxSpatialRank = 3;

double PlaceOf(int64_t index, int64_t extent, bool aligns_corners) {
  const auto at = static_cast<double>(index);
  const auto length = static_cast<double>(extent);
  if (!aligns_corners) return (2 * at + 1) / length - 1;
  return extent == 1 ? -1 : 2 * at / (length - 1) - 1;
}

}  // namespace

template <typename T>
absl::Status RunAffineGrid(const KernelCall& call) {
  const bool aligns_corners =
      std::get<AffineGridParams>(call.params).align_corners;
  const Shape& shape = call.output_layout(0).shape;
  const int rank = shape.rank() - 2;
  const int64_t places = shape.ElementCount(1, rank + 1);
  const T* theta = call.input<T>(0);
  T* y = call.output<T>(0);
  call.context.workers->ParallelFor(
      shape[0] * places, kGrainPlaces, [&](int64_t begin, int64_t end) {
        std::array<double, kMaxSpatialRank> place;
        for (int64_t at = begin; at < end; ++at) {
          int64_t rest = at % places;
          for (int j = 0; j < rank; ++j) {
            const int64_t extent = shape[rank - j];
            place[j] = PlaceOf(rest % extent, extent, aligns_corners);
            rest /= extent;
          }
          const T* row = theta + at / places * rank * (rank + 1);
          for (int i = 0; i < rank; ++i, row += rank + 1) {
            double sum = static_cast<double>(row[rank]);
            for (int j = 0; j < rank; ++j) {
              sum += static_cast<double>(row[j]) * place[j];
            }
            y[at * rank + i] = static_cast<T>(sum);
          }
        }
      });
  return absl::OkStatus();
}

TENSORD_INSTANTIATE_FLOATS(RunAffineGrid);

}  // namespace tensord
