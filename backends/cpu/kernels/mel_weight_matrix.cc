// MelWeightMatrix: triangles over the bins of a spectrum, evenly spaced in mel.
//
//   mel(f) = 2595 * log10(1 + f / 700)
//   edge[i] = floor((dft_length + 1) / sample_rate *
//                   mel^-1(mel(lower) + i * (mel(upper) - mel(lower)) / (m +
//                   2)))
//
// for the m + 2 edges of the m triangles. y [dft_length / 2 + 1, m] has in
// column i, from edge[i] up to edge[i + 1], weights that rise from 0 to 1, and
// from there to edge[i + 2], which is left out, weights that fall to 0; where
// the rise is empty, 1 at edge[i + 1].
//
// Inputs are one element each: m and dft_length, which are not read (y's shape
// has them, but for the last bit of dft_length), dft_length, sample_rate, lower
// and upper edge in hertz. Computes in double. Integers take the integer part.
// A sample rate below 1 and edges that are not 0 <= lower <= upper are
// kInvalidArgument.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>

#include "absl/strings/str_cat.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/convert.h"
#include "backends/cpu/kernels/instantiate.h"

namespace tensord {
namespace {

constexpr int kDftLength = 1;
constexpr int kSampleRate = 2;
constexpr int kLowerEdge = 3;
constexpr int kUpperEdge = 4;
constexpr int64_t kGrainColumns = 4;

// Which the run cannot ask for.
class InputDTypes final : public KernelState {
 public:
  std::array<DType, 5> dtypes;
};

double ScalarOf(const KernelCall& call, int i) {
  switch (static_cast<const InputDTypes&>(*call.state).dtypes[i]) {
    case DType::kInt32:
      return *call.input<int32_t>(i);
    case DType::kInt64:
      return static_cast<double>(*call.input<int64_t>(i));
    case DType::kFloat64:
      return *call.input<double>(i);
    case DType::kFloat16:
      return *call.input<Float16>(i);
    case DType::kBFloat16:
      return *call.input<BFloat16>(i);
    default:
      return *call.input<float>(i);
  }
}

double MelOf(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double HertzOf(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

// The edges in bins, which are whole but may be past any integer.
struct Edges {
  double lower_mel, step, bins_per_hertz;

  double operator()(int64_t i) const {
    return std::floor(HertzOf(lower_mel + static_cast<double>(i) * step) *
                      bins_per_hertz);
  }
};

// Writes the rows from `begin` to `end`, the latter left out, of a column.
template <typename T, typename Weight>
void FillRows(double begin, double end, int64_t rows, int64_t columns,
              T* column, Weight weight) {
  const auto limit = static_cast<double>(rows);
  const auto first = static_cast<int64_t>(std::clamp(begin, 0.0, limit));
  const auto last = static_cast<int64_t>(std::clamp(end, 0.0, limit));
  for (int64_t row = first; row < last; ++row) {
    column[row * columns] =
        Convert<T, double>(weight(static_cast<double>(row)));
  }
}

template <typename T>
void FillColumn(const Edges& edges, int64_t i, int64_t rows, int64_t columns,
                T* column) {
  const double left = edges(i);
  const double middle = edges(i + 1);
  const double right = edges(i + 2);
  for (int64_t row = 0; row < rows; ++row) {
    column[row * columns] = T(0);
  }
  FillRows(left, middle + 1, rows, columns, column, [=](double row) {
    return middle == left ? 1 : (row - left) / (middle - left);
  });
  FillRows(middle, right, rows, columns, column,
           [=](double row) { return (right - row) / (right - middle); });
}

absl::Status CheckScalars(double sample_rate, double lower, double upper) {
  if (sample_rate < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("sample rate ", sample_rate, " is below 1"));
  }
  if (!(lower >= 0 && lower <= upper && std::isfinite(upper))) {
    return absl::InvalidArgumentError(
        absl::StrCat("edges at ", lower, " and ", upper,
                     " hertz are not a range of frequencies"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<KernelState>> PrepareMelWeightMatrix(
    const NodeSite& site, Device&) {
  auto state = std::make_unique<InputDTypes>();
  for (int i = 0; i < 5; ++i) state->dtypes[i] = site.input_dtype(i);
  return state;
}

template <typename T>
absl::Status RunMelWeightMatrix(const KernelCall& call) {
  const double sample_rate = ScalarOf(call, kSampleRate);
  const double lower = ScalarOf(call, kLowerEdge);
  const double upper = ScalarOf(call, kUpperEdge);
  if (absl::Status status = CheckScalars(sample_rate, lower, upper);
      !status.ok()) {
    return status;
  }
  const Shape& shape = call.output_layout(0).shape;
  const int64_t rows = shape[0];
  const int64_t columns = shape[1];
  const Edges edges = {
      MelOf(lower),
      (MelOf(upper) - MelOf(lower)) / (static_cast<double>(columns) + 2),
      (ScalarOf(call, kDftLength) + 1) / sample_rate};
  T* y = call.output<T>(0);
  call.context.workers->ParallelFor(
      columns, kGrainColumns, [=](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          FillColumn(edges, i, rows, columns, y + i);
        }
      });
  return absl::OkStatus();
}

TENSORD_INSTANTIATE_NUMBERS(RunMelWeightMatrix);

}  // namespace tensord
