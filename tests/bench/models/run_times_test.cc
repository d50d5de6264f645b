#include "bench/models/run_times.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tensord::bench {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kMs = 1'000'000;

RunBudget Rounds(int count) {
  return {.warm_up = absl::ZeroDuration(),
          .measure = absl::ZeroDuration(),
          .min_rounds = count};
}

TEST(RunTimesTest, TheMedianOfEachSetIsAveragedOverTheSets) {
  RunTimes times(2);
  for (const int64_t ms : {5, 1, 2}) times.Add(0, ms * kMs);
  for (const int64_t ms : {10, 20}) times.Add(1, ms * kMs);
  EXPECT_DOUBLE_EQ(times.PercentileMs(0.5), (2.0 + 15.0) / 2);
  EXPECT_DOUBLE_EQ(times.PercentileMs(0), (1.0 + 10.0) / 2);
  EXPECT_DOUBLE_EQ(times.PercentileMs(1), (5.0 + 20.0) / 2);
  const nlohmann::ordered_json json = times.ToJson();
  EXPECT_EQ(json["runs"], 5);
  EXPECT_THAT(json["set_ms"].get<std::vector<double>>(), ElementsAre(2, 15));
}

TEST(MeasureRunsTest, SetsTakeTurnsAndTheWarmUpIsNotCounted) {
  std::vector<int> sets;
  const auto times = MeasureRuns(2, Rounds(3), [&](int set) {
    sets.push_back(set);
    return absl::StatusOr<int64_t>(sets.size() <= 2 ? 1000 * kMs : kMs);
  });
  ASSERT_TRUE(times.ok());
  EXPECT_THAT(sets, ElementsAre(0, 1, 0, 1, 0, 1, 0, 1));
  EXPECT_DOUBLE_EQ(times->PercentileMs(1), 1);
}

TEST(MeasureRunsTest, TheFirstErrorEndsIt) {
  int calls = 0;
  const auto times =
      MeasureRuns(1, Rounds(3), [&](int) -> absl::StatusOr<int64_t> {
        ++calls;
        return absl::NotFoundError("no");
      });
  EXPECT_EQ(times.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(calls, 1);
}

TEST(MeasureRunsTest, ABusyLoopOfOneThreadTakesAtMostOneCore) {
  RunBudget budget = Rounds(1);
  budget.measure = absl::Milliseconds(20);
  const auto times = MeasureRuns(1, budget, [](int) {
    const int64_t start = NowNs();
    while (NowNs() - start < kMs) {
    }
    return absl::StatusOr<int64_t>(kMs);
  });
  ASSERT_TRUE(times.ok());
  const double cores = times->ToJson()["cores"];
  EXPECT_GT(cores, 0);
  // The kernel may count CPU time in ticks.
  EXPECT_LT(cores, 1.5);
}

TEST(PeakRssTest, GrowsByWhatIsTouched) {
  const double before = PeakRssMb();
  const std::vector<char> touched(64 << 20, 'x');
  EXPECT_GT(PeakRssMb(), before + 30) << touched.size();
}

}  // namespace
}  // namespace tensord::bench
