#ifndef TENSORD_ENGINE_CACHE_LOADED_GRAPH_H_
#define TENSORD_ENGINE_CACHE_LOADED_GRAPH_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/time/time.h"
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
              Inference inference, CompileOptions options,
              uint64_t source_bytes, absl::Time created)
      : id_(std::move(id)),
        graph_(std::move(graph)),
        inference_(std::move(inference)),
        options_(std::move(options)),
        source_bytes_(source_bytes),
        created_(created) {}

  const GraphId& id() const { return id_; }
  const std::shared_ptr<const Graph>& graph() const { return graph_; }
  // With symbols, as submitted.
  const Inference& inference() const { return inference_; }
  const CompileOptions& options() const { return options_; }
  uint64_t source_bytes() const { return source_bytes_; }
  absl::Time created() const { return created_; }

  // All inputs have fixed extents, so it can be compiled before the first run.
  bool has_fixed_inputs() const;

 private:
  const GraphId id_;
  const std::shared_ptr<const Graph> graph_;
  const Inference inference_;
  const CompileOptions options_;
  const uint64_t source_bytes_;
  const absl::Time created_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_CACHE_LOADED_GRAPH_H_
