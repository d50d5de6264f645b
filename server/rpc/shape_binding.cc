#include "server/rpc/shape_binding.h"

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "server/errors/error_details.h"

namespace tensord {
namespace {

// Extents by symbol, as they become known, and what is wrong with them.
class Extents {
 public:
  void Declare(const std::string& symbol) { declared_.insert(symbol); }
  bool IsDeclared(const std::string& symbol) const {
    return declared_.contains(symbol);
  }
  absl::Status Set(const std::string& symbol, int64_t extent) {
    const auto [entry, is_new] = extents_.try_emplace(symbol, extent);
    if (!is_new && entry->second != extent) {
      return BadField("shapes",
                      absl::StrCat("symbol ", Quoted(symbol), " is both ",
                                   entry->second, " and ", extent));
    }
    return absl::OkStatus();
  }
  const int64_t* Find(const std::string& symbol) const {
    const auto found = extents_.find(symbol);
    return found == extents_.end() ? nullptr : &found->second;
  }

 private:
  absl::flat_hash_set<std::string> declared_;
  absl::flat_hash_map<std::string, int64_t> extents_;
};

// What an input is declared as: the name and what is known of its shape.
struct Input {
  const Value* value;
  const v1::InputShape* given = nullptr;
};

absl::StatusOr<std::vector<Input>> MatchInputs(
    const Graph& graph, const v1::ShapeBinding& binding) {
  std::vector<Input> inputs;
  absl::flat_hash_map<std::string, size_t> by_name;
  for (ValueId id : graph.inputs) {
    by_name[graph.value(id).name] = inputs.size();
    inputs.push_back({&graph.value(id)});
  }
  for (const v1::InputShape& shape : binding.inputs()) {
    const auto found = by_name.find(shape.name());
    if (found == by_name.end()) {
      return BadField("shapes.inputs", absl::StrCat("the graph has no input ",
                                                    Quoted(shape.name())));
    }
    Input& input = inputs[found->second];
    if (input.given != nullptr) {
      return BadField(
          "shapes.inputs",
          absl::StrCat("input ", Quoted(shape.name()), " is given twice"));
    }
    input.given = &shape;
  }
  return inputs;
}

void DeclareSymbols(const Graph& graph, const Input& input, Extents& extents) {
  if (!input.value->type.shape.has_value()) return;
  for (const Dim dim : *input.value->type.shape) {
    if (!dim.is_known()) extents.Declare(graph.symbols.ToString(dim));
  }
}

absl::Status NoteSymbols(const Graph& graph, const Input& input,
                         Extents& extents) {
  const auto& declared = input.value->type.shape;
  if (input.given == nullptr || !declared.has_value()) return absl::OkStatus();
  if (input.given->dims_size() != static_cast<int>(declared->size())) {
    return BadField("shapes.inputs",
                    absl::StrCat("input ", Quoted(input.value->name), " has ",
                                 declared->size(), " dims, and ",
                                 input.given->dims_size(), " are given"));
  }
  for (size_t i = 0; i < declared->size(); ++i) {
    const Dim dim = (*declared)[i];
    if (dim.is_known()) continue;
    TENSORD_RETURN_IF_ERROR(extents.Set(
        graph.symbols.ToString(dim), input.given->dims(static_cast<int>(i))));
  }
  return absl::OkStatus();
}

absl::StatusOr<Shape> ShapeOf(const Graph& graph, const Input& input,
                              const Extents& extents) {
  Dims dims;
  if (input.given != nullptr) {
    // Whether known extents agree is the engine's to check.
    dims.assign(input.given->dims().begin(), input.given->dims().end());
  } else if (!input.value->type.shape.has_value()) {
    return BadField("shapes", absl::StrCat("input ", Quoted(input.value->name),
                                           " needs its whole shape"));
  } else {
    for (const Dim dim : *input.value->type.shape) {
      if (dim.is_known()) {
        dims.push_back(dim.extent());
        continue;
      }
      const std::string symbol = graph.symbols.ToString(dim);
      const int64_t* extent = extents.Find(symbol);
      if (extent == nullptr) {
        return BadField("shapes",
                        absl::StrCat("symbol ", Quoted(symbol), " of input ",
                                     Quoted(input.value->name),
                                     " has no extent; give one"));
      }
      dims.push_back(*extent);
    }
  }
  absl::StatusOr<Shape> shape = Shape::Create(dims);
  if (!shape.ok()) {
    return BadField("shapes", absl::StrCat("input ", Quoted(input.value->name),
                                           ": ", shape.status().message()));
  }
  return shape;
}

}  // namespace

absl::StatusOr<std::vector<Shape>> ResolveShapes(
    const LoadedGraph& loaded, const v1::ShapeBinding& binding) {
  const Graph& graph = *loaded.graph();
  TENSORD_ASSIGN_OR_RETURN(const std::vector<Input> inputs,
                           MatchInputs(graph, binding));
  Extents extents;
  for (const Input& input : inputs) DeclareSymbols(graph, input, extents);
  for (const auto& [symbol, extent] : binding.symbols()) {
    if (!extents.IsDeclared(Escape(symbol))) {
      return BadField("shapes.symbols",
                      absl::StrCat("no input of the graph has the symbol ",
                                   Quoted(symbol)));
    }
    TENSORD_RETURN_IF_ERROR(extents.Set(Escape(symbol), extent));
  }
  for (const Input& input : inputs) {
    TENSORD_RETURN_IF_ERROR(NoteSymbols(graph, input, extents));
  }
  std::vector<Shape> shapes;
  for (const Input& input : inputs) {
    TENSORD_ASSIGN_OR_RETURN(Shape shape, ShapeOf(graph, input, extents));
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

}  // namespace tensord
