#include "engine/dispatcher.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "engine/cache/compiled_key.h"
#include "engine/infer/input_shapes.h"
#include "engine/input_check.h"

namespace tensord {
namespace {

// What compiling for a device is taken to last: a guess. Models of some hundred
// nodes take about so long; what matters is that it is not free.
constexpr double kCompilationNs = 100e6;

// After a failure of compiling ahead, which every run would ask for again.
constexpr absl::Duration kAheadPause = absl::Seconds(10);

CompiledKeyView KeyOf(const Execution& execution, DeviceId device) {
  return {execution.graph->id(), device,
          absl::Span<const HostValue>(execution.inputs)};
}

std::vector<Shape> ShapesOf(const Execution& execution) {
  std::vector<Shape> shapes;
  for (const HostValue& input : execution.inputs) shapes.push_back(input.shape);
  return shapes;
}

}  // namespace

void Dispatcher::Start(Execution& execution) {
  open_.Open(execution);
  absl::Status status = Check(execution);
  if (!status.ok()) return open_.Answer(execution, std::move(status));
  Dispatch(execution, Thread::kCallers);
}

void Dispatcher::Cancel(Execution& execution) {
  // In this order: who sees the second one finds the reason in the first.
  execution.is_cancelled.store(true);
  execution.is_stopped.store(true);
  // It may change rooms meanwhile; a room that it enters now sees the flag.
  while (WaitingRoom* room = execution.links.room.load()) {
    if (!room->Withdraw(execution)) continue;
    open_.Answer(execution, absl::CancelledError("cancelled while it waited"));
    return;
  }
}

void Dispatcher::Reroute(Execution& execution) {
  if (execution.wish.device.has_value()) {
    PooledDevice* wanted = devices_.Find(*execution.wish.device);
    absl::Status lost = wanted->Availability();
    if (!lost.ok()) return open_.Answer(execution, std::move(lost));
  }
  if (execution.preparation != nullptr) {
    execution.preparation->Detach();
    execution.preparation.reset();
  }
  execution.compiled.reset();
  Dispatch(execution, Thread::kEngines);
}

absl::Status Dispatcher::Check(const Execution& execution) const {
  if (!is_accepting_.load(std::memory_order_relaxed)) {
    return absl::UnavailableError("the daemon is draining");
  }
  if (execution.is_cancelled.load(std::memory_order_relaxed)) {
    return absl::CancelledError("cancelled before it was started");
  }
  return CheckInputs(*execution.graph->graph(), execution.inputs);
}

void Dispatcher::Dispatch(Execution& execution, Thread thread) {
  const std::shared_ptr<const CompiledGraph> known = FindCompiled(execution);
  absl::StatusOr<PooledDevice*> device =
      devices_.Choose(execution.graph->capable(), execution.wish,
                      known == nullptr ? absl::Span<const DeviceEstimate>()
                                       : known->device_estimates);
  if (!device.ok()) return open_.Answer(execution, device.status());
  PooledDevice* chosen = *device;
  execution.compiled = compiler_.Find(KeyOf(execution, chosen->info().id));
  if (execution.compiled == nullptr && known != nullptr) {
    PooledDevice* sooner = ChooseWithCompilation(execution, *known);
    if (sooner != nullptr && sooner != chosen) {
      CompileAhead(execution, *chosen);
      chosen = sooner;
      execution.compiled = compiler_.Find(KeyOf(execution, chosen->info().id));
    }
  }
  if (execution.compiled != nullptr) {
    Run(*chosen, execution, thread);
  } else {
    AwaitCompilation(*chosen, execution);
  }
}

PooledDevice* Dispatcher::ChooseWithCompilation(
    const Execution& execution, const CompiledGraph& known) const {
  std::vector<DeviceEstimate> estimates = known.device_estimates;
  for (DeviceEstimate& it : estimates) {
    if (compiler_.Peek(KeyOf(execution, it.device)) == nullptr) {
      it.ns += kCompilationNs;
    }
  }
  const absl::StatusOr<PooledDevice*> device =
      devices_.Choose(execution.graph->capable(), execution.wish, estimates);
  return device.ok() ? *device : nullptr;
}

void Dispatcher::CompileAhead(const Execution& execution,
                              PooledDevice& device) {
  if (absl::GetCurrentTimeNanos() < next_ahead_ns_.load()) return;
  if (is_compiling_ahead_.exchange(true)) return;
  compiler_.Compile(
      execution.graph, ShapesOf(execution), device,
      [this](const absl::StatusOr<CompileService::Compiled>& compiled) {
        if (!compiled.ok()) {
          next_ahead_ns_.store(absl::GetCurrentTimeNanos() +
                               absl::ToInt64Nanoseconds(kAheadPause));
        }
        is_compiling_ahead_.store(false);
      });
}

// For any device: each that was compiled without a wish for one knows what the
// run takes on the others too. Nothing is looked up where there is no choice.
std::shared_ptr<const CompiledGraph> Dispatcher::FindCompiled(
    const Execution& execution) const {
  if (devices_.devices().size() < 2 || execution.wish.device.has_value()) {
    return nullptr;
  }
  for (const auto& device : devices_.devices()) {
    std::shared_ptr<const CompiledGraph> compiled =
        compiler_.Peek(KeyOf(execution, device->info().id));
    if (compiled != nullptr && !compiled->device_estimates.empty()) {
      return compiled;
    }
  }
  return nullptr;
}

void Dispatcher::Run(PooledDevice& device, Execution& execution,
                     Thread thread) {
  if (thread == Thread::kCallers && device.TryRunInline(execution)) return;
  absl::Status status = device.Enqueue(execution);
  if (status.ok()) return;
  if (device.is_lost()) return Reroute(execution);
  open_.Answer(execution, std::move(status));
}

// Once the execution waits it may be answered at any time, so that everything
// else is taken from it before, and it is then known by its ticket.
void Dispatcher::AwaitCompilation(PooledDevice& device, Execution& execution) {
  std::vector<Shape> shapes = ShapesOf(execution);
  std::shared_ptr<const LoadedGraph> graph = execution.graph;
  const bool is_named = execution.wish.device.has_value();
  absl::Status status = CheckInputShapes(*graph->graph(), shapes, limits_);
  if (!status.ok()) return open_.Answer(execution, std::move(status));
  const absl::StatusOr<uint64_t> added =
      waiters_.Add(execution, device.expected_count());
  if (!added.ok()) return open_.Answer(execution, added.status());

  const uint64_t ticket = *added;
  compiler_.Compile(
      std::move(graph), std::move(shapes), device,
      [this, &device,
       ticket](const absl::StatusOr<CompileService::Compiled>& compiled) {
        OnCompiled(device, ticket, compiled);
      },
      [this, &device, ticket](
          const CompileService::Compiled& planned,
          const std::shared_ptr<PreparationChannel>& channel) {
        return RunAlong(device, ticket, planned, channel);
      },
      /*estimates_devices=*/!is_named);
}

void Dispatcher::OnCompiled(
    PooledDevice& device, uint64_t ticket,
    const absl::StatusOr<CompileService::Compiled>& compiled) {
  Execution* execution = waiters_.Take(ticket);
  if (execution == nullptr) return;
  if (compiled.ok()) {
    execution->compiled_ns.store(absl::GetCurrentTimeNanos(),
                                 std::memory_order_relaxed);
    execution->compiled = *compiled;
    Run(device, *execution, Thread::kEngines);
  } else if (device.is_lost()) {
    Reroute(*execution);
  } else {
    open_.Answer(*execution, compiled.status());
  }
}

bool Dispatcher::RunAlong(PooledDevice& device, uint64_t ticket,
                          const CompileService::Compiled& planned,
                          const std::shared_ptr<PreparationChannel>& channel) {
  // Behind other work the run would only hold up the compiler.
  if (device.open_count() >= device.lane_count()) return false;
  Execution* execution = waiters_.Take(ticket);
  if (execution == nullptr) return false;
  execution->compiled = planned;
  execution->preparation = channel;
  Run(device, *execution, Thread::kEngines);
  return true;
}

}  // namespace tensord
