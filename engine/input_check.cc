#include "engine/input_check.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"

namespace tensord {
namespace {

absl::Status CheckInput(const Graph& graph, const Value& declared,
                        const HostValue& input) {
  if (input.dtype != declared.type.dtype) {
    return absl::InvalidArgumentError(absl::StrCat(
        "input ", Quoted(declared.name), " is ", DTypeName(input.dtype),
        "; the graph takes ", DTypeName(declared.type.dtype)));
  }
  if (declared.type.shape.has_value() &&
      input.shape.rank() != static_cast<int>(declared.type.shape->size())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "input ", Quoted(declared.name), " has shape ", input.shape.ToString(),
        " of rank ", input.shape.rank(), "; declared is ",
        graph.symbols.ToString(*declared.type.shape), " of rank ",
        declared.type.shape->size()));
  }
  const uint64_t expected = ByteSize(input.dtype, input.shape.element_count());
  if (input.bytes.size() != expected) {
    return absl::InvalidArgumentError(
        absl::StrCat("input ", Quoted(declared.name), " has ",
                     input.bytes.size(), " bytes; ", DTypeName(input.dtype),
                     " ", input.shape.ToString(), " takes ", expected));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckInputs(const Graph& graph,
                         absl::Span<const HostValue> inputs) {
  if (inputs.size() != graph.inputs.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        inputs.size(), " inputs for a graph with ", graph.inputs.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    absl::Status status =
        CheckInput(graph, graph.value(graph.inputs[i]), inputs[i]);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace tensord
