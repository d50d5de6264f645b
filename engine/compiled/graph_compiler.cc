#include "engine/compiled/graph_compiler.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/api/packed_weights.h"
#include "engine/compiled/bind_node.h"
#include "engine/compiled/explain_plan.h"
#include "engine/compiled/kernel_estimator.h"
#include "engine/compiled/later_segments.h"
#include "engine/compiled/place_values.h"
#include "engine/compiled/schedule.h"
#include "engine/compiled/step_builder.h"
#include "engine/flow/flow_program.h"
#include "engine/graph/escape.h"
#include "engine/ops/op_table.h"
#include "engine/passes/inline_branches.h"
#include "engine/passes/pass_names.h"
#include "engine/passes/run_passes.h"

namespace tensord {
namespace {

// Nodes, values and rows of an explanation with their strings, as
// specialise_bench finds them on the heap. Constants are shared.
constexpr uint64_t kNodeBytes = 300;
constexpr uint64_t kValueBytes = 200;
constexpr uint64_t kExplainedBytes = 250;

uint64_t FootprintOf(const Graph& graph) {
  return sizeof(CompiledGraph) + graph.nodes.size() * kNodeBytes +
         graph.values.size() * kValueBytes;
}

class GraphCompiler {
 public:
  GraphCompiler(std::shared_ptr<const Graph> graph,
                absl::Span<const Shape> input_shapes,
                const CompileOptions& options, Device& device,
                WeightStore* weights, Lane* lane,
                const CompilerEnvironment& environment)
      : graph_(std::move(graph)),
        input_shapes_(input_shapes.begin(), input_shapes.end()),
        options_(options),
        device_(device),
        weights_(weights),
        lane_(lane),
        environment_(environment),
        compiled_(std::make_shared<CompiledGraph>()) {}

  absl::StatusOr<std::shared_ptr<CompiledGraph>> Run() {
    if (absl::Status s = InferInlined(); !s.ok()) return s;
    if (is_staged()) return MakeFlow();
    if (absl::Status s = ChooseKernels(); !s.ok()) return s;
    placement_ = PlaceValues(*graph_, inference_, schedule_, launches_);
    if (absl::Status s = DescribePorts(); !s.ok()) return s;
    if (absl::Status s = CheckPeak(); !s.ok()) return s;
    if (absl::Status s = LoadWeights(); !s.ok()) return s;
    compiled_->explanation.nodes = ExplainNodes(
        *graph_, inference_, schedule_, placement_, launches_, device_.info());
    MakeSegments();
    Summarize();
    return std::move(compiled_);
  }

  absl::StatusOr<std::optional<double>> Estimate() {
    if (absl::Status s = InferInlined(); !s.ok()) return s;
    if (is_staged()) return std::optional<double>();
    if (absl::Status s = ChooseKernels(); !s.ok()) return s;
    double total_ns = 0;
    for (const BoundNode& bound : bound_) total_ns += bound.node.estimated_ns;
    return std::optional<double>(total_ns);
  }

 private:
  absl::Status InferInlined() {
    if (absl::Status s = Infer(); !s.ok()) return s;
    return InlineKnownBranches();
  }

  // Shapes or paths follow from the data.
  bool is_staged() const { return !inference_.open.empty(); }

  absl::Status ChooseKernels() {
    if (absl::Status s = RunPasses(); !s.ok()) return s;
    absl::StatusOr<Schedule> schedule = MakeSchedule(*graph_, inference_);
    if (!schedule.ok()) return schedule.status();
    schedule_ = *std::move(schedule);
    return BindNodes();
  }

  absl::StatusOr<Inference> InferShapes(const Graph& graph) const {
    return InferGraph(graph, input_shapes_, KnownExtents{}, environment_.limits,
                      environment_.evaluator);
  }

  absl::Status Infer() {
    absl::StatusOr<Inference> inference = InferShapes(*graph_);
    if (!inference.ok()) return inference.status();
    inference_ = *std::move(inference);
    return absl::OkStatus();
  }

  absl::Status InlineKnownBranches() {
    if (options_.disabled_passes.contains(std::string(kInlineBranches))) {
      return absl::OkStatus();
    }
    size_t count = 0;
    for (int round = 0; round < kMaxInliningRounds; ++round) {
      const std::vector<TakenBranch> known = KnownBranches(*graph_, inference_);
      if (known.empty()) break;
      count += known.size();
      graph_ = std::make_shared<Graph>(InlineBranches(*graph_, known).graph);
      if (absl::Status s = Infer(); !s.ok()) return s;
    }
    if (count > 0) {
      NotePass(kInlineBranches,
               absl::StrCat(count, " branches stand where their If was"));
    }
    return absl::OkStatus();
  }

  // Planned stage by stage, when it runs.
  absl::StatusOr<std::shared_ptr<CompiledGraph>> MakeFlow() {
    for (size_t i = 0; i < graph_->inputs.size(); ++i) {
      absl::StatusOr<Port> port = MakePort(graph_->inputs[i]);
      if (!port.ok()) return port.status();
      compiled_->peak_bytes += port->size_bytes;
      compiled_->inputs.push_back(*std::move(port));
    }
    for (ValueId output : graph_->outputs) {
      compiled_->outputs.push_back({.name = graph_->value(output).name,
                                    .dtype = inference_.types[output].dtype});
    }
    compiled_->flow = std::make_shared<FlowProgram>(graph_, options_, device_,
                                                    *weights_, environment_);
    compiled_->device = device_.info().id;
    compiled_->graph = graph_;
    compiled_->footprint_bytes =
        FootprintOf(*graph_) + graph_->nodes.size() * kExplainedBytes;
    Explanation explanation = ExplainFlow(*graph_, device_.info());
    for (ExplainedPass& pass : compiled_->explanation.passes) {
      explanation.passes.push_back(std::move(pass));
    }
    compiled_->explanation = std::move(explanation);
    return std::move(compiled_);
  }

  absl::Status RunPasses() {
    const KernelEstimator kernels(*environment_.table,
                                  environment_.InfoOf(device_),
                                  options_.deterministic, options_.precision);
    absl::StatusOr<PassResult> result = tensord::RunPasses(
        *graph_, std::move(inference_),
        {.disabled = options_.disabled_passes,
         .evaluator = environment_.evaluator,
         .limits = environment_.limits,
         .find_kernel =
             [&](const Node& node, const Inference& inference) {
               return kernels.FindKernel(node, inference);
             },
         .estimate = kernels,
         .infer = [&](const Graph& graph) { return InferShapes(graph); }});
    if (!result.ok()) return result.status();
    graph_ = std::make_shared<Graph>(std::move(result->graph));
    inference_ = std::move(result->inference);
    for (PassResult::Note& note : result->notes) {
      NotePass(note.pass, std::move(note.effect));
    }
    return absl::OkStatus();
  }

  void NotePass(absl::string_view name, std::string effect) {
    compiled_->explanation.passes.push_back(
        {std::string(name), std::move(effect)});
  }

  absl::Status BindNodes() {
    size_t launch_count = 0;
    for (const auto& nodes : schedule_.segments) launch_count += nodes.size();
    bound_.reserve(launch_count);
    launches_.reserve(launch_count);
    const BindingScope scope{*graph_, inference_, environment_.InfoOf(device_),
                             options_, environment_};
    for (const auto& nodes : schedule_.segments) {
      for (NodeId node : nodes) {
        absl::StatusOr<BoundNode> bound = BindNode(
            scope, node,
            [&](ValueId value) { return BoundShape(inference_, value); });
        if (!bound.ok()) return bound.status();
        if (absl::Status s = CheckTime(node, *bound); !s.ok()) return s;
        bound_.push_back(*std::move(bound));
        launches_.push_back({.node = node});
      }
    }
    for (size_t i = 0; i < launches_.size(); ++i) {
      launches_[i].bound = &bound_[i];
    }
    return absl::OkStatus();
  }

  // Refused only when the rates that the device supposes say so as well: what
  // one start takes, a start on a busy machine must not refuse.
  absl::Status CheckTime(NodeId node, const BoundNode& bound) const {
    const double limit = absl::ToDoubleSeconds(environment_.max_execution_time);
    double seconds = bound.node.estimated_ns * 1e-9;
    if (seconds <= limit) return absl::OkStatus();
    const BindingScope supposed{*graph_, inference_, device_.info(), options_,
                                environment_};
    absl::StatusOr<BoundNode> again =
        BindNode(supposed, node,
                 [&](ValueId value) { return BoundShape(inference_, value); });
    if (!again.ok()) return again.status();
    seconds = std::min(seconds, again->node.estimated_ns * 1e-9);
    if (seconds <= limit) return absl::OkStatus();
    return WithNode(
        LimitExceeded(absl::StrCat("a launch of ", OpKindName(bound.node.op)),
                      static_cast<int64_t>(std::min(seconds, 1e18)),
                      "seconds by estimate", "max_execution_time",
                      static_cast<int64_t>(limit)),
        graph_->nodes[node].name);
  }

  absl::StatusOr<Port> MakePort(ValueId value) const {
    absl::StatusOr<Shape> shape = BoundShape(inference_, value);
    if (!shape.ok()) return shape.status();
    const TensorType& type = inference_.types[value];
    return Port{.name = graph_->value(value).name,
                .dtype = type.dtype,
                .shape = *shape,
                .size_bytes = ByteSize(type.dtype, shape->element_count()),
                .has_bound_only = !IsKnown(*type.shape)};
  }

  absl::Status DescribePorts() {
    for (ValueId input : graph_->inputs) {
      absl::StatusOr<Port> port = MakePort(input);
      if (!port.ok()) return port.status();
      compiled_->inputs.push_back(*std::move(port));
    }
    for (ValueId output : graph_->outputs) {
      absl::StatusOr<Port> port = MakePort(output);
      if (!port.ok()) return port.status();
      compiled_->outputs.push_back(*std::move(port));
    }
    return absl::OkStatus();
  }

  // Inputs and outputs join the arena where the host cannot address the device.
  absl::Status CheckPeak() {
    uint64_t arena = placement_.arena_bytes;
    uint64_t ports = 0;
    const bool is_staged = !device_.info().is_host_addressable;
    const auto add = [&](const std::vector<Port>& from,
                         std::vector<uint64_t>& offsets) {
      for (const Port& port : from) {
        const uint64_t bytes = (port.size_bytes + kStorageAlignment - 1) /
                               kStorageAlignment * kStorageAlignment;
        ports += bytes;
        if (!is_staged) continue;
        offsets.push_back(arena);
        arena += bytes;
      }
    };
    add(compiled_->inputs, compiled_->input_offsets);
    add(compiled_->outputs, compiled_->output_offsets);
    compiled_->arena_bytes = arena;
    compiled_->peak_bytes = placement_.arena_bytes + ports;
    if (compiled_->peak_bytes > environment_.max_peak_bytes) {
      return LimitExceeded("an execution of the graph",
                           static_cast<int64_t>(compiled_->peak_bytes), "bytes",
                           "max_peak_bytes",
                           static_cast<int64_t>(environment_.max_peak_bytes));
    }
    return absl::OkStatus();
  }

  absl::Status LoadWeights() {
    for (ValueId value : placement_.weights) {
      absl::StatusOr<std::shared_ptr<const Weight>> weight =
          weights_->Get(inference_.constants[value], *lane_);
      if (!weight.ok()) return weight.status();
      compiled_->weight_bytes += (*weight)->size_bytes;
      compiled_->weights.push_back(*std::move(weight));
    }
    return absl::OkStatus();
  }

  void MakeSegments() {
    std::vector<uint64_t> workspaces;
    for (const BoundNode& bound : bound_) {
      workspaces.push_back(bound.workspace_bytes);
    }
    const size_t first_count = schedule_.segments[0].size();
    compiled_->first.steps.reserve(first_count);
    for (size_t i = 0; i < first_count; ++i) {
      compiled_->estimated_ns += bound_[i].node.estimated_ns;
      compiled_->first.steps.push_back(
          MakeStep(*graph_, schedule_, placement_, launches_[i].node,
                   static_cast<int32_t>(i), std::move(bound_[i])));
    }
    compiled_->output_copies = placement_.output_copies;
    for (OutputCopy& copy : compiled_->output_copies) {
      copy.source.size_bytes = compiled_->outputs[copy.output_index].size_bytes;
    }
    compiled_->extent_cell_count = schedule_.cell_count;
    if (schedule_.cell_count > 0) {
      compiled_->later_segments = std::make_unique<LaterSegments>(
          graph_, input_shapes_, options_, std::move(schedule_),
          std::move(placement_), std::move(workspaces), device_, environment_);
    }
  }

  void Summarize() {
    compiled_->device = device_.info().id;
    compiled_->graph = graph_;
    compiled_->node_count = static_cast<int32_t>(launches_.size());
    for (HostTensor& constant : inference_.constants) {
      if (constant.is_present()) {
        compiled_->host_constants.push_back(std::move(constant));
      }
    }
    compiled_->footprint_bytes =
        FootprintOf(*graph_) + launches_.size() * kStepFootprintBytes +
        compiled_->explanation.nodes.size() * kExplainedBytes;
    Explanation& explanation = compiled_->explanation;
    explanation.device = compiled_->device;
    explanation.arena_bytes = compiled_->arena_bytes;
    explanation.peak_bytes = compiled_->peak_bytes;
    explanation.weight_bytes = compiled_->weight_bytes;
    explanation.arena_lower_bound_bytes = placement_.arena_lower_bound_bytes;
    if (compiled_->later_segments != nullptr) {
      explanation.segment_count = compiled_->later_segments->segment_count();
    }
  }

  std::shared_ptr<const Graph> graph_;
  const std::vector<Shape> input_shapes_;
  const CompileOptions& options_;
  Device& device_;
  WeightStore* const weights_;  // null: for Estimate() alone
  Lane* const lane_;            // the same
  const CompilerEnvironment& environment_;

  Inference inference_;
  Schedule schedule_;
  Placement placement_;
  std::vector<BoundNode> bound_;  // by launch
  std::vector<Launch> launches_;
  std::shared_ptr<CompiledGraph> compiled_;
};

// What can be told of a body before it is called: whether its operators have a
// kernel at all. The depth of bodies is limited (max_nesting_depth).
absl::Status CheckOps(const Graph& graph, BackendId backend,
                      const KernelBindingTable& table) {
  for (const Node& node : graph.nodes) {
    for (const Body& body : node.bodies) {
      if (absl::Status s = CheckOps(*body.graph, backend, table); !s.ok()) {
        return s;
      }
    }
    const OpDef* def = FindOpDef(node.op);
    if (def != nullptr && (def->is_view || def->is_flow)) continue;
    if (!table.Kernels(node.op, backend).empty()) continue;
    const DTypeList unknown(node.inputs.size() + node.outputs.size(),
                            DType::kUndefined);
    return WithNode(table
                        .Diagnose(node.op, unknown,
                                  static_cast<int>(node.inputs.size()), backend)
                        .ToStatus(),
                    node.name);
  }
  return absl::OkStatus();
}

}  // namespace

CompiledGraph::CompiledGraph() = default;
CompiledGraph::~CompiledGraph() = default;

uint64_t CompiledGraph::held_bytes() const {
  uint64_t bytes = footprint_bytes;
  if (later_segments != nullptr) bytes += later_segments->footprint_bytes();
  if (flow != nullptr) bytes += flow->kept_bytes();
  return bytes;
}

absl::Status CheckBindings(const Graph& graph, const Inference& inference,
                           BackendId backend, const KernelBindingTable& table) {
  for (const Node& node : graph.nodes) {
    const OpDef* def = FindOpDef(node.op);
    if (def != nullptr && def->is_view) continue;
    for (const Body& body : node.bodies) {
      if (absl::Status s = CheckOps(*body.graph, backend, table); !s.ok()) {
        return s;
      }
    }
    if (def != nullptr && def->is_flow) continue;
    const DTypeList dtypes = NodeDTypes(inference, node);
    if (dtypes.size() > node.inputs.size() &&
        dtypes[node.inputs.size()] == DType::kUndefined) {
      continue;  // its rank is not known yet, so neither are its dtypes
    }
    absl::StatusOr<CompiledNode> compiled =
        CompileNode(node.op, dtypes, static_cast<int>(node.inputs.size()),
                    backend, node.params, table);
    if (!compiled.ok()) return WithNode(compiled.status(), node.name);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<CompiledGraph>> PlanGraph(
    std::shared_ptr<const Graph> graph, absl::Span<const Shape> input_shapes,
    const CompileOptions& options, Device& device, WeightStore& weights,
    Lane& lane, const CompilerEnvironment& environment) {
  return GraphCompiler(std::move(graph), input_shapes, options, device,
                       &weights, &lane, environment)
      .Run();
}

absl::StatusOr<std::optional<double>> EstimateGraph(
    std::shared_ptr<const Graph> graph, absl::Span<const Shape> input_shapes,
    const CompileOptions& options, Device& device,
    const CompilerEnvironment& environment) {
  // Kernels that are only thought of are not accounted.
  CompilerEnvironment without_profile = environment;
  without_profile.profile = nullptr;
  return GraphCompiler(std::move(graph), input_shapes, options, device,
                       /*weights=*/nullptr, /*lane=*/nullptr, without_profile)
      .Estimate();
}

absl::Status PrepareNodes(CompiledGraph& graph, Device& device,
                          PreparationChannel& channel,
                          uint64_t max_state_bytes) {
  StateBudget budget{.max_bytes = max_state_bytes};
  for (Step& step : graph.first.steps) {
    if (absl::Status status = PrepareStep(*graph.graph, device, budget, step);
        !status.ok()) {
      channel.Finish(status);
      return status;
    }
    // A first run that goes along has no interest in it.
    graph.footprint_bytes += StateFootprintBytes(step);
    AppendPackedOf(step.node.state.get(), graph.packed_weights);
    channel.Publish();
  }
  channel.Finish(absl::OkStatus());
  return absl::OkStatus();
}

}  // namespace tensord
