#include "engine/onnx/expansion_cost.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "onnx/onnx.pb.h"

namespace tensord {
namespace {

using NodeList = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

// Sums stop here: far above every limit, and no two of them overflow.
constexpr int64_t kMany = int64_t{1} << 60;

struct Cost {
  int64_t nodes = 0;
  int64_t values = 0;
  int64_t operands = 0;
  int64_t nesting_depth = 0;  // graphs within graphs
  int64_t call_depth = 0;     // functions that call functions

  // With what one call adds, `nesting` graphs further in.
  void AddCall(const Cost& callee, int64_t nesting) {
    nodes = std::min(kMany, nodes + callee.nodes);
    values = std::min(kMany, values + callee.values);
    operands = std::min(kMany, operands + callee.operands);
    nesting_depth = std::max(nesting_depth, nesting + callee.nesting_depth);
    call_depth = std::max(call_depth, callee.call_depth + 1);
  }
};

struct Call {
  int function;
  int64_t nesting;  // of the graph that calls, within its function
};

// What one function, or the graph, has itself, and whom it calls.
struct Part {
  Cost own;
  std::vector<Call> calls;
};

Part Examine(const NodeList& nodes, const FunctionLibrary& functions) {
  struct Open {
    const NodeList* nodes;
    int64_t nesting;
  };
  Part part;
  std::vector<Open> open = {{&nodes, 0}};
  while (!open.empty()) {
    const Open next = open.back();
    open.pop_back();
    part.own.nesting_depth = std::max(part.own.nesting_depth, next.nesting);
    for (const onnx::NodeProto& node : *next.nodes) {
      part.own.nodes += 1;
      part.own.values += node.output_size();
      part.own.operands += node.input_size();
      if (const OnnxFunction* function = functions.Find(node)) {
        part.calls.push_back({function->index, next.nesting});
        part.own.operands += function->proto->input_size();
        part.own.values += function->proto->output_size();
      }
      for (const onnx::AttributeProto& attribute : node.attribute()) {
        if (!attribute.has_g()) continue;
        const onnx::GraphProto& graph = attribute.g();
        part.own.values +=
            graph.input_size() + graph.output_size() + graph.initializer_size();
        open.push_back({&graph.node(), next.nesting + 1});
      }
    }
  }
  return part;
}

// The costs of all functions, each after those that it calls.
class CostTable {
 public:
  explicit CostTable(const FunctionLibrary& functions)
      : functions_(functions.functions()),
        costs_(functions_.size()),
        marks_(functions_.size(), Mark::kNew) {
    for (const OnnxFunction& function : functions_) {
      parts_.push_back(Examine(function.proto->node(), functions));
    }
  }

  absl::Status Fill() {
    for (size_t root = 0; root < parts_.size(); ++root) {
      if (marks_[root] != Mark::kNew) continue;
      TENSORD_RETURN_IF_ERROR(Visit(static_cast<int>(root)));
    }
    return absl::OkStatus();
  }

  Cost Total(const Part& part) const {
    Cost cost = part.own;
    for (const Call& call : part.calls) {
      cost.AddCall(costs_[call.function], call.nesting);
    }
    return cost;
  }

 private:
  enum class Mark : uint8_t { kNew, kOpen, kDone };
  struct Open {
    int function;
    size_t next_call = 0;
  };

  absl::Status Visit(int root) {
    std::vector<Open> open = {{root}};
    marks_[root] = Mark::kOpen;
    while (!open.empty()) {
      Open& top = open.back();
      const Part& part = parts_[top.function];
      if (top.next_call == part.calls.size()) {
        costs_[top.function] = Total(part);
        marks_[top.function] = Mark::kDone;
        open.pop_back();
        continue;
      }
      const int callee = part.calls[top.next_call++].function;
      if (marks_[callee] == Mark::kOpen) {
        return absl::InvalidArgumentError(
            absl::StrCat(functions_[callee].label, ": calls itself",
                         callee == top.function
                             ? ""
                             : absl::StrCat(", by way of ",
                                            functions_[top.function].label)));
      }
      if (marks_[callee] == Mark::kNew) {
        marks_[callee] = Mark::kOpen;
        open.push_back({callee});
      }
    }
    return absl::OkStatus();
  }

  const absl::Span<const OnnxFunction> functions_;
  std::vector<Part> parts_;
  std::vector<Cost> costs_;
  std::vector<Mark> marks_;
};

absl::Status CheckLimit(int64_t count, absl::string_view unit,
                        absl::string_view limit_name, int64_t limit) {
  if (count <= limit) return absl::OkStatus();
  return LimitExceeded("graph with its functions expanded", count, unit,
                       limit_name, limit);
}

}  // namespace

absl::Status CheckExpansion(const FunctionLibrary& functions,
                            const onnx::GraphProto& graph,
                            const GraphLimits& limits) {
  if (functions.functions().empty()) return absl::OkStatus();
  CostTable table(functions);
  TENSORD_RETURN_IF_ERROR(table.Fill());
  const Cost cost = table.Total(Examine(graph.node(), functions));
  TENSORD_RETURN_IF_ERROR(
      CheckLimit(cost.call_depth, "levels of functions that call functions",
                 "max_function_depth", limits.max_function_depth));
  TENSORD_RETURN_IF_ERROR(
      CheckLimit(cost.nesting_depth, "levels of nested graphs",
                 "max_nesting_depth", limits.max_nesting_depth));
  TENSORD_RETURN_IF_ERROR(
      CheckLimit(cost.nodes, "nodes", "max_nodes", limits.max_nodes));
  TENSORD_RETURN_IF_ERROR(
      CheckLimit(cost.values, "values", "max_values", limits.max_values));
  return CheckLimit(cost.operands, "operands", "max_operands",
                    limits.max_operands);
}

}  // namespace tensord
