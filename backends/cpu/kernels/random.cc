// RandomUniform, RandomNormal, their Like forms, Bernoulli.
//
//   y[i] = low + (high - low) * u[i], mean + scale * z[i], or 1 where u[i] is
//   below x[i] and else 0
//
// for u uniform in [0, 1) and z normal: element i of the seed's sequence, or of
// one that no other launch has. y is contiguous; so is Bernoulli's x, of the
// same shape. Computes in double and rounds once, by which a number just below
// `high` may become it. A Like's input is not read.

#include <algorithm>
#include <cstdint>
#include <memory>

#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/convert.h"
#include "backends/cpu/kernels/instantiate.h"
#include "backends/cpu/kernels/random_numbers.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 4 * 1024;

// y[i] = number(sequence, i)
template <typename T, typename Number>
absl::Status Draw(const KernelCall& call, Number number) {
  const RandomSequence sequence(std::get<RandomParams>(call.params).seed);
  T* y = call.output<T>(0);
  call.context.workers->ParallelFor(
      call.output_layout(0).shape.element_count(), kGrainElements,
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          y[i] = Convert<T, double>(number(sequence, i));
        }
      });
  return absl::OkStatus();
}

// Which the run cannot ask for.
class ProbabilityDType final : public KernelState {
 public:
  explicit ProbabilityDType(DType dtype) : dtype(dtype) {}
  const DType dtype;
};

template <typename T, typename Probability>
absl::Status DrawBernoulli(const KernelCall& call) {
  const auto* x = call.input<Probability>(0);
  return Draw<T>(call, [x](const RandomSequence& sequence, int64_t i) {
    return sequence.Uniform(i) < static_cast<double>(x[i]) ? 1.0 : 0.0;
  });
}

}  // namespace

// For the rows of kernels that promise the same bytes on every run.
absl::Status AcceptsSeeded(const NodeSite& site) {
  if (std::get<RandomParams>(site.params).seed.has_value()) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError("there is no seed");
}

template <typename T>
absl::Status RunRandomUniform(const KernelCall& call) {
  const auto& params = std::get<RandomParams>(call.params);
  const double low = params.low;
  const double range = static_cast<double>(params.high) - low;
  return Draw<T>(call, [=](const RandomSequence& sequence, int64_t i) {
    return low + range * sequence.Uniform(i);
  });
}

template <typename T>
absl::Status RunRandomNormal(const KernelCall& call) {
  const auto& params = std::get<RandomParams>(call.params);
  const double mean = params.mean;
  const double scale = params.scale;
  return Draw<T>(call, [=](const RandomSequence& sequence, int64_t i) {
    return mean + scale * sequence.Normal(i);
  });
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareBernoulli(
    const NodeSite& site, Device&) {
  return std::make_unique<ProbabilityDType>(site.input_dtype(0));
}

template <typename T>
absl::Status RunBernoulli(const KernelCall& call) {
  switch (static_cast<const ProbabilityDType&>(*call.state).dtype) {
    case DType::kFloat64:
      return DrawBernoulli<T, double>(call);
    case DType::kFloat16:
      return DrawBernoulli<T, Float16>(call);
    case DType::kBFloat16:
      return DrawBernoulli<T, BFloat16>(call);
    default:
      return DrawBernoulli<T, float>(call);
  }
}

TENSORD_INSTANTIATE_FLOATS(RunRandomUniform);
TENSORD_INSTANTIATE_FLOATS(RunRandomNormal);
TENSORD_INSTANTIATE_NUMBERS(RunBernoulli);
TENSORD_INSTANTIATE(RunBernoulli, bool);

}  // namespace tensord
