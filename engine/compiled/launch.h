#ifndef TENSORD_ENGINE_COMPILED_LAUNCH_H_
#define TENSORD_ENGINE_COMPILED_LAUNCH_H_

#include <cstddef>

#include "absl/base/optimization.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/api/backend.h"
#include "backends/api/completion.h"
#include "engine/compiled/compiled_node.h"
#include "engine/profile/launch.h"

// The body of ExecuteCompiledWithWaitHint, in a header so that a benchmark can
// build it a second time, with the accounting not compiled in.
//
// Threading: the thread that holds the context's lane.
namespace tensord::internal {

// kInvalidArgument that names the operand (counted over inputs, then outputs).
absl::Status RefuseLayout(const CompiledNode& node, size_t operand);

// A layout that the kernel would read wrongly. The compiler plans copies for
// those, so what fails here is a caller that builds its own calls.
inline absl::Status CheckLayouts(const CompiledNode& node,
                                 absl::Span<const Layout> layouts) {
  const size_t first_checked = node.caps.strided_input ? node.input_count : 0;
  for (size_t i = first_checked; i < layouts.size(); ++i) {
    if (ABSL_PREDICT_FALSE(!layouts[i].IsContiguous())) {
      return RefuseLayout(node, i);
    }
  }
  return absl::OkStatus();
}

template <typename Existence>
absl::StatusOr<CompletionHandle> ExecuteCompiledAs(
    const LaunchContext& context, const CompiledNode& node,
    absl::Span<const StorageView> inputs, absl::Span<const StorageView> outputs,
    absl::Span<const Layout> layouts, bool will_be_waited) {
  if (absl::Status status = CheckLayouts(node, layouts); !status.ok()) {
    return status;
  }
  const KernelCall call{context, inputs,      outputs,
                        layouts, node.params, node.state.get()};
  if (absl::Status status = op_profile::CountLaunch<Existence>(
          context.profile, node.site, [&] { return node.kernel(call); });
      !status.ok()) {
    return status;
  }
  if (context.lane->is_synchronous()) return CompletionHandle::Ready();
  if (!will_be_waited) return CompletionHandle::Submitted();
  return context.lane->RecordCompletion();
}

}  // namespace tensord::internal

#endif  // TENSORD_ENGINE_COMPILED_LAUNCH_H_
