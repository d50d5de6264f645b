#include "engine/profile/clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstdint>
#include <fstream>
#include <string>

namespace tensord::op_profile {
namespace {

#if defined(__x86_64__)

// What the kernel calls constant_tsc and nonstop_tsc.
bool ProcessorPromisesOneRate() {
  unsigned int eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) == 0) return false;
  return (edx & (1u << 8)) != 0;
}

// The kernel takes the counter off its list when it saw it drift between
// sockets, which the processor's promise does not cover. A machine that does
// not show the list (a sandbox) is believed.
bool KernelDistrustsCounter() {
  std::ifstream file(
      "/sys/devices/system/clocksource/clocksource0/available_clocksource");
  std::string name;
  bool any = false;
  while (file >> name) {
    if (name == "tsc") return false;
    any = true;
  }
  return any;
}

uint64_t MonotonicNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

struct ClockPair {
  uint64_t ticks;
  uint64_t ns;
};

// Both clocks at one moment: of several tries the one with the least between
// its two counter reads, since any of them may be interrupted.
ClockPair ReadBoth() {
  ClockPair best{};
  uint64_t best_gap = UINT64_MAX;
  for (int i = 0; i < 16; ++i) {
    const uint64_t before = __rdtsc();
    const uint64_t ns = MonotonicNs();
    const uint64_t after = __rdtsc();
    if (after - before < best_gap) {
      best_gap = after - before;
      best = {before + (after - before) / 2, ns};
    }
  }
  return best;
}

// 0 if the two clocks do not make sense together. Over 5 ms the error of one
// read, about 20 ns, is 4 parts per million.
double CalibrateNsPerTick() {
  constexpr uint64_t kCalibrationNs = 5'000'000;
  const ClockPair start = ReadBoth();
  while (MonotonicNs() - start.ns < kCalibrationNs) {
  }
  const ClockPair end = ReadBoth();
  if (end.ticks <= start.ticks) return 0;
  const double rate = static_cast<double>(end.ns - start.ns) /
                      static_cast<double>(end.ticks - start.ticks);
  // 100 MHz to 20 GHz; anything else is a broken counter.
  return rate > 0.05 && rate < 10.0 ? rate : 0;
}

#endif  // defined(__x86_64__)

}  // namespace

TickClock TickClock::Choose() {
#if defined(__x86_64__)
  if (ProcessorPromisesOneRate() && !KernelDistrustsCounter()) {
    const double ns_per_tick = CalibrateNsPerTick();
    if (ns_per_tick > 0) return TickClock(true, ns_per_tick);
  }
#endif
  return Monotonic();
}

TickClock TickClock::Get() {
  static const TickClock clock = Choose();
  return clock;
}

}  // namespace tensord::op_profile
