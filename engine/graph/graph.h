#ifndef TENSORD_ENGINE_GRAPH_GRAPH_H_
#define TENSORD_ENGINE_GRAPH_GRAPH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "backends/api/dtype.h"
#include "backends/api/op_kind.h"
#include "backends/api/op_params.h"
#include "engine/graph/dim.h"
#include "engine/graph/host_tensor.h"

namespace tensord {

// Indices into Graph::values() and Graph::nodes().
using ValueId = int32_t;
using NodeId = int32_t;
inline constexpr ValueId kNoValue = -1;
inline constexpr NodeId kNoNode = -1;

// What inference knows of a value.
struct TensorType {
  DType dtype = DType::kUndefined;
  // Nothing when the rank is not known either.
  std::optional<SymbolicShape> shape;
};

// An edge of the graph: made by one node, or an input, or a constant.
struct Value {
  std::string name;
  NodeId producer = kNoNode;
  // Of an input: what the client declared. Of a constant: what it is. Of a
  // node's output that the graph returns: what the client claims, which
  // inference checks. Of others: undefined.
  TensorType type;
  HostTensor constant;  // present for an initializer
  bool is_input = false;
};

struct Graph;
class ConstantMemo;

// A graph in an attribute of a node: a branch of If, the body of Loop or Scan.
// Its inputs are the ones that it declares, and then what it captures from the
// graphs around it; constants that it captures are constants of its own.
struct Body {
  std::shared_ptr<const Graph> graph;
  int captured_count = 0;  // of graph->inputs, the last ones
};

struct Node {
  // As sent, or "Conv_12" by kind and the node's position among those sent.
  std::string name;
  OpKind op;
  OpParams params;
  std::vector<ValueId> inputs;  // kNoValue for an absent optional input
  // Kernels may write to each: one that the client left out before one that it
  // named is a value that nobody reads.
  std::vector<ValueId> outputs;

  // Of a node that a pass made of others: their names, producers first.
  std::vector<std::string> fused_from;

  // Bodies in the order of OpDef::body_attributes. What they capture stands in
  // `inputs` behind the operator's own `own_input_count`, body after body.
  std::vector<Body> bodies;
  int own_input_count = 0;
};

// A client's graph with every name resolved, every attribute read and its nodes
// in an order in which producers come first. Immutable once built: passes make
// changed copies.
//
// Invariants: every id is in range; each value has at most one producer; no
//   cycles; input, output and value names are unique.
// Threading: immutable; shared by all compilations.
// Ownership: owns its nodes and values; shares constant bytes.
struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<Value> values;
  std::vector<ValueId> inputs;   // without initializers
  std::vector<ValueId> outputs;  // an input or a constant may be an output
  SymbolTable symbols;           // of the declared dims
  // What passes made of its constants before; null: nothing is kept. Shared by
  // all copies.
  std::shared_ptr<ConstantMemo> memo;

  const Value& value(ValueId id) const { return values[id]; }
  // Bytes of all constants, each counted once.
  uint64_t constant_bytes() const;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_GRAPH_GRAPH_H_
