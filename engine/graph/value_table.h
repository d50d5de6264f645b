#ifndef TENSORD_ENGINE_GRAPH_VALUE_TABLE_H_
#define TENSORD_ENGINE_GRAPH_VALUE_TABLE_H_

#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/graph/graph.h"
#include "engine/graph/graph_def.h"
#include "engine/graph/limits.h"

namespace tensord {

// The values of a graph that is being built, by name: the one way in for them,
// so that no name stands for two values and no declared type escapes the
// limits.
//
// Threading: one thread. Ownership: borrows the graph, whose values and symbols
//   it adds to, and the limits.
// Errors: kInvalidArgument for a name that is there already and for extents out
//   of range; kResourceExhausted for a limit; kUnimplemented for a dtype that
//   has no fixed size. `what` is the noun in each: "input 'x'".
class ValueTable {
 public:
  ValueTable(Graph& graph, const GraphLimits& limits)
      : graph_(graph), limits_(limits) {}

  absl::StatusOr<ValueId> Define(absl::string_view name, absl::string_view what,
                                 Value value);
  absl::StatusOr<ValueId> DefineConstant(absl::string_view name,
                                         absl::string_view what,
                                         HostTensor tensor);

  std::optional<ValueId> Find(absl::string_view name) const;

  // For a value that the client did not name: `stem`, or where a value of that
  // name is there, `stem` and a number. No number is tried twice, so that
  // clients cannot make this slow with names like it.
  std::string UnusedName(absl::string_view stem);

  // A declared type, its symbols added to the graph's.
  absl::StatusOr<TensorType> ReadType(absl::string_view what,
                                      const ValueDef& def);

 private:
  Dim ReadDim(const DimDef& def);
  absl::StatusOr<SymbolicShape> ReadDims(absl::string_view what,
                                         const ValueDef& def);

  Graph& graph_;
  const GraphLimits& limits_;
  absl::flat_hash_map<std::string, ValueId> by_name_;
  int64_t last_suffix_ = 0;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_GRAPH_VALUE_TABLE_H_
