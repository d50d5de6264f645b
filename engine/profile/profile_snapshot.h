#ifndef TENSORD_ENGINE_PROFILE_PROFILE_SNAPSHOT_H_
#define TENSORD_ENGINE_PROFILE_PROFILE_SNAPSHOT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "backends/api/device_id.h"
#include "backends/api/dtype.h"
#include "engine/profile/duration_buckets.h"
#include "engine/profile/op_label.h"

// What the accounting says at one moment: rows, each with its identity and its
// monotonic numbers, ordered by identity. Rows exist from first use on.
//
// Threading and ownership: plain values.
namespace tensord::op_profile {

enum class Mode : uint8_t {
  kOff,      // nothing is counted
  kSampled,  // counts are exact, times are from one execution in N
  kFull,     // every launch is timed
};

// "off", "sampled", "full".
absl::string_view ModeName(Mode mode);

struct ProfileConfig {
  Mode mode = Mode::kOff;
  // The N of kSampled, at least 1; other modes ignore it.
  uint32_t sample_every = 16;
};

struct OpRow {
  OpLabel op;
  DeviceId device;
  uint64_t launches = 0;
  uint64_t errors = 0;
  uint64_t bytes = 0;
};

struct KernelRow {
  OpLabel op;
  BackendId backend{};
  std::string kernel;
  DType dtype = DType::kUndefined;  // of the first output
  uint64_t launches = 0;
};

struct DurationRow {
  OpLabel op;
  BackendId backend{};
  DurationHistogram host;    // time on the launching thread, its own
  DurationHistogram device;  // from DeviceTimestamps
};

struct ProfileSnapshot {
  ProfileConfig config;
  // Goes up by one whenever the configuration changes: times from both sides
  // of a change are not one sample.
  uint64_t epoch = 0;
  absl::Time epoch_start = absl::InfinitePast();
  absl::Time taken_at = absl::InfinitePast();

  std::vector<OpRow> ops;
  std::vector<KernelRow> kernels;
  std::vector<DurationRow> durations;

  // Launches of operators; replays of programs are not among them.
  uint64_t launches() const;
};

struct ProfileDifference {
  // Rows that changed, with what was added between the two.
  ProfileSnapshot added;
  absl::Duration elapsed;
  // The configuration changed in between, so histograms mix two ways of
  // sampling.
  bool spans_epochs = false;
};

// What happened between two snapshots of one profile.
ProfileDifference Difference(const ProfileSnapshot& newer,
                             const ProfileSnapshot& older);

}  // namespace tensord::op_profile

#endif  // TENSORD_ENGINE_PROFILE_PROFILE_SNAPSHOT_H_
