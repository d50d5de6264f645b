#ifndef TENSORD_ENGINE_COMPILED_LAUNCH_H_
#define TENSORD_ENGINE_COMPILED_LAUNCH_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/compiled/compiled_node.h"
#include "engine/profile/launch.h"

namespace tensord::internal {

// The launch itself, with or without accounting: what ExecuteCompiled and the
// executor share, and what a benchmark instantiates both ways.
// Threading: the thread that holds the context's lane.
template <typename Existence = op_profile::CompiledIn>
inline absl::Status Launch(const LaunchContext& context,
                           const CompiledNode& node,
                           absl::Span<const StorageView> inputs,
                           absl::Span<const StorageView> outputs,
                           absl::Span<const Layout> layouts) {
  const KernelCall call{context, inputs,      outputs,
                        layouts, node.params, node.state.get()};
  return op_profile::CountLaunch<Existence>(context.profile, node.site,
                                            [&] { return node.kernel(call); });
}

}  // namespace tensord::internal

#endif  // TENSORD_ENGINE_COMPILED_LAUNCH_H_
