#ifndef TENSORD_BACKENDS_CPU_KERNELS_EPILOGUE_H_
#define TENSORD_BACKENDS_CPU_KERNELS_EPILOGUE_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/api/kernel.h"
#include "backends/api/packed_weights.h"

// Epilogues (OpParams::epilogue) for kernels that compute them behind their own
// result, in place:
//
//   y[i] = f(y[i], x1[i], x2[i], ...)
//
// with x1, x2, ... the node's inputs behind Epilogue::own_input_count,
// broadcast to y's shape. y is output 0, contiguous; none of x1, x2, ... is its
// buffer. A kernel calls AcceptsEpilogue in `accepts`, PrepareWithEpilogue at
// the end of `prepare` and RunThenEpilogue in `run`; one that knows better ways
// for some expressions, or wants to go tile by tile, holds an EpiloguePlan
// itself. Its row needs KernelCaps::takes_epilogue.
namespace tensord {

// The epilogue of one node for its shapes, ready to be evaluated.
//
// Threading: immutable; any number of threads evaluate at once.
// Ownership: owns all that it needs.
class EpiloguePlan {
 public:
  virtual ~EpiloguePlan() = default;

  // Elements of y that are worth handing to another thread.
  virtual int64_t grain() const = 0;

  // Elements [begin, end) of y, by their place in row-major order, which hold
  // the kernel's own result. Allocates nothing.
  virtual void Apply(const KernelCall& call, int64_t begin,
                     int64_t end) const = 0;

  // Host bytes of the plan.
  virtual uint64_t footprint_bytes() const = 0;
};

// OK for a node without an epilogue, or with one that a plan can be made of.
absl::Status AcceptsEpilogue(const NodeSite& site);

// Null for a node without one.
std::unique_ptr<const EpiloguePlan> MakeEpiloguePlan(const NodeSite& site);

// Elements [begin, end) of the output on this thread, or all on all threads.
inline void ApplyEpilogue(const KernelCall& call, const EpiloguePlan& plan,
                          int64_t begin, int64_t end) {
  plan.Apply(call, begin, end);
}
void ApplyEpilogue(const KernelCall& call, const EpiloguePlan& plan);

// Arithmetic operations that the epilogue adds to a kernel's cost.
double EpilogueFlops(const NodeSite& site);

// A kernel's own state beside its epilogue's plan.
struct EpilogueState final : KernelState, UsesPackedWeights {
  void AppendPacked(Packed& to) const override {
    AppendPackedOf(own.get(), to);
  }
  uint64_t footprint_bytes() const override {
    return plan->footprint_bytes() +
           (own == nullptr ? 0 : own->footprint_bytes());
  }

  std::unique_ptr<KernelState> own;  // null where the kernel has none
  std::unique_ptr<const EpiloguePlan> plan;
};

// What a kernel's `prepare` returns: its own state, with the plan beside it
// where the node has an epilogue.
absl::StatusOr<std::unique_ptr<KernelState>> PrepareWithEpilogue(
    const NodeSite& site, std::unique_ptr<KernelState> own);

// `prepare` of a kernel without a state of its own.
absl::StatusOr<std::unique_ptr<KernelState>> PrepareEpilogue(
    const NodeSite& site, Device& device);

// run(call) with the kernel's own state, then the epilogue, if there is one.
template <typename Run>
absl::Status RunThenEpilogue(const KernelCall& call, Run run) {
  if (call.params.epilogue == nullptr) return run(call);
  const auto& state = static_cast<const EpilogueState&>(*call.state);
  const KernelCall own{call.context, call.inputs, call.outputs,
                       call.layouts, call.params, state.own.get()};
  if (absl::Status status = run(own); !status.ok()) return status;
  ApplyEpilogue(call, *state.plan);
  return absl::OkStatus();
}

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_EPILOGUE_H_
