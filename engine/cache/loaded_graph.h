#ifndef TENSORD_ENGINE_CACHE_LOADED_GRAPH_H_
#define TENSORD_ENGINE_CACHE_LOADED_GRAPH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "backends/api/shape.h"
#include "engine/cache/backend_set.h"
#include "engine/compiled/graph_compiler.h"
#include "engine/graph/graph.h"
#include "engine/infer/infer.h"

namespace tensord {

// 64 lower-case hexadecimal digits: what the API documents as a graph's id. The
// server computes it over the received bytes and the options that can change
// results; the engine only compares it.
using GraphId = std::string;

// A graph that a client submitted, checked and kept.
// Threading: immutable. Ownership: shared by its holders, the cache and every
// execution under way, so that deleting it harms no run.
class LoadedGraph {
 public:
  LoadedGraph(GraphId id, std::shared_ptr<const Graph> graph,
              Inference inference, BackendSet capable, CompileOptions options,
              uint64_t source_bytes, absl::Time created);

  const GraphId& id() const { return id_; }
  const std::shared_ptr<const Graph>& graph() const { return graph_; }
  // With symbols, as submitted.
  const Inference& inference() const { return inference_; }
  // Backends that have a kernel for every node, as far as dtypes tell.
  BackendSet capable() const { return capable_; }
  const CompileOptions& options() const { return options_; }
  uint64_t source_bytes() const { return source_bytes_; }
  absl::Time created() const { return created_; }

  // The inputs' shapes when all their extents are fixed, so that the graph can
  // be compiled before its first run.
  const std::optional<std::vector<Shape>>& fixed_input_shapes() const {
    return fixed_input_shapes_;
  }

  // Host bytes: constants, and an estimate of the rest.
  uint64_t footprint_bytes() const { return footprint_bytes_; }

 private:
  const GraphId id_;
  const std::shared_ptr<const Graph> graph_;
  const Inference inference_;
  const BackendSet capable_;
  const CompileOptions options_;
  const uint64_t source_bytes_;
  const absl::Time created_;
  const std::optional<std::vector<Shape>> fixed_input_shapes_;
  const uint64_t footprint_bytes_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_CACHE_LOADED_GRAPH_H_
