#ifndef TENSORD_ENGINE_PASSES_CHANNELS_LAST_H_
#define TENSORD_ENGINE_PASSES_CHANNELS_LAST_H_

#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "engine/graph/graph.h"
#include "engine/infer/infer.h"

namespace tensord {

// The nanoseconds that the device's kernel for such a node is estimated to
// take; nothing if there is none. `types` are the inputs', then the outputs',
// all known; a default one stands for an absent operand. `constants` are the
// inputs', null where the value is not known before the run.
using EstimateNode = absl::FunctionRef<std::optional<double>(
    const Node& node, absl::Span<const TensorType> types,
    absl::Span<const HostTensor* const> constants)>;

// A copy of the graph in which images have their channels in the last dimension
// ([N, D..., C]) wherever the device's convolutions and pools run better so.
//
// A convolution or a pool is turned when its kernel is estimated to take no
// longer that way; element-wise operators, Concat, Pad, Resize, reductions and
// Transposes around it go along, so that elements are moved only at the edges
// of whole regions. The graph stays as it is when the moves would cost more
// than is won.
//
// Values keep their ids and their order: a value that exists in the other order
// too has a twin behind the graph's own values, named "x:channels_last". The
// graph's inputs and outputs stay as they were.
//
// `inference` is of concrete input shapes; values with extents that are not
// known stay as they are. Threading: pure. Ownership: shares constant bytes.
Graph PropagateChannelsLast(const Graph& graph, const Inference& inference,
                            EstimateNode estimate);

// Whether there is a convolution or a pool; else the graph stays as it is.
bool HasChannelsLastAnchor(const Graph& graph);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_CHANNELS_LAST_H_
