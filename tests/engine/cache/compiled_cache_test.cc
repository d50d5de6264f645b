#include "engine/cache/compiled_cache.h"

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using ::testing::IsNull;
using ::testing::NotNull;

constexpr DeviceId kCpu0{BackendId::kCpu, 0};
constexpr DeviceId kCpu1{BackendId::kCpu, 1};

CompiledKey Key(GraphId id, std::vector<Shape> shapes = {Shape{2, 3}},
                DeviceId device = kCpu0) {
  return {std::move(id), device, std::move(shapes)};
}

CompiledCache::Compiled Compile(uint64_t footprint_bytes = 100) {
  auto graph = std::make_shared<CompiledGraph>();
  graph->footprint_bytes = footprint_bytes;
  return graph;
}

void Put(CompiledCache& cache, const CompiledKey& key,
         uint64_t footprint_bytes = 100) {
  ASSERT_TRUE(cache.Join(key, [](const auto&) {}));
  cache.Complete(key, Compile(footprint_bytes));
}

// Both halves of identity: another key must not be found, the same one must.
TEST(CompiledCacheTest, SameShapedGraphsAreTwoGraphs) {
  CompiledCache cache;
  Put(cache, Key("a"));
  Put(cache, Key("b"));
  const auto a = cache.Find(Key("a"));
  const auto b = cache.Find(Key("b"));
  ASSERT_THAT(a, NotNull());
  ASSERT_THAT(b, NotNull());
  EXPECT_NE(a, b);
  EXPECT_THAT(cache.Find(Key("c")), IsNull());
}

TEST(CompiledCacheTest, EveryPartOfTheKeyTellsGraphsApart) {
  CompiledCache cache;
  Put(cache, Key("a"));
  EXPECT_THAT(cache.Find(Key("a", {Shape{3, 2}})), IsNull());
  EXPECT_THAT(cache.Find(Key("a", {Shape{2, 3}, Shape{}})), IsNull());
  EXPECT_THAT(cache.Find(Key("a", {})), IsNull());
  EXPECT_THAT(cache.Find(Key("a", {Shape{2, 3}}, kCpu1)), IsNull());
  EXPECT_THAT(cache.Find(Key("a", {Shape{2, 3}}, kCpu0)), NotNull());
}

// The same contents at other addresses are the same key, and other contents at
// the same address are not.
TEST(CompiledCacheTest, AKeyIsItsContentsAndNotItsAddress) {
  CompiledCache cache;
  CompiledKey key = Key("a");
  Put(cache, key);
  const CompiledKey copy = key;
  EXPECT_THAT(cache.Find(copy), NotNull());
  key.graph_id = "b";
  EXPECT_THAT(cache.Find(key), IsNull());

  std::vector<HostValue> inputs(1);
  inputs[0].shape = Shape{2, 3};
  EXPECT_THAT(cache.Find({"a", kCpu0, absl::MakeConstSpan(inputs)}), NotNull());
  inputs[0].shape = Shape{3, 2};
  EXPECT_THAT(cache.Find({"a", kCpu0, absl::MakeConstSpan(inputs)}), IsNull());
}

TEST(CompiledCacheTest, OthersWaitForTheOneThatCompiles) {
  CompiledCache cache;
  std::vector<CompiledCache::Compiled> answers;
  const auto note = [&](const auto& compiled) { answers.push_back(*compiled); };
  ASSERT_TRUE(cache.Join(Key("a"), note));
  ASSERT_FALSE(cache.Join(Key("a"), note));
  EXPECT_THAT(cache.Find(Key("a")), IsNull());
  EXPECT_TRUE(answers.empty());
  const auto compiled = Compile();
  cache.Complete(Key("a"), compiled);
  ASSERT_EQ(answers.size(), 2);
  EXPECT_EQ(answers[1], compiled);
  ASSERT_FALSE(cache.Join(Key("a"), note));
  EXPECT_EQ(answers.size(), 3);
  EXPECT_EQ(cache.stats().misses, 1);
}

TEST(CompiledCacheTest, AFailureIsToldToAllAndNotKept) {
  CompiledCache cache;
  int failures = 0;
  const auto note = [&](const auto& compiled) { failures += !compiled.ok(); };
  ASSERT_TRUE(cache.Join(Key("a"), note));
  ASSERT_FALSE(cache.Join(Key("a"), note));
  cache.Complete(Key("a"), absl::InternalError("no"));
  EXPECT_EQ(failures, 2);
  EXPECT_EQ(cache.stats().count, 0);
  EXPECT_TRUE(cache.Join(Key("a"), note));
  cache.Complete(Key("a"), Compile());
  EXPECT_THAT(cache.Find(Key("a")), NotNull());
}

TEST(CompiledCacheTest, EvictsTheLeastRecentlyUsedAndKeepsTheLatest) {
  CompiledCache cache;
  Put(cache, Key("a"));
  Put(cache, Key("b"));
  Put(cache, Key("c"));
  ASSERT_THAT(cache.Find(Key("a")), NotNull());
  EXPECT_EQ(cache.stats().bytes, 300);
  cache.Trim(299);
  EXPECT_THAT(cache.Find(Key("b")), IsNull());
  EXPECT_THAT(cache.Find(Key("c")), NotNull());
  cache.Trim(0);
  EXPECT_THAT(cache.Find(Key("a")), IsNull());
  EXPECT_THAT(cache.Find(Key("c")), NotNull());
  EXPECT_EQ(cache.stats().evictions, 2);
  EXPECT_EQ(cache.stats().bytes, 100);
}

class PackedStorage final : public Storage {
 public:
  explicit PackedStorage(uint64_t size_bytes)
      : Storage(kCpu0, nullptr, size_bytes, true) {}
};

using PackedWeights = std::vector<std::shared_ptr<const Storage>>;

std::shared_ptr<const Storage> Packed(uint64_t size_bytes) {
  return std::make_shared<PackedStorage>(size_bytes);
}

void PutWith(CompiledCache& cache, const CompiledKey& key,
             PackedWeights packed) {
  auto graph = std::make_shared<CompiledGraph>();
  graph->footprint_bytes = 100;
  graph->packed_weights = std::move(packed);
  ASSERT_TRUE(cache.Join(key, [](const auto&) {}));
  cache.Complete(key, std::move(graph));
}

// Both halves: what is shared counts once, and goes with its last user.
TEST(CompiledCacheTest, PackedWeightsCountOnceForAllTheirUsers) {
  CompiledCache cache;
  const auto weights = Packed(500);
  PutWith(cache, Key("a", {Shape{1}}), {weights});
  PutWith(cache, Key("a", {Shape{2}}), {weights, weights});
  Put(cache, Key("b"));
  cache.Trim(800);
  EXPECT_EQ(cache.stats().count, 3);
  cache.Trim(799);
  EXPECT_EQ(cache.stats().count, 2);
  cache.Trim(700);
  EXPECT_EQ(cache.stats().count, 2);
  cache.Trim(699);
  EXPECT_EQ(cache.stats().count, 1);
  EXPECT_THAT(cache.Find(Key("b")), NotNull());
}

// As the tuner has one compiled anew.
TEST(CompiledCacheTest, PackedWeightsOfWhatIsReplacedGo) {
  CompiledCache cache;
  PutWith(cache, Key("a"), {Packed(500)});
  Put(cache, Key("b"));
  auto graph = std::make_shared<CompiledGraph>();
  graph->footprint_bytes = 100;
  graph->packed_weights = {Packed(50)};
  cache.Replace(Key("a"), std::move(graph));
  cache.Trim(250);
  EXPECT_EQ(cache.stats().count, 2);
  cache.Trim(249);
  EXPECT_EQ(cache.stats().count, 1);
}

// A model that is larger than the limit is no reason for others to go.
TEST(CompiledCacheTest, PackedWeightsOfTheLatestEvictNobody) {
  CompiledCache cache;
  Put(cache, Key("plain"));
  PutWith(cache, Key("small"), {Packed(10)});
  const auto large = Packed(10'000);
  PutWith(cache, Key("large", {Shape{1}}), {large});
  PutWith(cache, Key("large", {Shape{2}}), {large});
  cache.Trim(500);
  EXPECT_EQ(cache.stats().count, 4);
  EXPECT_EQ(cache.stats().evictions, 0);
}

// Whose going frees nothing stays.
TEST(CompiledCacheTest, PackedWeightsAreMadeRoomForByTheirUsers) {
  CompiledCache cache;
  Put(cache, Key("plain"));
  PutWith(cache, Key("first"), {Packed(500)});
  PutWith(cache, Key("second"), {Packed(500)});
  PutWith(cache, Key("third"), {Packed(500)});
  cache.Trim(1000);
  EXPECT_THAT(cache.Find(Key("plain")), NotNull());
  EXPECT_THAT(cache.Find(Key("first")), IsNull());
  EXPECT_THAT(cache.Find(Key("second")), NotNull());
  EXPECT_THAT(cache.Find(Key("third")), NotNull());
}

// What a run leaves in a graph: a later segment for its extents.
class GrowingSegments final : public SegmentSource {
 public:
  absl::StatusOr<std::shared_ptr<const Segment>> Get(
      int, absl::Span<const int64_t>) override {
    return absl::UnimplementedError("no run here");
  }
  absl::StatusOr<std::vector<Shape>> OutputShapes(
      absl::Span<const int64_t>) override {
    return absl::UnimplementedError("no run here");
  }
  int segment_count() const override { return 2; }
  uint64_t footprint_bytes() const override { return bytes; }

  std::atomic<uint64_t> bytes{0};
};

TEST(CompiledCacheTest, WhatRunsLeaveInAGraphIsCounted) {
  CompiledCache cache;
  auto graph = std::make_shared<CompiledGraph>();
  graph->footprint_bytes = 100;
  auto owned = std::make_unique<GrowingSegments>();
  GrowingSegments& segments = *owned;
  graph->later_segments = std::move(owned);
  ASSERT_TRUE(cache.Join(Key("a"), [](const auto&) {}));
  cache.Complete(Key("a"), std::move(graph));
  EXPECT_EQ(cache.stats().bytes, 100);
  segments.bytes = 50;
  EXPECT_EQ(cache.stats().bytes, 150);
  Put(cache, Key("b"));
  segments.bytes = 80;
  cache.Trim(279);
  EXPECT_THAT(cache.Find(Key("a")), IsNull());
  EXPECT_EQ(cache.stats().bytes, 100);
}

TEST(CompiledCacheTest, WhatIsEvictedLivesUntilItsLastUserLetsGo) {
  CompiledCache cache;
  Put(cache, Key("a"));
  const auto in_use = cache.Find(Key("a"));
  const std::weak_ptr<const CompiledGraph> watched = in_use;
  cache.EraseGraph("a");
  EXPECT_THAT(cache.Find(Key("a")), IsNull());
  EXPECT_FALSE(watched.expired());
  EXPECT_EQ(in_use->footprint_bytes, 100);
}

TEST(CompiledCacheTest, ErasesAllOfOneGraphAndNothingElse) {
  CompiledCache cache;
  Put(cache, Key("a"));
  Put(cache, Key("a", {Shape{7}}));
  Put(cache, Key("a", {Shape{7}}, kCpu1));
  Put(cache, Key("b"));
  cache.EraseGraph("a");
  EXPECT_EQ(cache.stats().count, 1);
  EXPECT_EQ(cache.stats().evictions, 0);
  EXPECT_THAT(cache.Find(Key("b")), NotNull());
}

CompiledCache::Compiled CompileFor(double estimated_ns) {
  auto graph = std::make_shared<CompiledGraph>();
  graph->footprint_bytes = 100;
  graph->estimated_ns = estimated_ns;
  return graph;
}

TEST(CompiledCacheTest, WhatIsUsedMostIsTakenFirstAndOnce) {
  CompiledCache cache;
  for (const auto& [id, ns] :
       {std::pair{"a", 10.0}, std::pair{"b", 40.0}, std::pair{"c", 1000.0}}) {
    ASSERT_TRUE(cache.Join(Key(id), [](const auto&) {}));
    cache.Complete(Key(id), CompileFor(ns));
  }
  EXPECT_FALSE(cache.TakeUsed(1).has_value());
  for (int i = 0; i < 6; ++i) cache.Find(Key("a"));
  for (int i = 0; i < 2; ++i) cache.Find(Key("b"));
  cache.Find(Key("c"));
  const auto first = cache.TakeUsed(2);
  const auto second = cache.TakeUsed(2);
  ASSERT_TRUE(first.has_value() && second.has_value());
  EXPECT_EQ(first->key.graph_id, "b");  // 2 * 40 against 6 * 10
  EXPECT_EQ(second->key.graph_id, "a");
  EXPECT_FALSE(cache.TakeUsed(2).has_value());
  EXPECT_EQ(cache.TakeUsed(1)->key.graph_id, "c");
}

TEST(CompiledCacheTest, WhatIsPutBackIsTakenAgainOnceItWasUsedAgain) {
  CompiledCache cache;
  Put(cache, Key("a"), 100);
  for (int i = 0; i < 5; ++i) cache.Find(Key("a"));
  ASSERT_TRUE(cache.TakeUsed(2).has_value());
  cache.PutBack(Key("a"));
  cache.Find(Key("a"));
  EXPECT_FALSE(cache.TakeUsed(2).has_value());
  cache.Find(Key("a"));
  EXPECT_TRUE(cache.TakeUsed(2).has_value());
  cache.EraseGraph("a");
  cache.PutBack(Key("a"));
  EXPECT_THAT(cache.Find(Key("a")), IsNull());
}

TEST(CompiledCacheTest, AReplacementIsFoundAndNotTakenAgain) {
  CompiledCache cache;
  Put(cache, Key("a"), 100);
  const CompiledCache::Compiled before = cache.Find(Key("a"));
  const auto used = cache.TakeUsed(1);
  ASSERT_TRUE(used.has_value());
  const CompiledCache::Compiled after = Compile(300);
  cache.Replace(used->key, after);
  EXPECT_EQ(cache.Find(Key("a")), after);
  EXPECT_EQ(cache.stats().bytes, 300);
  EXPECT_EQ(before->footprint_bytes, 100);  // runs still have it
  EXPECT_FALSE(cache.TakeUsed(0).has_value());
  // One that is no longer there is not brought back.
  cache.EraseGraph("a");
  cache.Replace(used->key, Compile(500));
  EXPECT_THAT(cache.Find(Key("a")), IsNull());
  EXPECT_EQ(cache.stats().bytes, 0);
}

TEST(CompiledCacheTest, ManyThreadsAtOnceCompileEachKeyOnce) {
  constexpr int kThreads = 32;
  constexpr int kKeys = 8;
  CompiledCache cache;
  std::atomic<int> compilations{0}, answers{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kKeys; ++i) {
        const CompiledKey key = Key("a", {Shape{(t + i) % kKeys}});
        const bool is_first = cache.Join(key, [&](const auto& compiled) {
          EXPECT_THAT(compiled, IsOk());
          ++answers;
        });
        if (!is_first) continue;
        ++compilations;
        cache.Complete(key, Compile());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(compilations, kKeys);
  EXPECT_EQ(answers, kThreads * kKeys);
  EXPECT_EQ(cache.stats().misses, kKeys);
}

}  // namespace
}  // namespace tensord
