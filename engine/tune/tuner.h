#ifndef TENSORD_ENGINE_TUNE_TUNER_H_
#define TENSORD_ENGINE_TUNE_TUNER_H_

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "backends/api/host_services.h"
#include "engine/compile_service.h"
#include "engine/compiled/kernel_binding_table.h"
#include "engine/pool/device_pool.h"
#include "engine/tune/trial.h"
#include "engine/tune/trial_lane.h"
#include "engine/tune/tuner_options.h"
#include "engine/tune/tuning_budget.h"
#include "engine/tune/tuning_file.h"
#include "engine/tune/tuning_table.h"

namespace tensord {

// Measures kernels in the background: takes compiled graphs that are used
// often, runs a trial for each of their nodes that has a choice and is not
// known yet, keeps what it finds in the table and in a file, and has graphs
// compiled again whose nodes would get other kernels now. Graphs that must be
// deterministic are left alone.
//
// Threading: one thread at the lowest priority. Start() and Stop() by the
// owner;
//   stats() from any thread.
// Ownership: borrows everything, which outlives it. Stop() ends a trial after
//   the launch that is under way; the destructor waits for what a device still
//   does.
class Tuner {
 public:
  struct Parts {
    const KernelBindingTable& kernels;
    DevicePool& devices;
    CompileService& compiler;
    TuningTable& table;
    HostServices services;
  };
  // Puts what is remembered on disk for each device of the pool into the table;
  // one log line tells of a file that cannot be used.
  Tuner(const TunerOptions& options, const Parts& parts);
  ~Tuner();

  void Start();
  void Stop();

  TuningStats stats() const;

 private:
  // What became of one step.
  enum class Outcome { kFaster, kKept, kSkipped, kFailed };

  // What a step is known by in the table. A plain value.
  struct SiteId {
    std::string device;  // TuningDevice()
    std::string key;     // SiteKey()

    friend bool operator==(const SiteId&, const SiteId&) = default;
    template <typename H>
    friend H AbslHashValue(H hash, const SiteId& site) {
      return H::combine(std::move(hash), site.device, site.key);
    }
  };

  void ReadFiles();
  void Work();
  // False when the tuner was stopped meanwhile.
  bool Sleep(absl::Duration duration);
  bool AwaitBudget();

  void TuneGraph(const CompiledCache::Used& used);
  bool NeedsTrial(const Step& step, const SiteId& site) const;
  // False when the device is too busy now.
  bool TuneStep(const std::shared_ptr<const CompiledGraph>& graph,
                const Step& step, const SiteId& site, PooledDevice& device);
  absl::StatusOr<TrialResult> Measure(
      const std::shared_ptr<const CompiledGraph>& graph, const Step& step,
      PooledDevice& device);
  Outcome Keep(const Step& step, const SiteId& site, const PooledDevice& device,
               const TrialResult& result);
  void Fail(const Step& step, const SiteId& site, PooledDevice& device,
            const absl::Status& status);
  // Whether a step would get another kernel now.
  bool IsOutdated(const Step& step, const SiteId& site) const;
  std::shared_ptr<const MeasuredSite> Known(const SiteId& site) const;
  // Not worth another trial.
  void Decline(const SiteId& site);
  void Count(Outcome outcome);
  void Save(const PooledDevice& device);

  const TunerOptions options_;
  const Parts parts_;
  const std::string build_;
  TuningBudget budget_;
  // The tuner's thread's own; null for a device that is given up.
  absl::flat_hash_map<DeviceId, std::unique_ptr<TrialLane>> lanes_;
  std::vector<std::unique_ptr<TrialLane>> given_up_;
  absl::flat_hash_set<SiteId> declined_;
  bool is_unsaved_ = false;

  std::atomic<bool> is_stopped_{false};
  mutable absl::Mutex mu_;
  TuningStats stats_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_TUNE_TUNER_H_
