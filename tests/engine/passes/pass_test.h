#ifndef TENSORD_TESTS_ENGINE_PASSES_PASS_TEST_H_
#define TENSORD_TESTS_ENGINE_PASSES_PASS_TEST_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/graph/graph_builder.h"
#include "engine/infer/infer.h"
#include "engine/passes/pass_context.h"
#include "tests/support/graphs.h"
#include "tests/support/matchers.h"

namespace tensord {

// Graphs before and after one pass, on a device whose kernels a test chooses.
//
// Threading and ownership: a plain fixture.
class PassTest : public testing::Test {
 protected:
  using Pass = int (*)(PassContext& context);
  using KernelOf = std::function<const KernelEntry*(const Node&)>;

  // The graph after the pass, for the declared extents; inference must take it.
  Graph After(Pass pass, const TestGraph& test) {
    return After(pass, test.definition());
  }
  Graph After(Pass pass, const GraphDef& definition) {
    absl::StatusOr<Graph> graph = BuildGraph(definition, GraphLimits());
    EXPECT_THAT(graph, IsOk());
    if (!graph.ok()) return {};
    absl::StatusOr<Inference> inference = InferGraph(*graph, GraphLimits());
    EXPECT_THAT(inference, IsOk());
    if (!inference.ok()) return {};
    GraphEditor editor(*graph, *inference);
    const auto find = [this](const Node& node, const Inference&) {
      return kernel_of_(node);
    };
    PassContext context{editor, find, constant_bytes_};
    change_count_ = pass(context);
    const Inference expected = editor.inference();
    Graph changed = editor.Finish();
    ExpectSame(InferGraph(changed, GraphLimits()), expected, changed);
    return changed;
  }

  // Its nodes as "Op[steps of an epilogue](name of node): inputs -> outputs"; a
  // chain has its steps instead of its name, "_" is an absent input.
  static std::vector<std::string> Nodes(const Graph& graph) {
    std::vector<std::string> lines;
    for (const Node& node : graph.nodes) {
      std::string line;
      if (const auto* chain = std::get_if<Expression>(&node.params)) {
        line = Steps(*chain);
      } else {
        line = std::string(OpKindName(node.op));
      }
      if (node.params.epilogue != nullptr) {
        absl::StrAppend(&line, "[", Steps(node.params.epilogue->expression),
                        "]");
      }
      absl::StrAppend(&line, ":");
      for (ValueId input : node.inputs) {
        absl::StrAppend(&line, " ",
                        input == kNoValue ? "_" : graph.value(input).name);
      }
      absl::StrAppend(&line, " ->");
      for (ValueId output : node.outputs) {
        absl::StrAppend(&line, " ", graph.value(output).name);
      }
      lines.push_back(line);
    }
    return lines;
  }

  static std::string Steps(const Expression& expression) {
    std::string text;
    for (const ExpressionStep& step : expression.steps) {
      absl::StrAppend(&text, text.empty() ? "" : " ", OpKindName(step.op));
    }
    return text;
  }

  // Of a constant that a node reads.
  static std::vector<float> Floats(const Graph& graph, ValueId value) {
    const auto values = graph.value(value).constant.values<float>();
    return {values.begin(), values.end()};
  }

  // By default the device has one kernel, which takes everything.
  static constexpr KernelEntry kAnyKernel = {};
  KernelOf kernel_of_ = [](const Node&) { return &kAnyKernel; };
  uint64_t constant_bytes_ = 1 << 20;
  int change_count_ = 0;

 private:
  // What nodes make is of the types that the pass said.
  static void ExpectSame(const absl::StatusOr<Inference>& inferred,
                         const Inference& expected, const Graph& graph) {
    ASSERT_TRUE(inferred.ok()) << inferred.status();
    for (const Node& node : graph.nodes) {
      for (ValueId output : node.outputs) {
        EXPECT_EQ(inferred->types[output].dtype, expected.types[output].dtype)
            << graph.value(output).name;
        EXPECT_EQ(inferred->symbols.ToString(*inferred->types[output].shape),
                  expected.symbols.ToString(*expected.types[output].shape))
            << graph.value(output).name;
      }
    }
  }
};

}  // namespace tensord

#endif  // TENSORD_TESTS_ENGINE_PASSES_PASS_TEST_H_
