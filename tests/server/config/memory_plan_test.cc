#include "server/config/memory_plan.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tensord {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;

// What all limits allow to be resident at once.
uint64_t Total(const ServerConfig& config, uint64_t shared_bytes) {
  return shared_bytes + config.max_ingress_bytes + config.upload_budget_bytes +
         config.engine.graph_cache_bytes;
}

TEST(MemoryPlan, LimitsFitIntoTheMemoryTogether) {
  for (const uint64_t memory : {256 * kMiB, 512 * kMiB, kGiB, 4 * kGiB,
                                24 * kGiB, 100 * kGiB, 1000 * kGiB}) {
    ServerConfig config;
    const uint64_t shared = FitToMemory(memory, {}, config);
    EXPECT_LT(Total(config, shared), memory - memory / 16) << memory;
    EXPECT_GE(shared, memory / 4) << memory;
    EXPECT_LE(config.engine.max_peak_bytes, shared);
    EXPECT_LE(config.max_resident_bytes + config.max_result_bytes, shared);
    EXPECT_LT(config.engine.max_idle_buffer_bytes, shared);
    EXPECT_LE(config.engine.max_queued_bytes, shared);
    EXPECT_TRUE(Validate(config).ok()) << Validate(config);
  }
}

TEST(MemoryPlan, OnALargeMachineTheDefaultsStay) {
  ServerConfig config;
  const ServerConfig defaults;
  FitToMemory(64 * kGiB, {}, config);
  EXPECT_EQ(config.max_ingress_bytes, defaults.max_ingress_bytes);
  EXPECT_EQ(config.upload_budget_bytes, defaults.upload_budget_bytes);
  EXPECT_EQ(config.engine.graph_cache_bytes, defaults.engine.graph_cache_bytes);
  EXPECT_EQ(config.engine.max_peak_bytes, defaults.engine.max_peak_bytes);
  EXPECT_EQ(config.max_resident_bytes, defaults.max_resident_bytes);
  EXPECT_EQ(config.max_message_bytes, defaults.max_message_bytes);
}

TEST(MemoryPlan, WhatSomebodyHasSetStays) {
  ServerConfig config;
  config.max_resident_bytes = 2 * kGiB;
  config.engine.graph_cache_bytes = 200 * kMiB;
  const uint64_t shared = FitToMemory(
      512 * kMiB, {"max-resident-bytes", "graph-cache-bytes"}, config);
  EXPECT_EQ(config.max_resident_bytes, 2 * kGiB);
  EXPECT_EQ(config.engine.graph_cache_bytes, 200 * kMiB);
  // What is left for the others is less by that much.
  ServerConfig unset;
  EXPECT_EQ(shared + (200 - 64) * kMiB, FitToMemory(512 * kMiB, {}, unset));
}

TEST(MemoryPlan, ALimitOverAllHoldsTheOneThatSomebodyHasSet) {
  ServerConfig config;
  config.max_upload_bytes = static_cast<int64_t>(kGiB);
  config.max_message_bytes = static_cast<int64_t>(200 * kMiB);
  FitToMemory(512 * kMiB, {"max-upload-bytes", "max-message-bytes"}, config);
  EXPECT_EQ(config.upload_budget_bytes, kGiB);
  EXPECT_EQ(config.max_ingress_bytes, 200 * kMiB);
  EXPECT_TRUE(Validate(config).ok()) << Validate(config);
}

TEST(MemoryPlan, WithHardlyAnyMemoryAValidConfigurationIsLeft) {
  ServerConfig config;
  EXPECT_EQ(FitToMemory(16 * kMiB, {}, config), 16 * kMiB);
  EXPECT_TRUE(Validate(config).ok()) << Validate(config);
}

}  // namespace
}  // namespace tensord
