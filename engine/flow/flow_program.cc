#include "engine/flow/flow_program.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/flow/flow_ops.h"
#include "engine/ops/op_table.h"
#include "engine/passes/pass_names.h"

namespace tensord {
namespace {

bool IsFlow(const Node& node) {
  const OpDef* def = FindOpDef(node.op);
  return def != nullptr && def->is_flow;
}

bool SameType(const TensorType& type, const FlowTensor& tensor) {
  if (type.dtype != tensor.dtype()) return false;
  const SymbolicShape& shape = *type.shape;
  if (static_cast<int>(shape.size()) != tensor.shape().rank()) return false;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d].extent() != tensor.shape()[static_cast<int>(d)]) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<HostValue> FlowRun::Allocate(DType dtype, const Shape& shape) {
  const uint64_t size = ByteSize(dtype, shape.element_count());
  const uint64_t charged = size + FlowBudget::kTensorOverhead;
  if (absl::Status s = budget->Charge(charged); !s.ok()) return s;
  absl::StatusOr<PooledBuffer> bytes = buffers.Allocate(size);
  if (!bytes.ok()) {
    budget->Release(charged);
    return bytes.status();
  }
  return HostValue{dtype, shape, *std::move(bytes)};
}

FlowProgram::FlowProgram(std::shared_ptr<const Graph> graph,
                         CompileOptions options, Device& device,
                         WeightStore& weights,
                         const CompilerEnvironment& environment,
                         std::shared_ptr<KeptStages> kept)
    : graph_(std::move(graph)),
      options_(std::move(options)),
      device_(device),
      weights_(weights),
      environment_(environment),
      kept_(kept != nullptr ? std::move(kept) : std::make_shared<KeptStages>()),
      start_(MakeState(std::vector<bool>(graph_->nodes.size(), false))) {}

std::shared_ptr<FlowProgram::State> FlowProgram::MakeState(
    std::vector<bool> is_done) const {
  auto state = std::make_shared<State>();
  state->is_done = std::move(is_done);
  state->is_pending = PendingNodes(*graph_, state->is_done);
  std::vector<bool> is_read(graph_->values.size(), false);
  for (size_t n = 0; n < graph_->nodes.size(); ++n) {
    if (!state->is_pending[n]) continue;
    for (ValueId input : graph_->nodes[n].inputs) {
      if (input != kNoValue) is_read[input] = true;
    }
  }
  for (size_t v = 0; v < is_read.size(); ++v) {
    if (is_read[v]) state->relevant.push_back(static_cast<ValueId>(v));
  }
  return state;
}

FlowProgram& FlowProgram::Body(NodeId node, int index) {
  absl::MutexLock lock(&mu_);
  std::unique_ptr<FlowProgram>& body = bodies_[{node, index}];
  if (body == nullptr) {
    body = std::make_unique<FlowProgram>(
        graph_->nodes[node].bodies[index].graph, options_, device_, weights_,
        environment_, kept_);
  }
  return *body;
}

absl::StatusOr<std::vector<FlowValue>> FlowProgram::Run(
    FlowRun& run, std::vector<FlowValue> inputs) {
  std::vector<FlowValue> values(graph_->values.size());
  for (size_t i = 0; i < graph_->inputs.size(); ++i) {
    values[graph_->inputs[i]] = std::move(inputs[i]);
  }
  std::shared_ptr<State> state = start_;
  while (std::find(state->is_pending.begin(), state->is_pending.end(), true) !=
         state->is_pending.end()) {
    if (absl::Status s = run.limits.Check(); !s.ok()) return s;
    absl::StatusOr<std::shared_ptr<const Variant>> variant =
        FindVariant(*state, values, run);
    if (!variant.ok()) return variant.status();
    if (absl::Status s = RunStage(*variant, run, values); !s.ok()) return s;
    for (NodeId node : (*variant)->flow_nodes) {
      if (absl::Status s = RunFlowNode(node, run, values); !s.ok()) {
        return WithNode(s, graph_->nodes[node].name);
      }
    }
    state = (*variant)->next;
  }
  std::vector<FlowValue> outputs;
  for (ValueId output : graph_->outputs) {
    const Value& value = graph_->value(output);
    if (value.constant.is_present() && values[output].is_absent()) {
      absl::StatusOr<FlowValue> constant = ConstantValue(value.constant, run);
      if (!constant.ok()) return constant.status();
      values[output] = *std::move(constant);
    }
    outputs.push_back(values[output]);
  }
  return outputs;
}

std::vector<TensorType> FlowProgram::OutputTypes(
    absl::Span<const TensorType> input_types) const {
  std::vector<TensorType> types;
  for (ValueId output : graph_->outputs) {
    types.push_back(graph_->value(output).type);
  }
  if (input_types.size() != graph_->inputs.size()) return types;
  Graph typed = *graph_;
  for (size_t i = 0; i < input_types.size(); ++i) {
    if (!input_types[i].shape.has_value()) return types;
    typed.values[typed.inputs[i]].type = input_types[i];
  }
  const absl::StatusOr<Inference> inference =
      InferGraph(typed, environment_.limits, environment_.evaluator);
  // A body that cannot run is no fault of a loop that does not run it.
  if (!inference.ok()) return types;
  for (size_t i = 0; i < types.size(); ++i) {
    const TensorType& inferred = inference->types[typed.outputs[i]];
    if (inferred.shape.has_value()) types[i] = inferred;
  }
  return types;
}

bool FlowProgram::Variant::Matches(absl::Span<const FlowValue> values) const {
  for (const Seen& seen : relevant) {
    const FlowValue& value = values[seen.value];
    if (seen.is_tensor != value.is_tensor() ||
        seen.is_sequence != value.is_sequence()) {
      return false;
    }
    if (seen.is_tensor && !SameType(seen.type, *value.tensor)) return false;
  }
  // What was consulted is a tensor, and relevant: its kind was compared above.
  for (const auto& [value, content] : contents) {
    if (content.bytes() != values[value].tensor->bytes()) return false;
  }
  return true;
}

std::shared_ptr<const FlowProgram::Variant> FlowProgram::Lookup(
    State& state, absl::Span<const FlowValue> values) {
  absl::MutexLock lock(&state.mu);
  for (auto it = state.variants.begin(); it != state.variants.end(); ++it) {
    if (!(*it)->Matches(values)) continue;
    state.variants.splice(state.variants.begin(), state.variants, it);
    return state.variants.front();
  }
  return nullptr;
}

absl::StatusOr<std::shared_ptr<const FlowProgram::Variant>>
FlowProgram::FindVariant(State& state, absl::Span<const FlowValue> values,
                         FlowRun& run) {
  if (std::shared_ptr<const Variant> variant = Lookup(state, values)) {
    return variant;
  }
  const op_profile::TickClock ticks = op_profile::TickClock::Get();
  const uint64_t start = ticks.Now();
  absl::StatusOr<std::shared_ptr<Variant>> made =
      MakeVariant(state, values, run);
  run.phase_ns[static_cast<size_t>(op_profile::Phase::kCompile)] +=
      ticks.ToNs(op_profile::TickClock::Elapsed(start, ticks.Now()));
  if (!made.ok()) return made.status();
  // Of two lanes that made it at once, the first one's stays.
  if (std::shared_ptr<const Variant> other = Lookup(state, values)) {
    return other;
  }
  const uint64_t bytes = FootprintOf(**made);
  if (!kept_->Charge(bytes)) return *made;
  (*made)->kept = KeptStages::Share(kept_, bytes);
  {
    absl::MutexLock lock(&state.mu);
    state.variants.push_front(*made);
    if (state.variants.size() > State::kMaxVariants) state.variants.pop_back();
  }
  if (environment_.growth != nullptr) environment_.growth->OnGrowth();
  return *made;
}

uint64_t FlowProgram::FootprintOf(const Variant& variant) {
  uint64_t bytes = sizeof(Variant) + sizeof(State) +
                   variant.relevant.size() * sizeof(Variant::Seen) +
                   variant.flow_nodes.size() * sizeof(NodeId) +
                   variant.stage.nodes.size() * sizeof(NodeId) +
                   variant.next->relevant.size() * sizeof(ValueId) +
                   variant.next->is_done.size() / 4;
  for (const auto& [value, content] : variant.contents) {
    bytes += sizeof(content) + content.size_bytes();
  }
  if (variant.compiled == nullptr) return bytes;
  const Graph& stage = *variant.stage.graph;
  for (const Value& value : stage.values) {
    bytes += sizeof(value) + value.name.size();
  }
  return bytes + stage.nodes.size() * sizeof(Node) +
         variant.compiled->footprint_bytes;
}

absl::StatusOr<std::shared_ptr<FlowProgram::Variant>> FlowProgram::MakeVariant(
    const State& state, absl::Span<const FlowValue> values, FlowRun& run) {
  auto variant = std::make_shared<Variant>();
  const bool inlines_branches =
      !options_.disabled_passes.contains(std::string(kInlineBranches));
  absl::StatusOr<Stage> stage =
      FindStage({.graph = *graph_,
                 .is_pending = state.is_pending,
                 .values = values,
                 .limits = environment_.limits,
                 .evaluator = environment_.evaluator,
                 .inlines_branches = inlines_branches},
                [&] { return run.limits.Check(); });
  if (!stage.ok()) return stage.status();
  variant->stage = *std::move(stage);
  for (ValueId value : state.relevant) {
    Variant::Seen seen{.value = value,
                       .is_tensor = values[value].is_tensor(),
                       .is_sequence = values[value].is_sequence()};
    if (seen.is_tensor) {
      seen.type = {values[value].tensor->dtype(),
                   ToSymbolic(values[value].tensor->shape())};
    }
    variant->relevant.push_back(std::move(seen));
  }
  for (ValueId value : variant->stage.consulted) {
    const FlowTensor& tensor = *values[value].tensor;
    absl::StatusOr<HostTensor> content =
        HostTensor::Copy(tensor.dtype(), tensor.shape(), tensor.bytes());
    if (!content.ok()) return content.status();
    variant->contents.emplace_back(value, *std::move(content));
  }

  std::vector<bool> is_done = state.is_done;
  for (NodeId node : variant->stage.nodes) is_done[node] = true;
  variant->flow_nodes = ReadyFlowNodes(state, is_done, values);
  for (NodeId node : variant->flow_nodes) is_done[node] = true;
  if (variant->stage.nodes.empty() && variant->flow_nodes.empty()) {
    const auto first =
        std::find(state.is_pending.begin(), state.is_pending.end(), true);
    return WithNode(
        absl::UnimplementedError(
            "the shape of its output does not follow from its inputs"),
        graph_->nodes[first - state.is_pending.begin()].name);
  }
  if (variant->stage.graph != nullptr) {
    std::vector<Shape> shapes;
    for (ValueId input : variant->stage.graph->inputs) {
      shapes.push_back(values[input].tensor->shape());
    }
    absl::StatusOr<std::shared_ptr<CompiledGraph>> compiled =
        PlanGraph(variant->stage.graph, shapes, options_, device_, weights_,
                  run.slot.lane(), environment_);
    if (!compiled.ok()) return compiled.status();
    PreparationChannel channel(1);
    channel.Detach();
    if (absl::Status s = PrepareNodes(**compiled, device_, channel,
                                      environment_.max_peak_bytes);
        !s.ok()) {
      return s;
    }
    variant->compiled = *std::move(compiled);
  }
  variant->next = MakeState(std::move(is_done));
  return variant;
}

std::vector<NodeId> FlowProgram::ReadyFlowNodes(
    const State& state, const std::vector<bool>& is_done,
    absl::Span<const FlowValue> values) const {
  // Of nodes that are done, outputs without a value are optionals that hold
  // none.
  std::vector<bool> is_there(graph_->values.size(), false);
  for (size_t v = 0; v < is_there.size(); ++v) {
    is_there[v] =
        !values[v].is_absent() || graph_->values[v].constant.is_present();
  }
  for (ValueId input : graph_->inputs) is_there[input] = true;
  for (size_t n = 0; n < is_done.size(); ++n) {
    if (!is_done[n]) continue;
    for (ValueId output : graph_->nodes[n].outputs) {
      if (output != kNoValue) is_there[output] = true;
    }
  }
  std::vector<NodeId> ready;
  for (size_t n = 0; n < graph_->nodes.size(); ++n) {
    const Node& node = graph_->nodes[n];
    if (!state.is_pending[n] || is_done[n]) continue;
    // A plain Identity may be asked to pass a sequence on.
    const bool passes_sequence = node.op == OpKind::kIdentity &&
                                 node.inputs[0] != kNoValue &&
                                 values[node.inputs[0]].is_sequence();
    if (!IsFlow(node) && !passes_sequence) continue;
    if (std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
          return input == kNoValue || is_there[input];
        })) {
      ready.push_back(static_cast<NodeId>(n));
    }
  }
  return ready;
}

absl::Status FlowProgram::RunStage(
    const std::shared_ptr<const Variant>& variant, FlowRun& run,
    std::vector<FlowValue>& values) const {
  if (variant->compiled == nullptr) return absl::OkStatus();
  const Graph& stage = *variant->stage.graph;
  std::vector<absl::Span<const std::byte>> inputs;
  for (ValueId input : stage.inputs) {
    inputs.push_back(values[input].tensor->bytes());
  }
  // Charged before the run: a stage's outputs are known up to their bounds.
  uint64_t output_bytes = 0;
  for (const Port& port : variant->compiled->outputs) {
    output_bytes += port.size_bytes;
  }
  if (absl::Status s = run.budget->Charge(output_bytes); !s.ok()) return s;
  absl::InlinedVector<HostValue, 4> outputs;
  const auto take_inputs = [&]() -> std::shared_ptr<const void> {
    return std::make_shared<
        std::pair<std::vector<FlowValue>, std::shared_ptr<const Variant>>>(
        values, variant);
  };
  const CompiledRun compiled_run{.inputs = inputs,
                                 .outputs = &outputs,
                                 .limits = run.limits,
                                 .phase_ns = &run.phase_ns,
                                 .shard = run.shard,
                                 .host_shard = run.host_shard,
                                 .trace = run.trace,
                                 .take_inputs = take_inputs};
  absl::Status status = RunCompiled(run.slot, *variant->compiled, compiled_run,
                                    run.buffers, run.lane_is_busy);
  run.budget->Release(output_bytes);
  if (!status.ok()) return status;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (absl::Status s = run.budget->Charge(outputs[i].bytes.size() +
                                            FlowBudget::kTensorOverhead);
        !s.ok()) {
      return s;
    }
    values[stage.outputs[i]] = {.tensor = run.Keep(std::move(outputs[i]))};
  }
  return absl::OkStatus();
}

absl::StatusOr<FlowValue> FlowProgram::ConstantValue(const HostTensor& tensor,
                                                     FlowRun& run) const {
  absl::StatusOr<HostValue> value =
      run.Allocate(tensor.dtype(), tensor.shape());
  if (!value.ok()) return value.status();
  if (tensor.size_bytes() > 0) {
    std::memcpy(value->bytes.data(), tensor.bytes().data(),
                tensor.size_bytes());
  }
  return FlowValue{.tensor = run.Keep(*std::move(value))};
}

absl::Status FlowProgram::RunFlowNode(NodeId node_id, FlowRun& run,
                                      std::vector<FlowValue>& values) {
  const Node& node = graph_->nodes[node_id];
  std::vector<FlowValue> inputs;
  for (ValueId input : node.inputs) {
    if (input != kNoValue && values[input].is_absent() &&
        graph_->values[input].constant.is_present()) {
      absl::StatusOr<FlowValue> constant =
          ConstantValue(graph_->values[input].constant, run);
      if (!constant.ok()) return constant.status();
      values[input] = *std::move(constant);
    }
    inputs.push_back(input == kNoValue ? FlowValue() : values[input]);
  }
  FlowNode call{.program = *this,
                .node_id = node_id,
                .node = node,
                .inputs = std::move(inputs),
                .run = run};
  absl::StatusOr<std::vector<FlowValue>> outputs = RunFlowOp(call);
  if (!outputs.ok()) return outputs.status();
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNoValue && i < outputs->size()) {
      values[node.outputs[i]] = std::move((*outputs)[i]);
    }
  }
  return absl::OkStatus();
}

}  // namespace tensord
