#ifndef TENSORD_ENGINE_GRAPH_GRAPH_DEF_H_
#define TENSORD_ENGINE_GRAPH_GRAPH_DEF_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "backends/api/dtype.h"
#include "engine/graph/attributes.h"
#include "engine/graph/host_tensor.h"

namespace tensord {

// ONNX's own operators have no domain, or this one.
inline bool IsDefaultDomain(absl::string_view domain) {
  return domain.empty() || domain == "ai.onnx";
}

// A graph as a client wrote it: names, not yet resolved, not yet checked. Both
// decoders (the API's own message and ONNX) end here, and GraphBuilder goes on
// from here, so that every check exists once.
//
// Threading and ownership: plain values; tensors share their bytes.

// A fixed extent (any number that was sent), a symbol by name, or neither: an
// extent of its own that nothing is said about.
using DimDef = std::variant<std::monostate, int64_t, std::string>;

struct ValueDef {
  std::string name;
  DType dtype = DType::kUndefined;
  // Absent when even the rank was not said.
  std::optional<std::vector<DimDef>> dims;
  // For each dim the most that it may be, or SymbolTable::kUnbounded; empty
  // when nothing is promised. A run with more is refused.
  std::vector<int64_t> max_extents;
};

struct NodeDef {
  std::string name;  // may be empty
  std::string domain;
  std::string op_type;
  // The version of the default domain that this node means; 0: its graph's.
  int64_t opset = 0;
  std::vector<std::string> inputs;   // "" for an absent optional input
  std::vector<std::string> outputs;  // "" for one that nobody wants
  Attributes attributes;
};

struct InitializerDef {
  std::string name;
  HostTensor tensor;
};

struct GraphDef {
  std::string name;
  int64_t opset = 0;  // version of the default domain
  std::vector<ValueDef> inputs;
  std::vector<InitializerDef> initializers;
  std::vector<NodeDef> nodes;  // in any order
  // The graph's results; dtype and dims are what the client claims: checked
  // where given, never trusted.
  std::vector<ValueDef> outputs;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_GRAPH_GRAPH_DEF_H_
