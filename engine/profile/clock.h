#ifndef TENSORD_ENGINE_PROFILE_CLOCK_H_
#define TENSORD_ENGINE_PROFILE_CLOCK_H_

#include <time.h>

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace tensord::op_profile {

// The clock that launches are timed by: the processor's time stamp counter
// where it runs at one rate on all cores in all power states, CLOCK_MONOTONIC
// elsewhere. Two reads of the counter cost about 20 ns, two of clock_gettime
// about 50 ns, which alone would be the budget of a launch.
//
// The counter is read without a fence, so a few tens of cycles of neighbouring
// work may be charged to a launch or missed; a fence costs more than it
// corrects.
//
// Threading: a value; reads may happen on any thread.
class TickClock {
 public:
  // The process' clock, chosen and calibrated once; the first call takes about
  // 5 ms.
  static TickClock Get();
  // CLOCK_MONOTONIC, whatever the processor has.
  static TickClock Monotonic() { return TickClock(false, 1.0); }

  bool uses_tsc() const { return uses_tsc_; }

  uint64_t Now() const {
#if defined(__x86_64__)
    if (uses_tsc_) return __rdtsc();
#endif
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
  }

  // Rounds down. Exact to the calibration, some parts per million.
  uint64_t ToNs(uint64_t ticks) const {
    return static_cast<uint64_t>(
        (static_cast<unsigned __int128>(ticks) * ns_per_tick_q32_) >> 32);
  }

  // From `start` to `end`, 0 if a thread that changed cores sees time go back.
  static uint64_t Elapsed(uint64_t start, uint64_t end) {
    return end > start ? end - start : 0;
  }

 private:
  TickClock(bool uses_tsc, double ns_per_tick)
      : uses_tsc_(uses_tsc),
        ns_per_tick_q32_(static_cast<uint64_t>(ns_per_tick * 4294967296.0)) {}

  static TickClock Choose();

  bool uses_tsc_;
  uint64_t ns_per_tick_q32_;
};

}  // namespace tensord::op_profile

#endif  // TENSORD_ENGINE_PROFILE_CLOCK_H_
