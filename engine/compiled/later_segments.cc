#include "engine/compiled/later_segments.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/compiled/bind_node.h"
#include "engine/compiled/step_builder.h"
#include "engine/infer/infer.h"

namespace tensord {
namespace {

// A segment compiled for one set of extents reads constants that this inference
// holds, so it keeps them.
struct SegmentWithConstants {
  Segment segment;
  std::vector<HostTensor> constants;
};

uint64_t FootprintOf(const Segment& segment) {
  uint64_t bytes = sizeof(SegmentWithConstants);
  for (const Step& step : segment.steps) {
    bytes += kStepFootprintBytes + StateFootprintBytes(step);
  }
  return bytes;
}

}  // namespace

LaterSegments::LaterSegments(std::shared_ptr<const Graph> graph,
                             std::vector<Shape> inputs, CompileOptions options,
                             Schedule schedule, SidePlan sides,
                             Placement placement,
                             std::vector<PlannedLaunch> launches,
                             Device& device,
                             const CompilerEnvironment& environment)
    : graph_(std::move(graph)),
      inputs_(std::move(inputs)),
      options_(std::move(options)),
      schedule_(std::move(schedule)),
      sides_(std::move(sides)),
      placement_(std::move(placement)),
      launches_(std::move(launches)),
      device_(device),
      environment_(environment) {
  int32_t launch = 0;
  for (const auto& nodes : schedule_.segments) {
    first_launch_.push_back(launch);
    launch += static_cast<int32_t>(nodes.size());
  }
}

absl::StatusOr<std::shared_ptr<const Segment>> LaterSegments::Get(
    int index, absl::Span<const int64_t> extents) {
  // Cells of this segment and of later ones hold nothing yet.
  size_t told = 0;
  for (const Schedule::Cells& cells : schedule_.cells) {
    if (cells.segment < index) told += cells.extents.size();
  }
  const Key key(index, {extents.begin(), extents.begin() + told});
  if (std::shared_ptr<const Segment> segment = Find(key)) return segment;
  absl::StatusOr<std::shared_ptr<const Segment>> segment =
      Compile(index, extents.first(told));
  if (!segment.ok()) return segment;
  Keep(key, *segment);
  if (environment_.growth != nullptr) environment_.growth->OnGrowth();
  return segment;
}

absl::StatusOr<std::vector<Shape>> LaterSegments::OutputShapes(
    absl::Span<const int64_t> extents) {
  absl::StatusOr<Inference> inference = Infer(extents);
  if (!inference.ok()) return inference.status();
  std::vector<Shape> shapes;
  for (ValueId output : graph_->outputs) {
    absl::StatusOr<Shape> shape = ToConcrete(*inference->types[output].shape);
    if (!shape.ok()) return shape.status();
    shapes.push_back(*std::move(shape));
  }
  return shapes;
}

absl::StatusOr<Inference> LaterSegments::Infer(
    absl::Span<const int64_t> extents) const {
  KnownExtents known;
  for (const Schedule::Cells& cells : schedule_.cells) {
    if (cells.extents.empty() || cells.extents.back().extent_cell_index >=
                                     static_cast<int32_t>(extents.size())) {
      continue;
    }
    for (const ExtentBinding& binding : cells.extents) {
      const int64_t extent = extents[binding.extent_cell_index];
      if (extent < 0 || extent > binding.upper_bound) {
        return WithNode(
            absl::InternalError(absl::StrCat(
                "its kernel wrote extent ", extent, " for dimension ",
                binding.dimension, ", outside [0, ", binding.upper_bound, "]")),
            graph_->nodes[cells.node].name);
      }
      known.extents[binding.value].emplace_back(binding.dimension, extent);
    }
  }
  return InferGraph(*graph_, inputs_, known, environment_.limits,
                    environment_.evaluator);
}

absl::StatusOr<std::shared_ptr<const Segment>> LaterSegments::Compile(
    int index, absl::Span<const int64_t> extents) const {
  absl::StatusOr<Inference> inference = Infer(extents);
  if (!inference.ok()) return inference.status();
  Device* const host = environment_.HostOf(device_);
  const BindingScope on_device{*graph_, *inference,
                               environment_.InfoOf(device_), options_,
                               environment_};
  const BindingScope on_host{
      *graph_, *inference,
      environment_.InfoOf(host != nullptr ? *host : device_), options_,
      environment_};
  auto result = std::make_shared<SegmentWithConstants>();
  StateBudget budget{.max_bytes = environment_.max_peak_bytes};
  int32_t launch = first_launch_[index];
  for (NodeId node : schedule_.segments[index]) {
    const PlannedLaunch& planned = launches_[launch];
    // An extent that this very segment tells stands at its bound. At the real
    // extents another sibling may be the first that accepts, but it has to make
    // do with the memory that was planned at the bounds.
    absl::StatusOr<BoundNode> bound = BindNode(
        planned.runs_on_host ? on_host : on_device, node,
        [&](ValueId value) { return BoundShape(*inference, value); },
        planned.workspace_bytes);
    if (!bound.ok()) return bound.status();
    bound->runs_on_host = planned.runs_on_host;
    Step step = MakeStep(*graph_, schedule_, placement_, node, launch++,
                         *std::move(bound));
    if (absl::Status status = PrepareStep(*graph_, device_, host, budget, step);
        !status.ok()) {
      return status;
    }
    result->segment.steps.push_back(std::move(step));
  }
  absl::StatusOr<std::vector<Stretch>> stretches =
      MakeStretches(*inference, sides_, placement_, index);
  if (!stretches.ok()) return stretches.status();
  result->segment.stretches = *std::move(stretches);
  result->constants = std::move(inference->constants);
  return std::shared_ptr<const Segment>(result, &result->segment);
}

std::shared_ptr<const Segment> LaterSegments::Find(const Key& key) {
  absl::MutexLock lock(&mu_);
  const auto it = by_key_.find(key);
  if (it == by_key_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, it->second);
  return it->second->segment;
}

void LaterSegments::Keep(const Key& key,
                         std::shared_ptr<const Segment> segment) {
  const uint64_t bytes = FootprintOf(*segment);
  Kept last;  // dies behind the lock
  absl::MutexLock lock(&mu_);
  if (by_key_.contains(key)) return;
  kept_.push_front({key, std::move(segment), bytes});
  kept_bytes_ += bytes;
  by_key_[key] = kept_.begin();
  if (kept_.size() > kMaxKept) {
    last = std::move(kept_.back());
    kept_bytes_ -= last.bytes;
    by_key_.erase(last.key);
    kept_.pop_back();
  }
}

uint64_t LaterSegments::footprint_bytes() const {
  absl::MutexLock lock(&mu_);
  return kept_bytes_;
}

}  // namespace tensord
