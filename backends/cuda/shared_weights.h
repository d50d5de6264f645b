#ifndef TENSORD_BACKENDS_CUDA_SHARED_WEIGHTS_H_
#define TENSORD_BACKENDS_CUDA_SHARED_WEIGHTS_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/api/backend.h"
#include "backends/api/kernel.h"

namespace tensord::cuda {

// Weights in another order on the device, once for all states that use the same
// bytes in the same order: a graph is compiled for several shapes, and several
// graphs may have the same layers.
//
// `content` is what the node has, `order` names what `make` does to it. Kept
// while somebody holds it; kResourceExhausted where the device lacks memory.
// Threading: thread-safe.
absl::StatusOr<std::shared_ptr<const Storage>> SharedWeights(
    Device& device, absl::Span<const std::byte> content,
    absl::string_view order, absl::FunctionRef<std::vector<std::byte>()> make);

// The bytes of an input that is known before the run.
inline absl::Span<const std::byte> HostBytes(const NodeSite& site, int input) {
  return {site.host_constant(input),
          ByteSize(site.input_dtype(input),
                   site.input(input).shape.element_count())};
}

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_SHARED_WEIGHTS_H_
