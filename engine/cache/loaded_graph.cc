#include "engine/cache/loaded_graph.h"

#include <utility>

namespace tensord {
namespace {

std::optional<std::vector<Shape>> FixedInputShapes(const Graph& graph) {
  std::vector<Shape> shapes;
  for (ValueId id : graph.inputs) {
    const TensorType& type = graph.value(id).type;
    if (!type.shape.has_value() || !IsKnown(*type.shape)) return std::nullopt;
    absl::StatusOr<Shape> shape = ToConcrete(*type.shape);
    if (!shape.ok()) return std::nullopt;
    shapes.push_back(*std::move(shape));
  }
  return shapes;
}

// A node and a value with their strings, ids and types, measured roughly.
constexpr uint64_t kNodeBytes = 600;
constexpr uint64_t kValueBytes = 400;

uint64_t Footprint(const Graph& graph) {
  return graph.constant_bytes() + graph.nodes.size() * kNodeBytes +
         graph.values.size() * kValueBytes;
}

}  // namespace

LoadedGraph::LoadedGraph(GraphId id, std::shared_ptr<const Graph> graph,
                         Inference inference, BackendSet capable,
                         CompileOptions options, uint64_t source_bytes,
                         absl::Time created)
    : id_(std::move(id)),
      graph_(std::move(graph)),
      inference_(std::move(inference)),
      capable_(capable),
      options_(std::move(options)),
      source_bytes_(source_bytes),
      created_(created),
      fixed_input_shapes_(FixedInputShapes(*graph_)),
      footprint_bytes_(Footprint(*graph_)) {}

}  // namespace tensord
