#include "engine/tune/tuning_budget.h"

#include <gtest/gtest.h>

namespace tensord {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'000'000);

TEST(TuningBudget, AnHoursAllowanceIsThereAtTheStart) {
  TuningBudget budget(absl::Seconds(60), kStart);
  EXPECT_EQ(budget.Wait(kStart), absl::ZeroDuration());
  budget.Charge(absl::Seconds(59), kStart);
  EXPECT_EQ(budget.Wait(kStart), absl::ZeroDuration());
}

TEST(TuningBudget, WhatWasSpentTooMuchIsWaitedFor) {
  TuningBudget budget(absl::Seconds(60), kStart);
  budget.Charge(absl::Seconds(62), kStart);
  // 60 s come in an hour, so 2 s in two minutes.
  const absl::Duration wait = budget.Wait(kStart);
  EXPECT_GT(wait, absl::Minutes(2));
  EXPECT_LT(wait, absl::Minutes(2) + absl::Seconds(1));
  EXPECT_GT(budget.Wait(kStart + absl::Minutes(1)), absl::Seconds(59));
  EXPECT_EQ(budget.Wait(kStart + wait), absl::ZeroDuration());
}

TEST(TuningBudget, IdleHoursAreNotSavedUp) {
  TuningBudget budget(absl::Seconds(60), kStart);
  const absl::Time later = kStart + absl::Hours(100);
  budget.Charge(absl::Seconds(61), later);
  EXPECT_GT(budget.Wait(later), absl::Seconds(59));
}

// However a tuner behaves that waits when it is told to, what it spends in any
// number of hours is at most their allowance, the first hour's, and one trial.
TEST(TuningBudget, HoldsOverTime) {
  const absl::Duration trial = absl::Seconds(2);
  TuningBudget budget(absl::Seconds(60), kStart);
  absl::Time now = kStart;
  absl::Duration spent;
  while (now < kStart + absl::Hours(10)) {
    now += budget.Wait(now) + trial;
    budget.Charge(trial, now);
    spent += trial;
    const double hours = absl::FDivDuration(now - kStart, absl::Hours(1));
    ASSERT_LE(spent, absl::Seconds(60) * (1 + hours) + trial);
  }
  EXPECT_GT(spent, absl::Seconds(600));
}

TEST(TuningBudget, AClockThatGoesBackGivesNothing) {
  TuningBudget budget(absl::Seconds(60), kStart);
  budget.Charge(absl::Seconds(61), kStart);
  EXPECT_GT(budget.Wait(kStart - absl::Hours(5)), absl::ZeroDuration());
}

TEST(TuningBudget, NoAllowanceMeansNoTrial) {
  TuningBudget budget(absl::ZeroDuration(), kStart);
  EXPECT_EQ(budget.Wait(kStart + absl::Hours(5)), absl::InfiniteDuration());
}

}  // namespace
}  // namespace tensord
