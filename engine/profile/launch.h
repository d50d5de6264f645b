#ifndef TENSORD_ENGINE_PROFILE_LAUNCH_H_
#define TENSORD_ENGINE_PROFILE_LAUNCH_H_

#include <cstdint>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "engine/profile/clock.h"
#include "engine/profile/program_counter.h"
#include "engine/profile/shard.h"

// The accounting of one launch, on the path of every launch. Off it costs a
// load, a test and a branch, since ExecutionScope::shard() is null then. (A
// lane's own shard may be passed as well: out of line, it counts the same.)
//
//   return op_profile::CountLaunch(context.profile, node.site,
//                                  [&] { return node.kernel->run(call); });
//
// The time is host time: a launch that only enqueues is charged its enqueue.
//
// Threading: the thread that holds the lane.
namespace tensord::op_profile {

// Whether the accounting exists at all. NotCompiledIn is what a benchmark
// compares with.
struct CompiledIn {
  static constexpr bool kExists = true;
};
struct NotCompiledIn {
  static constexpr bool kExists = false;
};

// Charges the time between its construction and Stop() to a site. Launches may
// nest (a Loop runs its body): each is charged its own time only.
class LaunchTimer {
 public:
  LaunchTimer(Shard& shard, const LaunchSite& site)
      : shard_(shard), site_(site) {
    if (!is_timed()) return;
    outer_nested_ticks_ = std::exchange(shard.nested_ticks_, 0);
    start_ticks_ = shard.clock_.Now();
    if (ABSL_PREDICT_FALSE(shard.trace_ != nullptr)) {
      trace_row_ =
          shard.trace_->BeginRow(site.node_index, site.slot,
                                 shard.clock_.ToNs(TickClock::Elapsed(
                                     shard.begin_ticks_, start_ticks_)),
                                 site.bytes);
    }
  }

  // `ok` is whether the launch succeeded: one that failed is a launch too.
  void Stop(bool ok) {
    const uint64_t own_ticks = is_timed() ? OwnTicks() : 0;
    if (!shard_.is_counting_) return;
    SlotCounters& counters = shard_.counters(site_.slot);
    counters.launches.Add(1);
    counters.bytes.Add(site_.bytes);
    if (ABSL_PREDICT_FALSE(!ok)) counters.errors.Add(1);
    if (!shard_.is_sampled_) return;
    counters.host_ticks.Add(own_ticks);
    counters.host_buckets[DurationBucket(shard_.clock_.ToNs(own_ticks))].Add(1);
  }

 private:
  bool is_timed() const {
    return shard_.is_sampled_ || shard_.trace_ != nullptr;
  }

  uint64_t OwnTicks() {
    const uint64_t ticks =
        TickClock::Elapsed(start_ticks_, shard_.clock_.Now());
    const uint64_t own_ticks = TickClock::Elapsed(shard_.nested_ticks_, ticks);
    shard_.nested_ticks_ = outer_nested_ticks_ + ticks;
    if (ABSL_PREDICT_FALSE(shard_.trace_ != nullptr)) {
      shard_.trace_->EndRow(trace_row_, shard_.clock_.ToNs(own_ticks));
    }
    return own_ticks;
  }

  Shard& shard_;
  const LaunchSite& site_;
  uint64_t outer_nested_ticks_ = 0;
  uint64_t start_ticks_ = 0;
  uint32_t trace_row_ = TraceBuffer::kNoRow;
};

namespace internal {

// Out of line, and `launch` by value: a launch that is not accounted then saves
// no registers and stores no closure for the sake of this.
template <typename Launch>
ABSL_ATTRIBUTE_NOINLINE auto CountLaunchWhenOn(Shard& shard,
                                               const LaunchSite& site,
                                               Launch launch) {
  LaunchTimer timer(shard, site);
  auto result = launch();
  timer.Stop(result.ok());
  return result;
}

template <typename Replay>
ABSL_ATTRIBUTE_NOINLINE auto CountReplayWhenOn(Shard& shard,
                                               ProgramCounter& program,
                                               Replay replay) {
  LaunchTimer timer(shard, program.site());
  auto result = replay();
  timer.Stop(result.ok());
  if (result.ok() && shard.is_counting()) program.AddReplay();
  return result;
}

}  // namespace internal

// Runs `launch` (which returns an absl::Status or StatusOr) and accounts it to
// `site`. A null shard counts nothing.
template <typename Existence = CompiledIn, typename Launch>
inline auto CountLaunch(Shard* shard, const LaunchSite& site, Launch launch) {
  if constexpr (Existence::kExists) {
    if (ABSL_PREDICT_FALSE(shard != nullptr)) {
      return internal::CountLaunchWhenOn(*shard, site, std::move(launch));
    }
  }
  return launch();
}

// The same for the replay of a recorded program. Its kernels are counted when
// it succeeded; the host time is the replay's own ("program_replay").
template <typename Existence = CompiledIn, typename Replay>
inline auto CountReplay(Shard* shard, ProgramCounter& program, Replay replay) {
  if constexpr (Existence::kExists) {
    if (ABSL_PREDICT_FALSE(shard != nullptr)) {
      return internal::CountReplayWhenOn(*shard, program, std::move(replay));
    }
  }
  return replay();
}

}  // namespace tensord::op_profile

#endif  // TENSORD_ENGINE_PROFILE_LAUNCH_H_
