#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "engine/graph/graph_builder.h"
#include "engine/infer/infer.h"
#include "engine/onnx/onnx_reader.h"
#include "engine/passes/device_evaluator.h"
#include "engine/passes/fold_constants.h"
#include "engine/passes/remove_dead_nodes.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

// What a compiler does with a model before it chooses kernels.
absl::StatusOr<Graph> ReadAndShrink(const std::string& path, Shape input) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream stream;
  stream << file.rdbuf();
  const std::string bytes = stream.str();
  const GraphLimits limits;
  absl::StatusOr<GraphDef> def = ReadOnnx({bytes.data(), bytes.size()}, limits);
  if (!def.ok()) return def.status();
  absl::StatusOr<Graph> graph = BuildGraph(*std::move(def), limits);
  if (!graph.ok()) return graph.status();

  const TestDevice& cpu = CpuTestDevice();
  auto evaluator =
      DeviceEvaluator::Create(*cpu.device, cpu.backend->kernels(), cpu.workers);
  if (!evaluator.ok()) return evaluator.status();
  absl::StatusOr<Inference> inference =
      InferGraph(*graph, limits, evaluator->get());
  if (!inference.ok()) return inference.status();
  inference =
      InferGraph(*graph, {input}, KnownExtents(), limits, evaluator->get());
  if (!inference.ok()) return inference.status();
  for (ValueId output : graph->outputs) {
    EXPECT_TRUE(IsKnown(*inference->types[output].shape));
  }
  return RemoveDeadNodes(
      FoldConstants(*graph, *inference, **evaluator, limits));
}

TEST(OnnxModelsTest, TheDigitsModelIsReadAndInferred) {
  const char* source = std::getenv("TENSORD_SOURCE_DIR");
  ASSERT_NE(source, nullptr);
  const absl::StatusOr<Graph> graph = ReadAndShrink(
      absl::StrCat(source, "/models/digits/model.onnx"), Shape({2, 1, 8, 8}));
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->outputs.size(), 1u);
}

}  // namespace
}  // namespace tensord
