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
#include "engine/memory/host_storage.h"
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
        host_(environment.HostOf(device)),
        weights_(weights),
        lane_(lane),
        environment_(environment),
        compiled_(std::make_shared<CompiledGraph>()) {}

  absl::StatusOr<std::shared_ptr<CompiledGraph>> Run() {
    if (absl::Status s = InferInlined(); !s.ok()) return s;
    if (is_staged()) return MakeFlow();
    if (absl::Status s = ChooseKernels(); !s.ok()) return s;
    placement_ = PlaceValues(*graph_, inference_, schedule_, sides_, launches_);
    if (absl::Status s = DescribePorts(); !s.ok()) return s;
    if (absl::Status s = CheckPeak(); !s.ok()) return s;
    if (absl::Status s = LoadWeights(); !s.ok()) return s;
    Explain();
    if (absl::Status s = MakeSegments(); !s.ok()) return s;
    Summarize();
    return std::move(compiled_);
  }

  absl::StatusOr<std::optional<GraphEstimate>> Estimate() {
    if (absl::Status s = InferInlined(); !s.ok()) return s;
    if (is_staged()) return std::optional<GraphEstimate>();
    if (absl::Status s = ChooseKernels(); !s.ok()) return s;
    GraphEstimate estimate;
    for (const BoundNode& bound : bound_) {
      estimate.launches_ns += bound.node.estimated_ns;
    }
    absl::StatusOr<TransferTotals> transfers = CountTransfers();
    if (!transfers.ok()) return transfers.status();
    estimate.transfers = *transfers;
    return std::optional<GraphEstimate>(estimate);
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
    if (absl::Status s = BindNodes(); !s.ok()) return s;
    ListLaunches();
    return absl::OkStatus();
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
    compiled_->host_device = host_;
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

  const DeviceInfo* HostInfo() const {
    return host_ == nullptr ? nullptr : &environment_.InfoOf(*host_);
  }

  absl::Status BindNodes() {
    const BindingScope scope{*graph_, inference_, environment_.InfoOf(device_),
                             options_, environment_};
    for (const auto& nodes : schedule_.segments) {
      for (NodeId node : nodes) {
        absl::StatusOr<BoundNode> bound = BindNodeOnEither(
            scope, HostInfo(), node,
            [&](ValueId value) { return BoundShape(inference_, value); });
        if (!bound.ok()) return bound.status();
        if (absl::Status s = CheckTime(node, *bound); !s.ok()) return s;
        compiled_->host_step_count += bound->runs_on_host ? 1 : 0;
        bound_.push_back(*std::move(bound));
      }
    }
    if (compiled_->host_step_count > 0) GroupBySide(*graph_, schedule_, bound_);
    return absl::OkStatus();
  }

  void ListLaunches() {
    for (const auto& nodes : schedule_.segments) {
      for (NodeId node : nodes) launches_.push_back({.node = node});
    }
    for (size_t i = 0; i < launches_.size(); ++i) {
      launches_[i].bound = &bound_[i];
    }
    sides_ = PlanSides(*graph_, inference_, schedule_, launches_,
                       !device_.info().is_host_addressable);
  }

  absl::StatusOr<TransferTotals> CountTransfers() const {
    TransferTotals totals;
    absl::Status status;
    if (!sides_.has_two) return totals;
    ForEachTransfer(*graph_, schedule_, sides_,
                    [&](ValueId root, bool, int32_t) {
                      const absl::StatusOr<Port> port = MakePort(root);
                      status.Update(port.status());
                      if (port.ok()) totals.Add(port->size_bytes);
                    });
    if (!status.ok()) return status;
    return totals;
  }

  // Refused only when the rates that the device supposes say so as well: what
  // one start takes, a start on a busy machine must not refuse.
  absl::Status CheckTime(NodeId node, const BoundNode& bound) const {
    const double limit = absl::ToDoubleSeconds(environment_.max_execution_time);
    double seconds = bound.node.estimated_ns * 1e-9;
    if (seconds <= limit) return absl::OkStatus();
    const Device& device = bound.runs_on_host ? *host_ : device_;
    const BindingScope supposed{*graph_, inference_, device.info(), options_,
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

  static uint64_t SlotBytes(uint64_t size_bytes) {
    return (size_bytes + kStorageAlignment - 1) / kStorageAlignment *
           kStorageAlignment;
  }

  // Inputs and outputs join the arena where the host cannot address the device,
  // those that are needed there.
  absl::Status CheckPeak() {
    uint64_t ports = 0;
    for (const Port& port : compiled_->inputs) {
      ports += SlotBytes(port.size_bytes);
    }
    for (const Port& port : compiled_->outputs) {
      ports += SlotBytes(port.size_bytes);
    }
    compiled_->arena_bytes = placement_.device.arena_bytes;
    compiled_->host_arena_bytes = placement_.host.arena_bytes;
    if (sides_.has_two) PlacePortsOnDevice();
    compiled_->peak_bytes =
        placement_.device.arena_bytes + placement_.host.arena_bytes + ports;
    if (compiled_->peak_bytes > environment_.max_peak_bytes) {
      return LimitExceeded("an execution of the graph",
                           static_cast<int64_t>(compiled_->peak_bytes), "bytes",
                           "max_peak_bytes",
                           static_cast<int64_t>(environment_.max_peak_bytes));
    }
    return absl::OkStatus();
  }

  void PlacePortsOnDevice() {
    const auto place = [&](const Port& port, uint64_t& offset) {
      offset = compiled_->arena_bytes;
      compiled_->arena_bytes += SlotBytes(port.size_bytes);
    };
    compiled_->input_offsets.assign(compiled_->inputs.size(),
                                    CompiledGraph::kNotOnDevice);
    compiled_->output_offsets.assign(compiled_->outputs.size(),
                                     CompiledGraph::kNotOnDevice);
    for (size_t i = 0; i < compiled_->inputs.size(); ++i) {
      if (!sides_.is_uploaded[graph_->inputs[i]]) continue;
      place(compiled_->inputs[i], compiled_->input_offsets[i]);
    }
    for (int32_t i : placement_.downloads) {
      place(compiled_->outputs[i], compiled_->output_offsets[i]);
    }
  }

  absl::Status LoadWeights() {
    for (ValueId value : placement_.device.weights) {
      absl::StatusOr<std::shared_ptr<const Weight>> weight =
          weights_->Get(inference_.constants[value], *lane_);
      if (!weight.ok()) return weight.status();
      compiled_->weight_bytes += (*weight)->size_bytes;
      compiled_->weights.push_back(*std::move(weight));
    }
    for (ValueId value : placement_.host.weights) {
      absl::StatusOr<std::shared_ptr<const Weight>> weight =
          HostWeight(inference_.constants[value]);
      if (!weight.ok()) return weight.status();
      compiled_->host_weights.push_back(*std::move(weight));
    }
    return absl::OkStatus();
  }

  // The bytes of a constant in place, for steps on the host and for outputs.
  absl::StatusOr<std::shared_ptr<const Weight>> HostWeight(
      const HostTensor& tensor) {
    if (host_ != nullptr)
      return environment_.host->weights->Get(tensor, *lane_);
    auto weight = std::make_shared<Weight>();
    weight->size_bytes = tensor.size_bytes();
    weight->storage = std::make_unique<HostStorage>(
        device_.info().id, tensor.bytes(), tensor.owner());
    return weight;
  }

  void Explain() {
    const PlanToExplain plan{.graph = *graph_,
                             .inference = inference_,
                             .schedule = schedule_,
                             .sides = sides_,
                             .placement = placement_,
                             .launches = launches_,
                             .device = environment_.InfoOf(device_),
                             .host = HostInfo()};
    compiled_->explanation.nodes = ExplainNodes(plan);
    compiled_->explanation.transfers = ExplainTransfers(plan);
    for (const ExplainedTransfer& row : compiled_->explanation.transfers) {
      compiled_->transfers.Add(row.size_bytes);
    }
  }

  absl::Status MakeSegments() {
    std::vector<LaterSegments::PlannedLaunch> planned;
    for (const BoundNode& bound : bound_) {
      planned.push_back({bound.workspace_bytes, bound.runs_on_host});
    }
    const size_t first_count = schedule_.segments[0].size();
    compiled_->first.steps.reserve(first_count);
    for (size_t i = 0; i < first_count; ++i) {
      compiled_->estimated_ns += bound_[i].node.estimated_ns;
      compiled_->first.steps.push_back(
          MakeStep(*graph_, schedule_, placement_, launches_[i].node,
                   static_cast<int32_t>(i), std::move(bound_[i])));
    }
    absl::StatusOr<std::vector<Stretch>> stretches =
        MakeStretches(inference_, sides_, placement_, 0);
    if (!stretches.ok()) return stretches.status();
    compiled_->first.stretches = *std::move(stretches);
    compiled_->output_copies = placement_.output_copies;
    for (OutputCopy& copy : compiled_->output_copies) {
      copy.source.size_bytes = compiled_->outputs[copy.output_index].size_bytes;
    }
    compiled_->extent_cell_count = schedule_.cell_count;
    compiled_->time_mark_count =
        device_.info().has_timestamps ? sides_.time_mark_count : 0;
    if (schedule_.cell_count > 0) {
      compiled_->later_segments = std::make_unique<LaterSegments>(
          graph_, input_shapes_, options_, std::move(schedule_),
          std::move(sides_), std::move(placement_), std::move(planned), device_,
          environment_);
    }
    return absl::OkStatus();
  }

  void Summarize() {
    compiled_->device = device_.info().id;
    compiled_->host_device = compiled_->host_step_count > 0 ? host_ : nullptr;
    compiled_->graph = graph_;
    compiled_->node_count = static_cast<int32_t>(launches_.size());
    compiled_->may_be_recorded = device_.info().records_programs;
    compiled_->growth = environment_.growth;
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
  Device* const host_;          // null: nothing runs on the host
  WeightStore* const weights_;  // null: for Estimate() alone
  Lane* const lane_;            // the same
  const CompilerEnvironment& environment_;

  Inference inference_;
  Schedule schedule_;
  SidePlan sides_;
  Placement placement_;
  std::vector<BoundNode> bound_;  // by launch
  std::vector<Launch> launches_;
  std::shared_ptr<CompiledGraph> compiled_;
};

// What can be told of a body before it is called: whether its operators have a
// kernel at all. The depth of bodies is limited (max_nesting_depth).
absl::Status CheckOps(const Graph& graph, absl::Span<const BackendId> backends,
                      const KernelBindingTable& table) {
  for (const Node& node : graph.nodes) {
    for (const Body& body : node.bodies) {
      if (absl::Status s = CheckOps(*body.graph, backends, table); !s.ok()) {
        return s;
      }
    }
    const OpDef* def = FindOpDef(node.op);
    if (def != nullptr && (def->is_view || def->is_flow)) continue;
    if (std::any_of(backends.begin(), backends.end(), [&](BackendId backend) {
          return !table.Kernels(node.op, backend).empty();
        })) {
      continue;
    }
    const DTypeList unknown(node.inputs.size() + node.outputs.size(),
                            DType::kUndefined);
    return WithNode(
        table
            .Diagnose(node.op, unknown, static_cast<int>(node.inputs.size()),
                      backends.front())
            .ToStatus(),
        node.name);
  }
  return absl::OkStatus();
}

// Whether a node has a kernel on one of the backends, by its dtypes.
absl::Status CheckNode(const Node& node, const DTypeList& dtypes,
                       absl::Span<const BackendId> backends,
                       const KernelBindingTable& table) {
  absl::Status refusal;
  for (BackendId backend : backends) {
    const absl::Status status =
        CompileNode(node.op, dtypes, static_cast<int>(node.inputs.size()),
                    backend, node.params, table)
            .status();
    if (status.ok()) return status;
    refusal.Update(status);
  }
  return WithNode(refusal, node.name);
}

}  // namespace

CompiledGraph::CompiledGraph() = default;
CompiledGraph::~CompiledGraph() = default;

uint64_t CompiledGraph::held_bytes() const {
  uint64_t bytes = footprint_bytes + program_bytes.load();
  if (later_segments != nullptr) bytes += later_segments->footprint_bytes();
  if (flow != nullptr) bytes += flow->kept_bytes();
  return bytes;
}

absl::Status CheckBindings(const Graph& graph, const Inference& inference,
                           absl::Span<const BackendId> backends,
                           const KernelBindingTable& table) {
  for (const Node& node : graph.nodes) {
    const OpDef* def = FindOpDef(node.op);
    if (def != nullptr && def->is_view) continue;
    for (const Body& body : node.bodies) {
      if (absl::Status s = CheckOps(*body.graph, backends, table); !s.ok()) {
        return s;
      }
    }
    if (def != nullptr && def->is_flow) continue;
    const DTypeList dtypes = NodeDTypes(inference, node);
    if (dtypes.size() > node.inputs.size() &&
        dtypes[node.inputs.size()] == DType::kUndefined) {
      continue;  // its rank is not known yet, so neither are its dtypes
    }
    if (absl::Status s = CheckNode(node, dtypes, backends, table); !s.ok()) {
      return s;
    }
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

absl::StatusOr<std::optional<GraphEstimate>> EstimateGraph(
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
    if (absl::Status status =
            PrepareStep(*graph.graph, device, graph.host_device, budget, step);
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
