#include "engine/cache/graph_store.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/limit_exceeded.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

GraphStore::Loaded MakeGraph(const GraphId& id, int64_t constant_count = 0) {
  auto graph = std::make_shared<Graph>();
  if (constant_count > 0) {
    graph->values.push_back(Value{.name = "w"});
    graph->values.back().constant =
        HostTensor::Int64s(std::vector<int64_t>(constant_count));
  }
  return std::make_shared<LoadedGraph>(id, graph, Inference(), BackendSet(),
                                       CompileOptions(), 0, absl::Now());
}

// Submits and loads at once; how the continuation was answered.
absl::StatusOr<GraphStore::Held> Submit(GraphStore& store, const GraphId& id,
                                        const std::string& principal,
                                        int64_t constant_count = 0) {
  absl::StatusOr<GraphStore::Held> answer = absl::UnknownError("no answer");
  const bool is_first =
      store.Join(id, principal, [&](const auto& held) { answer = held; });
  if (is_first) store.Complete(id, MakeGraph(id, constant_count));
  return answer;
}

std::vector<GraphId> Ids(const std::vector<GraphStore::Loaded>& graphs) {
  std::vector<GraphId> ids;
  for (const auto& graph : graphs) ids.push_back(graph->id());
  return ids;
}

TEST(GraphStoreTest, OneSeesAndDropsOnesOwnHoldsOnly) {
  GraphStore store(10);
  ASSERT_THAT(Submit(store, "a", "ann"), IsOk());
  ASSERT_THAT(Submit(store, "b", "ann"), IsOk());
  ASSERT_THAT(Submit(store, "b", "bob"), IsOk());
  EXPECT_THAT(Ids(store.List("ann", "", 10)), ElementsAre("a", "b"));
  EXPECT_THAT(Ids(store.List("bob", "", 10)), ElementsAre("b"));
  EXPECT_THAT(store.List("an", "", 10), IsEmpty());
  EXPECT_THAT(store.Find("a", "bob"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no graph 'a'")));
  EXPECT_THAT(store.Drop("a", "bob"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no graph 'a'")));
  EXPECT_THAT(store.Find("a", "ann"), IsOk());
}

TEST(GraphStoreTest, AGraphGoesWithItsLastHold) {
  GraphStore store(10);
  ASSERT_THAT(Submit(store, "a", "ann"), IsOk());
  ASSERT_THAT(Submit(store, "a", "bob"), IsOk());
  EXPECT_FALSE(*store.Drop("a", "ann"));
  EXPECT_THAT(store.Find("a", "ann"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("a")));
  EXPECT_THAT(store.Find("a", "bob"), IsOk());
  EXPECT_TRUE(*store.Drop("a", "bob"));
  EXPECT_FALSE(store.Contains("a"));
  EXPECT_EQ(store.bytes(), 0);
}

TEST(GraphStoreTest, SaysWhetherThisPrincipalHeldItBefore) {
  GraphStore store(10);
  EXPECT_FALSE(Submit(store, "a", "ann")->was_held);
  EXPECT_FALSE(Submit(store, "a", "bob")->was_held);
  EXPECT_TRUE(Submit(store, "a", "bob")->was_held);
}

TEST(GraphStoreTest, ListsInPagesByIdWhateverTheOrderOfArrival) {
  GraphStore store(10);
  for (const char* id : {"d", "a", "c", "b"}) {
    ASSERT_THAT(Submit(store, id, "ann"), IsOk());
  }
  EXPECT_THAT(Ids(store.List("ann", "", 3)), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Ids(store.List("ann", "c", 3)), ElementsAre("d"));
  EXPECT_THAT(Ids(store.List("ann", "bb", 1)), ElementsAre("c"));
}

TEST(GraphStoreTest, RefusesMoreGraphsThanTheLimitButNotKnownOnes) {
  GraphStore store(2);
  ASSERT_THAT(Submit(store, "a", "ann"), IsOk());
  ASSERT_THAT(Submit(store, "b", "ann"), IsOk());
  const auto refused = Submit(store, "c", "bob");
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kResourceExhausted,
                                HasSubstr("max_graphs is 2")));
  EXPECT_EQ(LimitDetails::FromStatus(refused.status())->requested, 3);
  EXPECT_THAT(Submit(store, "a", "bob"), IsOk());
  ASSERT_TRUE(*store.Drop("b", "ann"));
  EXPECT_THAT(Submit(store, "c", "bob"), IsOk());
}

TEST(GraphStoreTest, GraphsBeingLoadedCountAgainstTheLimit) {
  GraphStore store(1);
  ASSERT_TRUE(store.Join("a", "ann", [](const auto&) {}));
  EXPECT_THAT(
      Submit(store, "b", "ann"),
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("max_graphs")));
  store.Complete("a", absl::InvalidArgumentError("no"));
  EXPECT_THAT(Submit(store, "b", "ann"), IsOk());
}

TEST(GraphStoreTest, AFailureIsToldToAllAndNotKept) {
  GraphStore store(10);
  std::vector<absl::Status> answers;
  const auto note = [&](const auto& held) { answers.push_back(held.status()); };
  ASSERT_TRUE(store.Join("a", "ann", note));
  ASSERT_FALSE(store.Join("a", "bob", note));
  store.Complete("a", absl::InvalidArgumentError("a cycle"));
  ASSERT_EQ(answers.size(), 2);
  EXPECT_EQ(answers[1].message(), "a cycle");
  EXPECT_FALSE(store.Contains("a"));
  EXPECT_THAT(Submit(store, "a", "ann"), IsOk());
}

TEST(GraphStoreTest, TheLeastRecentlyUsedGoesWithAllItsHoldsForANewOne) {
  // Room for three graphs of 8,000 bytes and something.
  GraphStore store(10, 3 * 9000);
  for (const char* id : {"a", "b", "c"}) {
    ASSERT_THAT(Submit(store, id, "ann", 1000), IsOk());
  }
  ASSERT_THAT(Submit(store, "b", "bob"), IsOk());
  ASSERT_THAT(store.Find("a", "ann"), IsOk());  // c is now the oldest, then b
  ASSERT_THAT(Submit(store, "d", "ann", 1000), IsOk());
  EXPECT_THAT(Ids(store.List("ann", "", 10)), ElementsAre("a", "b", "d"));
  ASSERT_THAT(Submit(store, "e", "ann", 1000), IsOk());
  EXPECT_THAT(Ids(store.List("ann", "", 10)), ElementsAre("a", "d", "e"));
  EXPECT_THAT(store.List("bob", "", 10), IsEmpty());
}

TEST(GraphStoreTest, TheNewestStaysWhateverItsSize) {
  GraphStore store(10, 100);
  ASSERT_THAT(Submit(store, "a", "ann", 1000), IsOk());
  ASSERT_TRUE(store.Join("b", "ann", [](const auto&) {}));
  EXPECT_THAT(store.Complete("b", MakeGraph("b", 1000)), ElementsAre("a"));
  EXPECT_THAT(store.Find("b", "ann"), IsOk());
}

TEST(GraphStoreTest, ManyThreadsAtOnceLoadOnceAndAllHoldIt) {
  constexpr int kThreads = 32;
  GraphStore store(10);
  std::atomic<int> loads{0}, answers{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const bool is_first =
          store.Join("a", absl::StrCat("p", t), [&](const auto& held) {
            ASSERT_THAT(held, IsOk());
            EXPECT_EQ(held->graph->id(), "a");
            ++answers;
          });
      if (!is_first) return;
      ++loads;
      store.Complete("a", MakeGraph("a"));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(loads, 1);
  EXPECT_EQ(answers, kThreads);
  for (int t = 0; t < kThreads; ++t) {
    EXPECT_THAT(store.Find("a", absl::StrCat("p", t)), IsOk());
  }
}

}  // namespace
}  // namespace tensord
