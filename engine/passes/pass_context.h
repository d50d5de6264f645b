#ifndef TENSORD_ENGINE_PASSES_PASS_CONTEXT_H_
#define TENSORD_ENGINE_PASSES_PASS_CONTEXT_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/api/kernel.h"
#include "engine/graph/constant_memo.h"
#include "engine/passes/graph_editor.h"

namespace tensord {

// The kernel that a device would run a node with, whose operands' types are in
// the inference; null where it has none.
using FindKernel =
    absl::FunctionRef<const KernelEntry*(const Node&, const Inference&)>;

// What a pass works on.
// Threading: one thread. Ownership: borrows everything for the pass's length.
struct PassContext {
  GraphEditor& graph;
  FindKernel find_kernel;

  // What passes may add to the graph's constants: nobody can make us hold many
  // copies of one weight.
  uint64_t constant_bytes_left = 0;

  const KernelEntry* Kernel(const Node& node) const {
    return find_kernel(node, graph.inference());
  }
  bool HasKernel(const Node& node) const { return Kernel(node) != nullptr; }

  // What `make` makes of `inputs`, or has made for another compilation of the
  // graph; `operation` says what that is.
  HostTensor Remember(absl::string_view operation,
                      absl::Span<const HostTensor> inputs,
                      absl::FunctionRef<HostTensor()> make) const {
    ConstantMemo* memo = graph.graph().memo.get();
    return memo == nullptr ? make() : memo->Get(operation, inputs, make);
  }

  // Pays for a constant; false where that is more than is left.
  bool Charge(uint64_t bytes) {
    if (bytes > constant_bytes_left) return false;
    constant_bytes_left -= bytes;
    return true;
  }
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_PASS_CONTEXT_H_
