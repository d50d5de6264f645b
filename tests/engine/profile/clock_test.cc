#include "engine/profile/clock.h"

#include <algorithm>
#include <cstdint>

#include "gtest/gtest.h"

namespace tensord::op_profile {
namespace {

TEST(TickClock, AgreesWithTheMonotonicClock) {
  const TickClock clock = TickClock::Get();
  const TickClock reference = TickClock::Monotonic();
  // An interruption between the two reads of a pair falsifies one run, so the
  // best of several counts.
  double best_error = 1;
  for (int run = 0; run < 10 && best_error > 1e-3; ++run) {
    const uint64_t start = clock.Now();
    const uint64_t reference_start = reference.Now();
    while (reference.Now() - reference_start < 2'000'000) {
    }
    const uint64_t reference_ns = reference.Now() - reference_start;
    const uint64_t ns = clock.ToNs(clock.Now() - start);
    const double error =
        (static_cast<double>(ns) - static_cast<double>(reference_ns)) /
        static_cast<double>(reference_ns);
    best_error = std::min(best_error, error < 0 ? -error : error);
  }
  EXPECT_LT(best_error, 1e-3);
}

TEST(TickClock, ConvertsALongTimeWithoutOverflow) {
  const TickClock monotonic = TickClock::Monotonic();
  constexpr uint64_t kTenYearsNs = 315'360'000'000'000'000;
  EXPECT_EQ(monotonic.ToNs(kTenYearsNs), kTenYearsNs);
  EXPECT_EQ(monotonic.ToNs(0), 0);
  EXPECT_GT(TickClock::Get().ToNs(uint64_t{1} << 62), 0);
}

TEST(TickClock, TimeThatWentBackIsNoTime) {
  EXPECT_EQ(TickClock::Elapsed(10, 30), 20);
  EXPECT_EQ(TickClock::Elapsed(30, 10), 0);
}

}  // namespace
}  // namespace tensord::op_profile
