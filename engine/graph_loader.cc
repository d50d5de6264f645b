#include "engine/graph_loader.h"

#include <algorithm>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "absl/synchronization/mutex.h"
#include "engine/graph/graph_builder.h"
#include "engine/graph/status_macros.h"
#include "engine/infer/input_shapes.h"

namespace tensord {

// A submission on its way to an answer.
struct GraphLoader::Pending {
  GraphId id;
  std::string principal;
  std::vector<std::vector<Shape>> compile_for;
  absl::Time start;
  Done done;

  GraphStore::Held held;
  absl::Mutex mu;
  size_t open ABSL_GUARDED_BY(mu) = 0;  // compilations without an outcome
  absl::Status status ABSL_GUARDED_BY(mu);
};

void GraphLoader::Submit(Engine::Submission submission, Done done) {
  auto pending = std::make_shared<Pending>();
  pending->id = submission.id;
  pending->principal = submission.principal;
  pending->compile_for = std::move(submission.compile_for);
  pending->start = absl::Now();
  pending->done = std::move(done);

  const bool is_first = store_.Join(
      submission.id, submission.principal,
      [this, pending](const absl::StatusOr<GraphStore::Held>& held) {
        if (!held.ok()) return pending->done(held.status());
        pending->held = *held;
        CompileForHints(pending);
      });
  if (!is_first) return;
  parts_.threads.Submit([this, submission = std::move(submission)](
                            const absl::Status& admission) mutable {
    if (!admission.ok()) return Complete(submission.id, admission);
    Load(std::move(submission));
  });
}

absl::Status GraphLoader::Drop(absl::string_view id,
                               absl::string_view principal) {
  absl::StatusOr<bool> is_gone = store_.Drop(id, principal);
  if (!is_gone.ok()) return is_gone.status();
  if (*is_gone) {
    parts_.compiler.EraseGraph(id);
    ShareBudget();
  }
  return absl::OkStatus();
}

void GraphLoader::Load(Engine::Submission submission) {
  const absl::Time start = absl::Now();
  absl::StatusOr<std::shared_ptr<const LoadedGraph>> loaded =
      MakeLoaded(submission);
  parts_.compiler.Observe("load", absl::Now() - start);
  if (!loaded.ok()) return Complete(submission.id, loaded.status());
  if (!(*loaded)->fixed_input_shapes().has_value()) {
    return Complete(submission.id, std::move(loaded));
  }
  absl::StatusOr<PooledDevice*> device =
      parts_.devices.Choose((*loaded)->capable(), {});
  // Whether a device is there is the executions' business.
  if (!device.ok()) return Complete(submission.id, std::move(loaded));
  parts_.compiler.CompileHere(
      *loaded, *(*loaded)->fixed_input_shapes(), **device,
      [this, loaded = *loaded](
          const absl::StatusOr<CompiledCache::Compiled>& compiled) {
        if (!compiled.ok()) return Complete(loaded->id(), compiled.status());
        Complete(loaded->id(), loaded);
      });
}

absl::StatusOr<std::shared_ptr<const LoadedGraph>> GraphLoader::MakeLoaded(
    Engine::Submission& submission) const {
  TENSORD_ASSIGN_OR_RETURN(GraphDef definition, submission.decode());
  submission.decode = nullptr;  // and the received bytes with it
  const GraphLimits& limits = parts_.options.limits;
  TENSORD_ASSIGN_OR_RETURN(Graph built,
                           BuildGraph(std::move(definition), limits));
  auto graph = std::make_shared<const Graph>(std::move(built));
  TENSORD_ASSIGN_OR_RETURN(Inference inference,
                           InferGraph(*graph, limits, parts_.evaluator));
  TENSORD_ASSIGN_OR_RETURN(const BackendSet capable,
                           FindCapable(*graph, inference));
  return std::make_shared<const LoadedGraph>(
      submission.id, std::move(graph), std::move(inference), capable,
      submission.options, submission.source_bytes, absl::Now());
}

absl::StatusOr<BackendSet> GraphLoader::FindCapable(
    const Graph& graph, const Inference& inference) const {
  BackendSet capable, tried;
  absl::Status refusal;
  const bool has_computing = parts_.devices.has_computing_device();
  for (const auto& device : parts_.devices.devices()) {
    // A backend that runs anything, because it computes nothing, proves nothing
    // for those that would have to.
    if (has_computing && !device->info().computes) continue;
    const BackendId backend = device->info().id.backend;
    const auto index = static_cast<int>(backend);
    if (tried[index]) continue;
    tried[index] = true;
    absl::InlinedVector<BackendId, 2> backends{backend};
    if (parts_.host != nullptr && HostCompanion::Helps(device->info())) {
      backends.push_back(parts_.host->device->info().id.backend);
    }
    absl::Status status =
        CheckBindings(graph, inference, backends, parts_.table);
    if (status.ok()) capable[index] = true;
    refusal.Update(status);
  }
  if (capable.none()) return refusal;
  return capable;
}

void GraphLoader::Complete(
    const GraphId& id,
    absl::StatusOr<std::shared_ptr<const LoadedGraph>> outcome) {
  for (const GraphId& evicted : store_.Complete(id, outcome)) {
    parts_.compiler.EraseGraph(evicted);
  }
  ShareBudget();
}

void GraphLoader::CompileForHints(std::shared_ptr<Pending> pending) {
  const std::shared_ptr<const LoadedGraph> graph = pending->held.graph;
  const size_t count = pending->compile_for.size();
  {
    absl::MutexLock lock(&pending->mu);
    pending->open = count + 1;  // one for this function itself
  }
  const auto close = [this, pending](const absl::Status& status) {
    absl::Status outcome;
    {
      absl::MutexLock lock(&pending->mu);
      pending->status.Update(status);
      if (--pending->open > 0) return;
      outcome = pending->status;
    }
    const bool was_held = pending->held.was_held;
    if (!outcome.ok()) {
      // A refused submission leaves nothing behind.
      if (!was_held) Drop(pending->id, pending->principal).IgnoreError();
      return pending->done(outcome);
    }
    const bool was_there = was_held && pending->compile_for.empty();
    pending->done(Engine::SubmitOutcome{
        .graph = pending->held.graph,
        .already_known = was_held,
        .compile_time =
            was_there ? absl::ZeroDuration() : absl::Now() - pending->start});
  };
  for (const std::vector<Shape>& shapes : pending->compile_for) {
    absl::Status status =
        CheckInputShapes(*graph->graph(), shapes, parts_.options.limits);
    absl::StatusOr<PooledDevice*> device =
        parts_.devices.Choose(graph->capable(), {});
    status.Update(device.status());
    if (!status.ok()) {
      close(status);
      continue;
    }
    parts_.compiler.Compile(
        graph, shapes, **device,
        [close](const absl::StatusOr<CompiledCache::Compiled>& compiled) {
          close(compiled.status());
        });
  }
  close(absl::OkStatus());
}

// Graphs come first, since a client would have to send one again; compiled
// graphs get what is left, and always an eighth.
void GraphLoader::ShareBudget() {
  const uint64_t budget = parts_.options.graph_cache_bytes;
  const uint64_t left = budget - std::min(budget, store_.bytes());
  parts_.compiler.SetMaxBytes(std::max(left, budget / 8));
}

}  // namespace tensord
