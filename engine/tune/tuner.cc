#include "engine/tune/tuner.h"

#include <pthread.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "backends/api/revisions.h"
#include "engine/compiled/bind_node.h"
#include "engine/graph/status_macros.h"
#include "engine/pool/low_priority.h"
#include "engine/tune/site_key.h"
#include "engine/tune/trial_candidate.h"

namespace tensord {
namespace {

NodeSite SiteOfStep(const Step& step) {
  return SiteOf(step.node, step.layouts, step.host_constants);
}

// The build id covers the contract and the compiler, not the kernels: their
// names and revisions do.
std::string BuildOf(const KernelBindingTable& kernels) {
  std::string all;
  kernels.ForEach([&](const KernelBinding& binding) {
    absl::StrAppend(&all, BackendName(binding.backend), " ",
                    binding.entry->name, " ", binding.revision_hash, "\n");
  });
  return absl::StrCat(BuildId(), "-", ShortDigest(all));
}

void Log(Logger* logger, LogSeverity severity, absl::string_view event,
         const std::vector<Logger::Field>& fields) {
  if (logger != nullptr) logger->Log(severity, event, fields);
}

std::string Microseconds(double ns) {
  return absl::StrFormat("%.4gus", ns * 1e-3);
}

}  // namespace

Tuner::Tuner(const TunerOptions& options, const Parts& parts)
    : options_(options),
      parts_(parts),
      build_(BuildOf(parts.kernels)),
      budget_(absl::Seconds(options.seconds_per_hour), absl::Now()) {
  ReadFiles();
}

Tuner::~Tuner() { Stop(); }

void Tuner::ReadFiles() {
  if (options_.directory.empty()) return;
  for (const auto& device : parts_.devices.devices()) {
    const TuningOwner owner{build_, TuningDevice(device->info())};
    const std::string path = TuningPath(options_.directory, owner);
    const auto entries = ReadTuning(path, owner);
    if (absl::IsNotFound(entries.status())) continue;
    const std::string device_name = device->info().id.ToString();
    if (!entries.ok()) {
      Log(parts_.services.logger, LogSeverity::kWarning, "tuning file ignored",
          {{"device", device_name},
           {"file", path},
           {"why", std::string(entries.status().message())}});
      continue;
    }
    for (const TuningEntry& entry : *entries) {
      parts_.table.Store(owner.device, entry);
    }
    Log(parts_.services.logger, LogSeverity::kInfo, "tuning file read",
        {{"device", device_name},
         {"file", path},
         {"sites", absl::StrCat(entries->size())}});
  }
}

void Tuner::Start() {
  thread_ = std::thread([this] { Work(); });
}

void Tuner::Stop() {
  {
    absl::MutexLock lock(&mu_);
    is_stopped_.store(true);
  }
  if (thread_.joinable()) thread_.join();
}

TuningStats Tuner::stats() const {
  absl::MutexLock lock(&mu_);
  TuningStats stats = stats_;
  stats.is_on = true;
  stats.remembered = parts_.table.size();
  return stats;
}

void Tuner::Work() {
  pthread_setname_np(pthread_self(), "tuner");
  if (options_.has_lowest_priority) LowerPriority();
  do {
    for (;;) {
      // Before one is taken: no graph is kept alive for a wait.
      if (!AwaitBudget()) return;
      auto used = parts_.compiler.TakeUsed(options_.min_uses);
      if (!used.has_value()) break;
      TuneGraph(*used);
    }
  } while (Sleep(options_.interval));
}

bool Tuner::Sleep(absl::Duration duration) {
  absl::MutexLock lock(&mu_);
  const auto is_stopped = [this] { return is_stopped_.load(); };
  return !mu_.AwaitWithTimeout(absl::Condition(&is_stopped), duration);
}

bool Tuner::AwaitBudget() {
  for (;;) {
    const absl::Duration wait = budget_.Wait(absl::Now());
    if (wait == absl::ZeroDuration()) return !is_stopped_.load();
    if (!Sleep(wait)) return false;
  }
}

void Tuner::TuneGraph(const CompiledCache::Used& used) {
  PooledDevice* device = parts_.devices.Find(used.key.device);
  const std::shared_ptr<const LoadedGraph> graph = used.graph.lock();
  if (device == nullptr || graph == nullptr || !device->info().computes ||
      graph->options().deterministic) {
    return;
  }
  bool is_outdated = false;
  bool is_put_off = false;
  for (const Step& step : used.compiled->first.steps) {
    if (is_stopped_.load() || device->is_lost()) break;
    // Its siblings are another device's, of which there is no trial lane here.
    if (step.runs_on_host) continue;
    const SiteId site{TuningDevice(device->info()), SiteKey(SiteOfStep(step))};
    if (NeedsTrial(step, site)) {
      is_put_off = budget_.Wait(absl::Now()) > absl::ZeroDuration() ||
                   !TuneStep(used.compiled, step, site, *device);
      if (is_put_off) break;
    }
    is_outdated |= IsOutdated(step, site);
  }
  Save(*device);
  if (is_stopped_.load()) return;
  // What is known so far need not wait for the rest.
  if (is_outdated) parts_.compiler.Recompile(used);
  if (is_put_off) parts_.compiler.PutBack(used.key);
}

bool Tuner::NeedsTrial(const Step& step, const SiteId& site) const {
  if (step.node.estimated_ns <
      absl::ToDoubleNanoseconds(options_.min_estimate)) {
    return false;
  }
  if (Known(site) != nullptr || declined_.contains(site)) return false;
  return AcceptingSiblings(parts_.kernels, SiteOfStep(step), step.node.backend)
             .size() > 1;
}

bool Tuner::TuneStep(const std::shared_ptr<const CompiledGraph>& graph,
                     const Step& step, const SiteId& site,
                     PooledDevice& device) {
  const absl::StatusOr<TrialResult> result = Measure(graph, step, device);
  if (result.ok()) {
    Count(Keep(step, site, device, *result));
  } else if (absl::IsAborted(result.status())) {
    return false;
  } else {
    Fail(step, site, device, result.status());
  }
  return true;
}

absl::StatusOr<TrialResult> Tuner::Measure(
    const std::shared_ptr<const CompiledGraph>& graph, const Step& step,
    PooledDevice& device) {
  const auto [lane, is_new] = lanes_.try_emplace(device.info().id);
  if (is_new) {
    TENSORD_ASSIGN_OR_RETURN(lane->second,
                             TrialLane::Create(device, parts_.services.workers,
                                               is_stopped_, options_));
  }
  if (lane->second == nullptr) {
    return absl::UnimplementedError("its device is not tuned any more");
  }
  const absl::Duration before = lane->second->spent();
  absl::StatusOr<TrialResult> result =
      RunTrial(graph, step, parts_.kernels, *lane->second, options_.trial);
  const absl::Duration spent = lane->second->spent() - before;
  budget_.Charge(spent, absl::Now());
  absl::MutexLock lock(&mu_);
  stats_.spent += spent;
  return result;
}

Tuner::Outcome Tuner::Keep(const Step& step, const SiteId& site,
                           const PooledDevice& device,
                           const TrialResult& result) {
  const std::string device_name = device.info().id.ToString();
  for (const std::string& disagreement : result.disagreements) {
    Log(parts_.services.logger, LogSeverity::kWarning,
        "kernel beyond tolerance",
        {{"device", device_name}, {"kernel", disagreement}});
  }
  {
    absl::MutexLock lock(&mu_);
    stats_.disagreements += result.disagreements.size();
  }
  const MeasuredSite& measured = result.site;
  const std::string op(OpKindName(step.node.op));
  if (parts_.table.Store(
          site.device,
          {site.key, op, std::make_shared<const MeasuredSite>(measured)})) {
    is_unsaved_ = true;
  } else {
    Decline(site);  // the table is full
  }
  Log(parts_.services.logger, LogSeverity::kDebug, "kernel tuned",
      {{"device", device_name},
       {"op", op},
       {"site", site.key},
       {"kernel", measured.best().kernel},
       {"time", Microseconds(measured.best().ns)},
       {"first", measured.siblings.front().kernel},
       {"first_time", Microseconds(measured.siblings.front().ns)}});
  return measured.chosen == 0 ? Outcome::kKept : Outcome::kFaster;
}

void Tuner::Fail(const Step& step, const SiteId& site, PooledDevice& device,
                 const absl::Status& status) {
  if (absl::IsCancelled(status)) return;
  Decline(site);
  const bool is_skipped = absl::IsUnimplemented(status);
  Count(is_skipped ? Outcome::kSkipped : Outcome::kFailed);
  Log(parts_.services.logger,
      is_skipped ? LogSeverity::kDebug : LogSeverity::kWarning,
      is_skipped ? "kernel not tuned" : "tuning failed",
      {{"device", device.info().id.ToString()},
       {"op", std::string(OpKindName(step.node.op))},
       {"why", std::string(status.message())}});
  if (is_skipped) return;
  device.CheckHealth();
  if (!absl::IsUnavailable(status)) return;
  // Its lane may never come back: it goes when the tuner does.
  given_up_.push_back(std::move(lanes_[device.info().id]));
}

void Tuner::Decline(const SiteId& site) {
  // So many are forgotten at once: a second try of each does no harm.
  if (declined_.size() >= TuningTable::kMaxSites) declined_.clear();
  declined_.insert(site);
}

std::shared_ptr<const MeasuredSite> Tuner::Known(const SiteId& site) const {
  return parts_.table.Find(site.device, site.key);
}

bool Tuner::IsOutdated(const Step& step, const SiteId& site) const {
  const std::shared_ptr<const MeasuredSite> known = Known(site);
  return known != nullptr && known->best().kernel != step.node.entry->name;
}

void Tuner::Count(Outcome outcome) {
  absl::MutexLock lock(&mu_);
  switch (outcome) {
    case Outcome::kFaster:
      ++stats_.faster;
      break;
    case Outcome::kKept:
      ++stats_.kept;
      break;
    case Outcome::kSkipped:
      ++stats_.skipped;
      break;
    case Outcome::kFailed:
      ++stats_.failed;
      break;
  }
}

void Tuner::Save(const PooledDevice& device) {
  if (options_.directory.empty() || !is_unsaved_) return;
  is_unsaved_ = false;
  const TuningOwner owner{build_, TuningDevice(device.info())};
  const std::string path = TuningPath(options_.directory, owner);
  const absl::Status status =
      WriteTuning(path, owner, parts_.table.Entries(owner.device));
  if (status.ok()) return;
  Log(parts_.services.logger, LogSeverity::kWarning, "tuning not saved",
      {{"file", path}, {"why", std::string(status.message())}});
}

}  // namespace tensord
