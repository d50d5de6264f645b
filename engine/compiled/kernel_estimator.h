#ifndef TENSORD_ENGINE_COMPILED_KERNEL_ESTIMATOR_H_
#define TENSORD_ENGINE_COMPILED_KERNEL_ESTIMATOR_H_

#include <optional>

#include "absl/types/span.h"
#include "backends/api/backend.h"
#include "engine/compiled/kernel_binding_table.h"
#include "engine/graph/graph.h"
#include "engine/infer/infer.h"

namespace tensord {

// What a node that a pass thinks of would run with on a device, and what it
// would cost: the FindKernel of engine/passes/pass_context.h and the
// EstimateNode of engine/passes/channels_last.h.
//
// Threading: immutable. Ownership: borrows the table and the device's
// description.
class KernelEstimator {
 public:
  KernelEstimator(const KernelBindingTable& table, const DeviceInfo& device,
                  bool require_deterministic, Precision precision)
      : table_(table),
        device_(device),
        require_deterministic_(require_deterministic),
        precision_(precision) {}

  // The kernel that the node would be bound to, as far as its operands' types
  // tell, which are in the inference; null for none.
  const KernelEntry* FindKernel(const Node& node,
                                const Inference& inference) const;

  std::optional<double> operator()(
      const Node& node, absl::Span<const TensorType> types,
      absl::Span<const HostTensor* const> constants) const;

 private:
  const KernelBindingTable& table_;
  const DeviceInfo& device_;
  const bool require_deterministic_;
  const Precision precision_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_COMPILED_KERNEL_ESTIMATOR_H_
