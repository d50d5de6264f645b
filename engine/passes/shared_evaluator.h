#ifndef TENSORD_ENGINE_PASSES_SHARED_EVALUATOR_H_
#define TENSORD_ENGINE_PASSES_SHARED_EVALUATOR_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "engine/infer/host_evaluator.h"

namespace tensord {

// One evaluator for many threads, which take turns: what it computes is small,
// and compilations are few.
//
// Threading: thread-safe. Ownership: owns the evaluator.
class SharedEvaluator final : public HostEvaluator {
 public:
  explicit SharedEvaluator(std::unique_ptr<HostEvaluator> evaluator)
      : evaluator_(std::move(evaluator)) {}

  absl::StatusOr<std::vector<HostTensor>> Evaluate(
      const Node& node, absl::Span<const HostTensor> inputs,
      absl::Span<const TensorType> output_types,
      EvaluationBudget& budget) override {
    absl::MutexLock lock(&mu_);
    return evaluator_->Evaluate(node, inputs, output_types, budget);
  }

 private:
  absl::Mutex mu_;
  const std::unique_ptr<HostEvaluator> evaluator_ ABSL_PT_GUARDED_BY(mu_);
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_SHARED_EVALUATOR_H_
