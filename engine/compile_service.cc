#include "engine/compile_service.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "backends/api/packed_weights.h"

namespace tensord {
namespace {

// Nodes that are prepared ahead of a pipelined first run.
constexpr int64_t kPipelineDepth = 64;

CompiledKey KeyFor(const LoadedGraph& graph, std::vector<Shape> input_shapes,
                   const PooledDevice& device) {
  return {graph.id(), device.info().id, std::move(input_shapes)};
}

CompilerEnvironment WithObserver(CompilerEnvironment environment,
                                 GrowthObserver& observer) {
  environment.growth = &observer;
  return environment;
}

// All segments, the later ones at their upper bounds.
double LaunchesNs(const CompiledGraph& graph) {
  double total_ns = 0;
  for (const ExplainedNode& node : graph.explanation.nodes) {
    total_ns += node.estimated_ns;
  }
  return total_ns;
}

bool HaveSameRates(const DeviceInfo& a, const DeviceInfo& b) {
  return a.id.backend == b.id.backend && a.flops_per_ns == b.flops_per_ns &&
         a.bytes_per_ns == b.bytes_per_ns &&
         a.launch_overhead_ns == b.launch_overhead_ns;
}

CompilerEnvironment WithoutMeasuredRates(CompilerEnvironment environment) {
  environment.rates = nullptr;
  return environment;
}

}  // namespace

CompileService::CompileService(CompilerEnvironment environment,
                               bool is_pipelined, CompilePool& threads,
                               DevicePool& devices)
    : environment_(WithObserver(environment, *this)),
      supposed_(WithoutMeasuredRates(environment_)),
      is_pipelined_(is_pipelined),
      threads_(threads),
      devices_(devices) {
  for (const auto& device : devices.devices()) {
    targets_.push_back(std::make_unique<Target>(device->device()));
  }
}

void CompileService::Compile(std::shared_ptr<const LoadedGraph> graph,
                             std::vector<Shape> input_shapes,
                             PooledDevice& device, Continuation continuation,
                             FirstRun first_run, bool estimates_devices) {
  CompiledKey key = KeyFor(*graph, std::move(input_shapes), device);
  if (!cache_.Join(key, std::move(continuation))) return;
  threads_.Submit([this, key = std::move(key), graph = std::move(graph),
                   &device, first_run = std::move(first_run),
                   estimates_devices](const absl::Status& admission) mutable {
    if (!admission.ok()) {
      cache_.Complete(key, admission);
    } else {
      Run(key, graph, device, std::move(first_run), estimates_devices);
    }
  });
}

void CompileService::CompileHere(std::shared_ptr<const LoadedGraph> graph,
                                 std::vector<Shape> input_shapes,
                                 PooledDevice& device,
                                 Continuation continuation) {
  const CompiledKey key = KeyFor(*graph, std::move(input_shapes), device);
  if (!cache_.Join(key, std::move(continuation))) return;
  Run(key, graph, device, nullptr, /*estimates_devices=*/true);
}

void CompileService::SetMaxBytes(uint64_t max_bytes) {
  max_bytes_ = max_bytes;
  Trim();
}

void CompileService::Trim() {
  if (cache_.Trim(max_bytes_) > 0) SweepPrograms();
}

void CompileService::EraseGraph(absl::string_view graph_id) {
  cache_.EraseGraph(graph_id);
  SweepPrograms();
}

// A segment or stage that was kept may have taken another one's place.
void CompileService::OnGrowth() {
  cache_.Trim(max_bytes_);
  SweepPrograms();
}

void CompileService::SweepPrograms() {
  for (const auto& device : devices_.devices()) device->SweepPrograms();
}

uint64_t CompileService::PackedBytes() const {
  uint64_t bytes = 0;
  for (const auto& target : targets_) {
    bytes += PackedBytesOf(target->device);
  }
  return bytes;
}

CompiledCache::Stats CompileService::stats() {
  CompiledCache::Stats stats = cache_.stats();
  stats.bytes += PackedBytes();
  return stats;
}

uint64_t CompileService::weight_bytes(DeviceId device) const {
  return TargetOf(device).weights.resident_bytes();
}

uint64_t CompileService::uploaded_weight_bytes(DeviceId device) const {
  return TargetOf(device).weights.uploaded_bytes();
}

void CompileService::Run(const CompiledKey& key,
                         const std::shared_ptr<const LoadedGraph>& graph,
                         PooledDevice& device, FirstRun first_run,
                         bool estimates_devices) {
  absl::StatusOr<Compiled> outcome = absl::UnknownError("");
  absl::StatusOr<std::shared_ptr<CompiledGraph>> planned =
      Plan(key, *graph, TargetOf(key.device));
  if (planned.ok()) {
    outcome = Prepare(*planned, device.device(), std::move(first_run));
    // Behind the first run, which has been queued and asks for it no more.
    if (outcome.ok() && estimates_devices) {
      (*planned)->device_estimates = EstimateDevices(*graph, key, **planned);
    }
  } else {
    outcome = planned.status();
  }
  if (!outcome.ok()) device.CheckHealth();
  cache_.Complete(key, std::move(outcome), graph);
  Trim();
}

void CompileService::Recompile(CompiledCache::Used used) {
  {
    absl::MutexLock lock(&mu_);
    const auto [pending, is_first] = recompiled_.try_emplace(used.key, false);
    if (!is_first) {
      pending->second = true;
      return;
    }
  }
  SubmitRecompilation(used.key, std::move(used.graph));
}

// One at a time of each key: two would finish in any order, and the one that
// was planned first might stay.
void CompileService::SubmitRecompilation(
    const CompiledKey& key, std::weak_ptr<const LoadedGraph> graph) {
  threads_.Submit([this, key, graph = std::move(graph)](
                      const absl::Status& admission) mutable {
    if (!admission.ok()) {
      // The tuner offers it again.
      cache_.PutBack(key);
      absl::MutexLock lock(&mu_);
      recompiled_.erase(key);
      return;
    }
    CompileAgain(key, graph);
    {
      absl::MutexLock lock(&mu_);
      const auto pending = recompiled_.find(key);
      if (!pending->second) {
        recompiled_.erase(pending);
        return;
      }
      pending->second = false;
    }
    SubmitRecompilation(key, std::move(graph));
  });
}

void CompileService::CompileAgain(
    const CompiledKey& key, const std::weak_ptr<const LoadedGraph>& weak) {
  const std::shared_ptr<const LoadedGraph> graph = weak.lock();
  if (graph == nullptr) return;
  Target& target = TargetOf(key.device);
  absl::StatusOr<std::shared_ptr<CompiledGraph>> planned =
      Plan(key, *graph, target);
  if (!planned.ok()) return;
  // Where runs end first does not turn on one kernel.
  if (const Compiled old = cache_.Peek(key); old != nullptr) {
    (*planned)->device_estimates = old->device_estimates;
  }
  absl::StatusOr<Compiled> compiled =
      Prepare(*std::move(planned), target.device, nullptr);
  if (!compiled.ok()) return;
  cache_.Replace(key, *std::move(compiled));
  Trim();
  SweepPrograms();
}

absl::StatusOr<std::shared_ptr<CompiledGraph>> CompileService::Plan(
    const CompiledKey& key, const LoadedGraph& graph, Target& target) {
  const absl::Time start = absl::Now();
  std::unique_ptr<Lane> lane;
  {
    absl::MutexLock lock(&target.mu);
    if (!target.idle_lanes.empty()) {
      lane = std::move(target.idle_lanes.back());
      target.idle_lanes.pop_back();
    }
  }
  if (lane == nullptr) {
    absl::StatusOr<std::unique_ptr<Lane>> made = target.device.CreateLane();
    if (!made.ok()) return made.status();
    lane = *std::move(made);
  }
  absl::StatusOr<std::shared_ptr<CompiledGraph>> planned =
      PlanGraph(graph.graph(), key.input_shapes, graph.options(), target.device,
                target.weights, *lane, EnvironmentOf(graph));
  {
    absl::MutexLock lock(&target.mu);
    target.idle_lanes.push_back(std::move(lane));
  }
  Observe("plan", absl::Now() - start);
  return planned;
}

std::vector<DeviceEstimate> CompileService::EstimateDevices(
    const LoadedGraph& graph, const CompiledKey& key,
    const CompiledGraph& compiled) {
  std::vector<DeviceEstimate> estimates;
  if (targets_.size() < 2 || compiled.flow != nullptr) return estimates;
  for (const auto& target : targets_) {
    const Compiled sibling =
        cache_.Peek({key.graph_id, target->device.info().id,
                     absl::MakeConstSpan(key.input_shapes)});
    if (sibling != nullptr && !sibling->device_estimates.empty()) {
      return sibling->device_estimates;
    }
  }
  const CompilerEnvironment& environment = EnvironmentOf(graph);
  // Devices that are alike need one look. The first is this graph's own.
  std::vector<std::pair<const DeviceInfo*, GraphEstimate>> known;
  const DeviceInfo& own = environment.InfoOf(TargetOf(key.device).device);
  known.emplace_back(&own,
                     GraphEstimate{LaunchesNs(compiled), compiled.transfers});
  for (const auto& target : targets_) {
    const DeviceInfo& info = environment.InfoOf(target->device);
    if (!graph.capable()[static_cast<int>(info.id.backend)]) continue;
    const auto alike = std::find_if(
        known.begin(), known.end(),
        [&](const auto& entry) { return HaveSameRates(*entry.first, info); });
    GraphEstimate estimate;
    if (alike != known.end()) {
      estimate = alike->second;
    } else {
      const absl::StatusOr<std::optional<GraphEstimate>> made =
          EstimateGraph(graph.graph(), key.input_shapes, graph.options(),
                        target->device, environment);
      // Without kernels for these shapes it is no candidate.
      if (!made.ok() || !made->has_value()) continue;
      estimate = **made;
      known.emplace_back(&info, estimate);
    }
    estimates.push_back(
        {info.id, estimate.launches_ns + estimate.transfers.EstimateNs(info)});
  }
  return estimates;
}

absl::StatusOr<CompileService::Compiled> CompileService::Prepare(
    std::shared_ptr<CompiledGraph> planned, Device& device,
    FirstRun first_run) {
  const absl::Time start = absl::Now();
  auto channel = std::make_shared<PreparationChannel>(kPipelineDepth);
  if (!is_pipelined_ || first_run == nullptr || !first_run(planned, channel)) {
    channel->Detach();
  }
  absl::Status status =
      PrepareNodes(*planned, device, *channel, environment_.max_peak_bytes);
  Observe("prepare", absl::Now() - start);
  if (!status.ok()) return status;
  return planned;
}

CompileService::Target& CompileService::TargetOf(DeviceId device) const {
  for (const auto& target : targets_) {
    if (target->device.info().id == device) return *target;
  }
  // Devices are those of the pool, and all of them have a target.
  return *targets_.front();
}

}  // namespace tensord
