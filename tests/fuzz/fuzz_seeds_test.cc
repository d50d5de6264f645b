#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "engine/onnx/onnx_reader.h"
#include "server/graph_codec/graph_from_proto.h"
#include "tests/fuzz/check_graph.h"
#include "tests/fuzz/encode_graph.h"
#include "tests/fuzz/function_seed.h"
#include "tests/fuzz/seed_graphs.h"

namespace tensord {
namespace {

absl::Status CheckAsGraph(const std::string& bytes) {
  return CheckGraph(GraphFromProto({bytes.data(), bytes.size()}, FuzzLimits()));
}

absl::Status CheckAsOnnx(const std::string& bytes) {
  return CheckGraph(ReadOnnx({bytes.data(), bytes.size()}, FuzzLimits()));
}

// A fuzzer that starts from graphs which are refused at the door finds nothing.
TEST(FuzzSeedsTest, AllButTheOneThatShouldBeRefusedPassBothWays) {
  int refused = 0;
  for (const SeedGraph& seed : SeedGraphs()) {
    const absl::Status as_graph = CheckAsGraph(EncodeGraph(seed.def));
    const absl::Status as_onnx = CheckAsOnnx(EncodeOnnx(seed.def));
    EXPECT_EQ(as_graph.code(), as_onnx.code()) << seed.name;
    if (seed.name == "strings") {  // Relu has no such attribute
      EXPECT_FALSE(as_graph.ok()) << seed.name;
      ++refused;
    } else {
      EXPECT_TRUE(as_graph.ok()) << seed.name << ": " << as_graph;
      EXPECT_TRUE(as_onnx.ok()) << seed.name << ": " << as_onnx;
    }
  }
  EXPECT_EQ(refused, 1);
  const absl::Status functions = CheckAsOnnx(OnnxWithFunctions());
  EXPECT_TRUE(functions.ok()) << functions;
}

// What the fuzzers do, in small, in every build and not only with Clang.
TEST(FuzzSeedsTest, ChangedSeedsBreakNoPromise) {
  std::mt19937 random(5);
  for (const SeedGraph& seed : SeedGraphs()) {
    const std::string graph = EncodeGraph(seed.def);
    const std::string onnx = EncodeOnnx(seed.def);
    for (int round = 0; round < 500; ++round) {
      std::string changed_graph = graph;
      std::string changed_onnx = onnx;
      for (int i = 0; i < 2; ++i) {
        changed_graph[random() % graph.size()] = static_cast<char>(random());
        changed_onnx[random() % onnx.size()] = static_cast<char>(random());
      }
      CheckAsGraph(changed_graph).IgnoreError();
      CheckAsOnnx(changed_onnx).IgnoreError();
    }
  }
  const std::string functions = OnnxWithFunctions();
  for (int round = 0; round < 5'000; ++round) {
    std::string changed = functions;
    for (int i = 0; i < 2; ++i) {
      changed[random() % changed.size()] = static_cast<char>(random());
    }
    CheckAsOnnx(changed).IgnoreError();
  }
}

}  // namespace
}  // namespace tensord
