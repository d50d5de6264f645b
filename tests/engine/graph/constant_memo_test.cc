#include "engine/graph/constant_memo.h"

#include <gtest/gtest.h>

#include <optional>

namespace tensord {
namespace {

TEST(ConstantMemoTest, MakesOnceWhatIsStillHeld) {
  ConstantMemo memo;
  const HostTensor a = HostTensor::Int64s({1, 2});
  const HostTensor b = HostTensor::Int64s({1, 2});
  int made = 0;
  const auto make = [&] {
    ++made;
    return HostTensor::Int64s({made});
  };
  std::optional<HostTensor> first = memo.Get("op", {a}, make);
  EXPECT_EQ(memo.Get("op", {a}, make).owner(), first->owner());
  EXPECT_EQ(made, 1);
  // Another operation, other bytes, another order.
  memo.Get("other", {a}, make);
  memo.Get("op", {b}, make);
  memo.Get("op", {a, b}, make);
  memo.Get("op", {b, a}, make);
  EXPECT_EQ(made, 5);
  // Nobody holds it any more.
  first.reset();
  EXPECT_EQ(memo.Get("op", {a}, make).values<int64_t>()[0], 6);
}

TEST(ConstantMemoTest, WhatIsThereCostsWhatItDidCost) {
  ConstantMemo memo;
  const HostTensor a = HostTensor::Int64s({1, 2});
  double cost = 0;
  const auto make = [&] {
    cost = 7;
    return HostTensor::Int64s({3});
  };
  const HostTensor first = memo.Get("op", {a}, make, &cost);
  EXPECT_EQ(cost, 7);
  cost = 0;
  EXPECT_EQ(memo.Get("op", {a}, make, &cost).owner(), first.owner());
  EXPECT_EQ(cost, 7);
}

// A tensor that has gone leaves its address to another.
TEST(ConstantMemoTest, InputsThatAreGoneAreNotMistaken) {
  ConstantMemo memo;
  std::optional<HostTensor> a = HostTensor::Int64s({1});
  const HostTensor first =
      memo.Get("op", {*a}, [] { return HostTensor::Int64s({10}); });
  a.reset();
  for (int i = 0; i < 100; ++i) {
    const HostTensor b = HostTensor::Int64s({2});
    EXPECT_EQ(memo.Get("op", {b}, [] { return HostTensor::Int64s({20}); })
                  .values<int64_t>()[0],
              20);
  }
}

TEST(ConstantMemoTest, KeepsABoundedNumberOfEntries) {
  ConstantMemo memo;
  const HostTensor a = HostTensor::Int64s({1});
  std::vector<HostTensor> held;
  for (size_t i = 0; i < ConstantMemo::kMaxEntries + 10; ++i) {
    held.push_back(memo.Get(std::to_string(i), {a},
                            [] { return HostTensor::Int64s({3}); }));
  }
  int made = 0;
  memo.Get(std::to_string(held.size() - 1), {a}, [&] {
    ++made;
    return HostTensor::Int64s({3});
  });
  EXPECT_EQ(made, 1);
}

}  // namespace
}  // namespace tensord
