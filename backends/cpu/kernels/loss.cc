// NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss.
//
//   loss[n, d] = -w[t] * y[n, t, d], t = targets[n, d]; 0 if t is ignore_index
//
// The scores x are [N, C, D], the dimensions behind the classes seen as one;
// targets are [N, D], the weights w are [C] and 1 where absent. y is x itself,
// or with a softmax
//
//   y[n, c, d] = x[n, c, d] - m - log(sum over c of exp(x[n, c, d] - m)),
//   m = max over c of x[n, c, d]
//
// which is output 1, if somebody wants it. Output 0 is the loss [N, D], or one
// element: its sum, or (mean) that over the sum of the weights w[t] of what is
// not ignored, NaN where that is nothing. All are contiguous; no output is an
// input's buffer. Computes in the elements' own type, 16-bit floats in float32,
// rounded once; adds samples up in float64, in an order that no number of
// threads changes. A target outside [0, C) that is not ignore_index is
// kInvalidArgument, and nothing is written then.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/efficiency.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 4 * 1024;

// Neighbouring samples side by side: their scores are neighbours in memory.
constexpr int64_t kSideBySide = 64;

// What a block of samples, which is one thread's work, comes to.
struct Sums {
  double loss = 0;
  double weight = 0;
};

// Samples of a block: the softmax walks all classes of each. However many
// classes there are, neighbouring samples stay together, or each class would be
// a cache line of its own for every sample.
int64_t BlockSamples(bool has_softmax, int64_t classes, int64_t inner) {
  if (!has_softmax) return kGrainElements;
  return std::max({int64_t{1}, std::min(kSideBySide, inner),
                   kGrainElements / std::max<int64_t>(1, classes)});
}

template <typename T, typename Index, bool kHasSoftmax>
class Loss {
 public:
  explicit Loss(const KernelCall& call)
      : params_(std::get<LossParams>(call.params)),
        workers_(*call.context.workers),
        scores_(call.input<T>(0)),
        targets_(call.input<Index>(1)),
        weights_(call.has_input(2) ? call.input<T>(2) : nullptr),
        loss_(call.outputs[0].is_present() ? call.output<T>(0) : nullptr),
        log_prob_(call.outputs.size() > 1 && call.outputs[1].is_present()
                      ? call.output<T>(1)
                      : nullptr),
        sums_(call.context.workspace.is_present()
                  ? reinterpret_cast<Sums*>(call.context.workspace.address())
                  : nullptr) {
    const Shape& shape = call.input_layout(0).shape;
    classes_ = shape[1];
    inner_ = shape.ElementCount(2, shape.rank());
    samples_ = shape[0] * inner_;
  }

  absl::Status Run() const {
    if (absl::Status status = CheckTargets(); !status.ok()) return status;
    const int64_t block = BlockSamples(kHasSoftmax, classes_, inner_);
    const int64_t blocks = (samples_ + block - 1) / block;
    workers_.ParallelFor(blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const Sums sums =
            RunSamples(b * block, std::min(samples_, (b + 1) * block));
        if (!is_of_samples()) sums_[b] = sums;
      }
    });
    if (is_of_samples() || loss_ == nullptr) return absl::OkStatus();
    Sums whole;
    for (int64_t b = 0; b < blocks; ++b) {
      whole.loss += sums_[b].loss;
      whole.weight += sums_[b].weight;
    }
    const bool is_mean = params_.reduction == LossReduction::kMean;
    *loss_ = static_cast<T>(is_mean ? whole.loss / whole.weight : whole.loss);
    return absl::OkStatus();
  }

 private:
  using C = ComputeType<T>;

  bool is_of_samples() const {
    return params_.reduction == LossReduction::kNone;
  }

  bool IsIgnored(Index target) const {
    return params_.ignore_index.has_value() && target == *params_.ignore_index;
  }

  absl::Status CheckTargets() const {
    for (int64_t s = 0; s < samples_; ++s) {
      const Index target = targets_[s];
      if ((target >= 0 && target < classes_) || IsIgnored(target)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("target ", target, " at position ", s, " of ", samples_,
                       " is outside [0, ", classes_, ")"));
    }
    return absl::OkStatus();
  }

  Sums RunSamples(int64_t begin, int64_t end) const {
    C maximum[kSideBySide];
    C log_sum[kSideBySide];
    Sums sums;
    int64_t width = 0;
    for (int64_t first = begin; first < end; first += width) {
      const int64_t d = first % inner_;
      width = std::min({kSideBySide, inner_ - d, end - first});
      const int64_t at = first / inner_ * classes_ * inner_ + d;
      if constexpr (kHasSoftmax) Normalize(at, width, maximum, log_sum);
      for (int64_t i = 0; i < width; ++i) {
        const Index target = targets_[first + i];
        C loss = 0;
        if (!IsIgnored(target)) {
          C y = scores_[at + target * inner_ + i];
          if constexpr (kHasSoftmax) y = y - maximum[i] - log_sum[i];
          const C weight = weights_ == nullptr ? C{1} : C{weights_[target]};
          loss = -weight * y;
          sums.loss += loss;
          sums.weight += weight;
        }
        if (is_of_samples() && loss_ != nullptr) {
          loss_[first + i] = static_cast<T>(loss);
        }
      }
    }
    return sums;
  }

  // What the softmax takes off the scores of `width` neighbouring samples, and
  // their log probabilities.
  void Normalize(int64_t at, int64_t width, C* maximum, C* log_sum) const {
    const T* x = scores_ + at;
    std::fill_n(maximum, width, -std::numeric_limits<C>::infinity());
    std::fill_n(log_sum, width, C{0});
    for (int64_t c = 0; c < classes_; ++c) {
      for (int64_t i = 0; i < width; ++i) {
        maximum[i] = std::max<C>(maximum[i], x[c * inner_ + i]);
      }
    }
    for (int64_t c = 0; c < classes_; ++c) {
      for (int64_t i = 0; i < width; ++i) {
        log_sum[i] += std::exp(x[c * inner_ + i] - maximum[i]);
      }
    }
    for (int64_t i = 0; i < width; ++i) log_sum[i] = std::log(log_sum[i]);
    if (log_prob_ == nullptr) return;
    for (int64_t c = 0; c < classes_; ++c) {
      for (int64_t i = 0; i < width; ++i) {
        log_prob_[at + c * inner_ + i] =
            static_cast<T>(x[c * inner_ + i] - maximum[i] - log_sum[i]);
      }
    }
  }

  const LossParams& params_;
  WorkerPool& workers_;
  const T* scores_;
  const Index* targets_;
  const T* weights_;  // null: ones
  T* loss_;           // null: not wanted
  T* log_prob_;       // null: not wanted
  Sums* sums_;        // by block; unless the loss is of samples
  int64_t samples_, classes_, inner_;
};

bool HasSoftmax(const NodeSite& site) {
  return site.op == OpKind::kSoftmaxCrossEntropyLoss;
}

}  // namespace

uint64_t LossWorkspaceBytes(const NodeSite& site) {
  if (std::get<LossParams>(site.params).reduction == LossReduction::kNone) {
    return 0;
  }
  const Shape& scores = site.input(0).shape;
  const int64_t block = BlockSamples(HasSoftmax(site), scores[1],
                                     scores.ElementCount(2, scores.rank()));
  const int64_t samples = site.input(1).shape.element_count();
  return static_cast<uint64_t>((samples + block - 1) / block) * sizeof(Sums);
}

KernelCost LossCost(const NodeSite& site) {
  const double samples = site.input(1).shape.element_count();
  const double scores = site.input(0).shape.element_count();
  const double element_bytes = ByteSize(site.input_dtype(0), 1);
  if (!HasSoftmax(site)) {
    return {.flops = 2 * samples,
            .bytes = (8 + element_bytes) * samples,
            .efficiency = kPortableEfficiency};
  }
  // exp() counts for about ten operations.
  return {.flops = 14 * scores,
          .bytes = 2 * element_bytes * scores,
          .efficiency = kPortableEfficiency};
}

template <typename T, typename Index>
absl::Status RunNegativeLogLikelihoodLoss(const KernelCall& call) {
  return Loss<T, Index, false>(call).Run();
}

template <typename T, typename Index>
absl::Status RunSoftmaxCrossEntropyLoss(const KernelCall& call) {
  return Loss<T, Index, true>(call).Run();
}

#define TENSORD_INSTANTIATE_WITH(T, Index)                      \
  template absl::Status RunNegativeLogLikelihoodLoss<T, Index>( \
      const KernelCall&);                                       \
  template absl::Status RunSoftmaxCrossEntropyLoss<T, Index>(const KernelCall&)
#define TENSORD_INSTANTIATE(T)          \
  TENSORD_INSTANTIATE_WITH(T, int32_t); \
  TENSORD_INSTANTIATE_WITH(T, int64_t)

TENSORD_INSTANTIATE(float);
TENSORD_INSTANTIATE(double);
TENSORD_INSTANTIATE(Float16);
TENSORD_INSTANTIATE(BFloat16);

}  // namespace tensord
