#ifndef TENSORD_ENGINE_TUNE_TRIAL_CANDIDATE_H_
#define TENSORD_ENGINE_TUNE_TRIAL_CANDIDATE_H_

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/time/time.h"
#include "backends/api/kernel.h"
#include "engine/compiled/kernel_binding_table.h"

namespace tensord {

// The kernels of a backend that take a node, in the order of the table.
inline std::vector<const KernelEntry*> AcceptingSiblings(
    const KernelBindingTable& table, const NodeSite& site, BackendId backend) {
  std::vector<const KernelEntry*> accepting;
  for (const KernelBinding& binding :
       table.Siblings(site.op, site.dtypes, site.input_count, backend)) {
    if (KernelAccepts(*binding.entry, site).ok()) {
      accepting.push_back(binding.entry);
    }
  }
  return accepting;
}

// A sibling in a trial's race. Threading: the tuner's thread. Ownership:
// borrows the table's entry and the trial's state.
struct TrialCandidate {
  const KernelEntry* entry = nullptr;
  const KernelState* state = nullptr;
  bool agrees = true;
  bool is_racing = true;
  std::vector<absl::Duration> times;  // a launch each

  // Both: it was launched.
  absl::Duration best() const {
    return *std::min_element(times.begin(), times.end());
  }
  absl::Duration Median() {
    const auto middle = times.begin() + times.size() / 2;
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
  }
};

// After this many rounds a sibling whose quickest launch takes this many times
// as long as the best one's is out of the race. With half as many, a machine
// busy with other processes dropped the fastest one.
inline constexpr int kRoundsBeforeDropping = 4;
inline constexpr double kHopeless = 4;

// The first stays, here and below: the others are measured against it.
inline void DropTheHopeless(std::vector<TrialCandidate>& candidates) {
  absl::Duration best = absl::InfiniteDuration();
  for (const TrialCandidate& candidate : candidates) {
    if (candidate.is_racing) best = std::min(best, candidate.best());
  }
  for (size_t c = 1; c < candidates.size(); ++c) {
    TrialCandidate& candidate = candidates[c];
    if (!candidate.is_racing) continue;
    candidate.is_racing = candidate.best() <= best * kHopeless;
  }
}

// The estimate is the chosen kernel's, and a sibling may take a hundred times
// as long: its check and one launch are all that clients wait for.
inline void DropTheLong(absl::Duration limit,
                        std::vector<TrialCandidate>& candidates) {
  for (size_t c = 1; c < candidates.size(); ++c) {
    TrialCandidate& candidate = candidates[c];
    if (!candidate.is_racing) continue;
    candidate.is_racing = candidate.best() <= limit;
  }
}

}  // namespace tensord

#endif  // TENSORD_ENGINE_TUNE_TRIAL_CANDIDATE_H_
