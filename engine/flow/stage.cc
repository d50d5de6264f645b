#include "engine/flow/stage.h"

#include <algorithm>
#include <utility>

#include "engine/infer/infer.h"
#include "engine/ops/op_table.h"
#include "engine/passes/inline_branches.h"

namespace tensord {
namespace {

// Conditions that one stage may read to put the branches that they choose into
// it. A stage is kept for each combination that is met.
constexpr int kMaxConsultedConditions = 3;

// Tries to find a stage without the Ifs that did not fit as a whole.
constexpr int kMaxTries = 4;

bool IsFlow(const Node& node) {
  const OpDef* def = FindOpDef(node.op);
  return def != nullptr && def->is_flow;
}

class StageFinder {
 public:
  StageFinder(const StageQuery& query, absl::FunctionRef<absl::Status()> go_on)
      : graph_(query.graph),
        is_pending_(query.is_pending),
        values_(query.values),
        limits_(query.limits),
        evaluator_(query.evaluator),
        go_on_(go_on),
        stays_(query.graph.nodes.size(), !query.inlines_branches) {}

  absl::StatusOr<Stage> Find() {
    for (int tries = 1;; ++tries) {
      MakeRest();
      absl::StatusOr<Inference> inference = InferWithValues();
      if (!inference.ok()) return inference.status();
      if (!PutBackBranches(*inference)) return MakeStage(*inference);
      if (tries == kMaxTries) stays_.assign(stays_.size(), true);
    }
  }

 private:
  Stage MakeStage(const Inference& inference) {
    Stage stage;
    stage.consulted = std::move(consulted_);
    auto result = std::make_shared<Graph>();
    result->name = graph_.name;
    result->memo = graph_.memo;
    for (size_t i = 0; i < rest_.nodes.size(); ++i) {
      if (!IsClosed(rest_.nodes[i], inference)) continue;
      // The nodes of a branch stand together, and are all their If.
      if (stage.nodes.empty() || stage.nodes.back() != rest_ids_[i]) {
        stage.nodes.push_back(rest_ids_[i]);
      }
      result->nodes.push_back(rest_.nodes[i]);
    }
    if (stage.nodes.empty()) return stage;
    ConnectStage(stage.nodes, *result);
    stage.graph = std::move(result);
    return stage;
  }

  // An If is in the stage as a whole or not at all: those whose branch is not
  // closed will be left as they are. False when there are none.
  bool PutBackBranches(const Inference& inference) {
    bool has_any = false;
    for (size_t i = 0; i < rest_.nodes.size(); ++i) {
      const NodeId origin = rest_ids_[i];
      const bool is_inlined =
          graph_.nodes[origin].op == OpKind::kIf && was_inlined_[origin];
      if (!is_inlined || IsClosed(rest_.nodes[i], inference)) continue;
      stays_[origin] = true;
      has_any = true;
    }
    return has_any;
  }

  // What is left of the graph, with the values that are there as its inputs.
  void MakeRest() {
    rest_ = Graph();
    rest_ids_.clear();
    consulted_.clear();
    condition_count_ = 0;
    was_inlined_.assign(graph_.nodes.size(), false);
    rest_.values = graph_.values;
    for (size_t v = 0; v < rest_.values.size(); ++v) {
      Value& value = rest_.values[v];
      value.producer = kNoNode;
      value.is_input = false;
      if (value.constant.is_present()) continue;
      value.type = TensorType();
      if (!values_[v].is_tensor()) continue;
      value.is_input = true;
      value.type = {values_[v].tensor->dtype(),
                    ToSymbolic(values_[v].tensor->shape())};
      rest_.inputs.push_back(static_cast<ValueId>(v));
    }
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (!is_pending_[n]) continue;
      const auto id = static_cast<NodeId>(rest_.nodes.size());
      rest_.nodes.push_back(graph_.nodes[n]);
      rest_ids_.push_back(static_cast<NodeId>(n));
      for (ValueId output : graph_.nodes[n].outputs) {
        if (output != kNoValue) rest_.values[output].producer = id;
      }
    }
  }

  // Rules that ask for a value that is there get it, until none asks any more,
  // and Ifs that are decided become their branches.
  absl::StatusOr<Inference> InferWithValues() {
    int inlining_rounds = 0;
    for (;;) {
      std::vector<Shape> shapes;
      for (ValueId input : rest_.inputs) {
        shapes.push_back(values_[input].tensor->shape());
      }
      absl::StatusOr<Inference> inference =
          InferGraph(rest_, shapes, KnownExtents{}, limits_, evaluator_);
      if (!inference.ok()) return inference;
      if (!GiveValues(*inference) &&
          (++inlining_rounds > kMaxInliningRounds || !Inline(*inference))) {
        return inference;
      }
      if (absl::Status s = go_on_(); !s.ok()) return s;
    }
  }

  bool GiveValues(const Inference& inference) {
    bool has_given = false;
    for (const Inference::Open& open : inference.open) {
      if (open.needed_input == Inference::Open::kNoInput) continue;
      const ValueId value = rest_.nodes[open.node].inputs[open.needed_input];
      has_given |= Consult(value);
    }
    return has_given;
  }

  // Makes a constant of a value that is there. False when it is not, or is one
  // already.
  bool Consult(ValueId value) {
    if (!rest_.values[value].is_input) return false;
    const FlowTensor& tensor = *values_[value].tensor;
    absl::StatusOr<HostTensor> constant =
        HostTensor::Copy(tensor.dtype(), tensor.shape(), tensor.bytes());
    if (!constant.ok()) return false;
    rest_.values[value].constant = *std::move(constant);
    rest_.values[value].is_input = false;
    rest_.inputs.erase(
        std::find(rest_.inputs.begin(), rest_.inputs.end(), value));
    consulted_.push_back(value);
    return true;
  }

  bool Inline(const Inference& inference) {
    std::vector<TakenBranch> taken;
    for (size_t n = 0; n < rest_.nodes.size(); ++n) {
      const Node& node = rest_.nodes[n];
      if (node.op != OpKind::kIf || stays_[rest_ids_[n]]) continue;
      const ValueId condition = node.inputs[0];
      if (condition == kNoValue) continue;
      const HostTensor* known = &inference.constants[condition];
      if (!known->is_present()) {
        if (condition_count_ == kMaxConsultedConditions ||
            !IsBoolScalar(condition) || !Consult(condition)) {
          continue;
        }
        ++condition_count_;
        known = &rest_.values[condition].constant;
      }
      const std::optional<TakenBranch> branch =
          BranchFor(rest_, static_cast<NodeId>(n), *known);
      if (branch.has_value()) taken.push_back(*branch);
    }
    if (taken.empty()) return false;
    Inlined inlined = InlineBranches(rest_, taken);
    for (const TakenBranch& branch : taken) {
      was_inlined_[rest_ids_[branch.node]] = true;
    }
    for (NodeId& origin : inlined.origin) origin = rest_ids_[origin];
    rest_ = std::move(inlined.graph);
    rest_ids_ = std::move(inlined.origin);
    return true;
  }

  bool IsBoolScalar(ValueId value) const {
    return rest_.values[value].is_input &&
           values_[value].tensor->dtype() == DType::kBool &&
           values_[value].tensor->shape().element_count() == 1;
  }

  bool IsClosed(const Node& node, const Inference& inference) const {
    if (IsFlow(node)) return false;
    for (ValueId output : node.outputs) {
      if (output != kNoValue && !inference.types[output].shape.has_value()) {
        return false;
      }
    }
    return true;
  }

  // Inputs, outputs and values of the stage's graph.
  void ConnectStage(const std::vector<NodeId>& nodes, Graph& stage) const {
    std::vector<bool> is_in_stage(graph_.nodes.size(), false);
    for (NodeId node : nodes) is_in_stage[node] = true;

    stage.values = rest_.values;
    std::vector<bool> is_used(stage.values.size(), false);
    for (size_t n = 0; n < stage.nodes.size(); ++n) {
      for (ValueId input : stage.nodes[n].inputs) {
        if (input != kNoValue) is_used[input] = true;
      }
      for (ValueId output : stage.nodes[n].outputs) {
        if (output != kNoValue) {
          stage.values[output].producer = static_cast<NodeId>(n);
        }
      }
    }
    for (ValueId input : rest_.inputs) {
      if (is_used[input]) {
        stage.inputs.push_back(input);
      } else {
        stage.values[input].is_input = false;
      }
    }

    std::vector<bool> is_wanted(stage.values.size(), false);
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (!is_pending_[n] || is_in_stage[n]) continue;
      for (ValueId input : graph_.nodes[n].inputs) {
        if (input != kNoValue) is_wanted[input] = true;
      }
    }
    for (ValueId output : graph_.outputs) is_wanted[output] = true;
    for (const Node& node : stage.nodes) {
      for (ValueId output : node.outputs) {
        if (output != kNoValue && is_wanted[output]) {
          stage.outputs.push_back(output);
        }
      }
    }
  }

  const Graph& graph_;
  const std::vector<bool>& is_pending_;
  const absl::Span<const FlowValue> values_;
  const GraphLimits& limits_;
  HostEvaluator* const evaluator_;
  const absl::FunctionRef<absl::Status()> go_on_;
  std::vector<bool> stays_;  // by node of the flow graph: Ifs that stay Ifs
  Graph rest_;
  std::vector<NodeId> rest_ids_;   // of the flow graph, by node of rest_
  std::vector<bool> was_inlined_;  // by node of the flow graph
  std::vector<ValueId> consulted_;
  int condition_count_ = 0;
};

}  // namespace

std::vector<bool> PendingNodes(const Graph& graph,
                               const std::vector<bool>& is_done) {
  std::vector<bool> is_needed(graph.values.size(), false);
  for (ValueId output : graph.outputs) is_needed[output] = true;
  std::vector<bool> is_pending(graph.nodes.size(), false);
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    if (is_done[n]) continue;
    for (ValueId output : graph.nodes[n].outputs) {
      if (output != kNoValue && is_needed[output]) is_pending[n] = true;
    }
    if (!is_pending[n]) continue;
    for (ValueId input : graph.nodes[n].inputs) {
      if (input != kNoValue) is_needed[input] = true;
    }
  }
  return is_pending;
}

absl::StatusOr<Stage> FindStage(const StageQuery& query,
                                absl::FunctionRef<absl::Status()> go_on) {
  return StageFinder(query, go_on).Find();
}

}  // namespace tensord
