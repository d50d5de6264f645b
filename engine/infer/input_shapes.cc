#include "engine/infer/input_shapes.h"

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/check_definition.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"

namespace tensord {
namespace {

// An extent that a symbol has got, and from which input.
struct Binding {
  int64_t extent;
  const Value* input;
};

class InputShapeChecker {
 public:
  InputShapeChecker(const Graph& graph, const GraphLimits& limits)
      : graph_(graph), limits_(limits) {}

  absl::Status Check(const Value& input, const Shape& shape) {
    const std::string what = absl::StrCat("input ", Quoted(input.name));
    TENSORD_RETURN_IF_ERROR(CheckTensorSize(what, ToSymbolic(shape), limits_));
    if (!input.type.shape.has_value()) return absl::OkStatus();
    const SymbolicShape& declared = *input.type.shape;
    if (static_cast<int>(declared.size()) != shape.rank()) {
      return absl::InvalidArgumentError(absl::StrCat(
          what, " has shape ", shape.ToString(), " of rank ", shape.rank(),
          "; declared is ", graph_.symbols.ToString(declared), " of rank ",
          declared.size()));
    }
    for (int i = 0; i < shape.rank(); ++i) {
      TENSORD_RETURN_IF_ERROR(CheckDim(input, what, i, declared[i], shape[i]));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status CheckDim(const Value& input, const std::string& what, int index,
                        Dim declared, int64_t extent) {
    const std::string place =
        absl::StrCat("dimension ", index, " of ", what, " is ", extent);
    if (declared.is_known()) {
      if (declared.extent() == extent) return absl::OkStatus();
      return absl::InvalidArgumentError(
          absl::StrCat(place, "; declared is ", declared.extent()));
    }
    const int64_t bound = graph_.symbols.upper_bound(declared.symbol());
    if (bound != SymbolTable::kUnbounded && extent > bound) {
      return absl::InvalidArgumentError(
          absl::StrCat(place, ", above the declared ", bound));
    }
    const auto [it, is_new] =
        bindings_.try_emplace(declared.symbol(), Binding{extent, &input});
    if (is_new || it->second.extent == extent) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        place, ", but '", graph_.symbols.ToString(declared), "' is ",
        it->second.extent, " in input ", Quoted(it->second.input->name)));
  }

  const Graph& graph_;
  const GraphLimits& limits_;
  absl::flat_hash_map<SymbolId, Binding> bindings_;
};

}  // namespace

absl::Status CheckInputShapes(const Graph& graph,
                              absl::Span<const Shape> shapes,
                              const GraphLimits& limits) {
  if (shapes.size() != graph.inputs.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(shapes.size(), " input shapes for a graph with ",
                     graph.inputs.size(), " inputs"));
  }
  InputShapeChecker checker(graph, limits);
  for (size_t i = 0; i < shapes.size(); ++i) {
    TENSORD_RETURN_IF_ERROR(
        checker.Check(graph.value(graph.inputs[i]), shapes[i]));
  }
  return absl::OkStatus();
}

}  // namespace tensord
