#include "backends/api/op_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "backends/api/device_id.h"

namespace tensord {
namespace {

using ::testing::Eq;

// OpKindFromName() searches by halves.
TEST(OpKindTest, OnnxNamesAreSortedAndWithoutDoubles) {
  for (int i = 1; i < kOnnxOpKindCount; ++i) {
    EXPECT_LT(OpKindName(static_cast<OpKind>(i - 1)),
              OpKindName(static_cast<OpKind>(i)));
  }
}

TEST(OpKindTest, OnnxNamesGoRound) {
  for (int i = 0; i < kOnnxOpKindCount; ++i) {
    const auto op = static_cast<OpKind>(i);
    EXPECT_THAT(OpKindFromName(OpKindName(op)), Eq(op));
  }
}

TEST(OpKindTest, OnlyTheOptimizersAreOfAnotherDomain) {
  for (int i = 0; i < kOpKindCount; ++i) {
    const auto op = static_cast<OpKind>(i);
    const bool is_optimizer = op == OpKind::kAdagrad || op == OpKind::kAdam ||
                              op == OpKind::kMomentum;
    EXPECT_EQ(OpKindDomain(op), is_optimizer ? "ai.onnx.preview.training" : "");
  }
}

TEST(OpKindTest, NobodyCanSendTensordsOwnKinds) {
  EXPECT_GT(kOpKindCount, kOnnxOpKindCount);
  for (int i = kOnnxOpKindCount; i < kOpKindCount; ++i) {
    const absl::string_view name = OpKindName(static_cast<OpKind>(i));
    EXPECT_NE(name, "");
    EXPECT_THAT(OpKindFromName(name), Eq(std::nullopt)) << std::string(name);
  }
}

TEST(OpKindTest, OtherNamesHaveNoKind) {
  for (const char* name : {"", "A", "conv", "Conv ", "ZZZ", "Abs\xff"}) {
    EXPECT_THAT(OpKindFromName(name), Eq(std::nullopt)) << name;
  }
}

TEST(DeviceIdTest, BackendNamesGoRound) {
  for (int i = 0; i < kBackendCount; ++i) {
    const auto backend = static_cast<BackendId>(i);
    EXPECT_THAT(BackendFromName(BackendName(backend)), Eq(backend));
  }
  EXPECT_THAT(BackendFromName("CPU"), Eq(std::nullopt));
  EXPECT_THAT(BackendFromName(""), Eq(std::nullopt));
}

TEST(DeviceIdTest, IsWrittenAsBackendAndOrdinal) {
  EXPECT_EQ((DeviceId{BackendId::kVulkan, 12}).ToString(), "vulkan:12");
  EXPECT_TRUE((DeviceId{BackendId::kCpu, 1}) == (DeviceId{BackendId::kCpu, 1}));
  EXPECT_TRUE((DeviceId{BackendId::kCpu, 1}) != (DeviceId{BackendId::kCpu, 0}));
  EXPECT_TRUE((DeviceId{BackendId::kCpu, 1}) !=
              (DeviceId{BackendId::kNull, 1}));
}

}  // namespace
}  // namespace tensord
