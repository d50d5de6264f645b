#ifndef TENSORD_ENGINE_INFER_HOST_EVALUATOR_H_
#define TENSORD_ENGINE_INFER_HOST_EVALUATOR_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/graph/graph.h"
#include "engine/graph/host_tensor.h"

namespace tensord {

// What the evaluations of one pass over a graph may cost together: a client
// must not get more out of us before its graph is even accepted, in one node or
// in many.
struct EvaluationBudget {
  // Arithmetic operations or, where a kernel has none, elements moved. About a
  // second of portable kernels.
  double work = 1e9;
};

// Computes a node before any run, from inputs that are known. Inference uses it
// for the small integers that shapes are made of, folding for everything else.
//
// Threading: one thread at a time. Ownership: see the derived class.
class HostEvaluator {
 public:
  virtual ~HostEvaluator() = default;

  // The node's outputs, paid for from `budget`. `inputs` are parallel to
  // node.inputs, absent for an absent optional one; `output_types` are parallel
  // to node.outputs, with known shapes. Any error means only that the value is
  // not known before the run: kUnimplemented without a kernel, kInvalidArgument
  // for data that the kernel refuses, kResourceExhausted for more work than the
  // budget has left.
  virtual absl::StatusOr<std::vector<HostTensor>> Evaluate(
      const Node& node, absl::Span<const HostTensor> inputs,
      absl::Span<const TensorType> output_types, EvaluationBudget& budget) = 0;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_INFER_HOST_EVALUATOR_H_
