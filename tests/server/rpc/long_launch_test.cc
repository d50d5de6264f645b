// A launch that takes long, and the call that waits for it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tests/server/support/server_test.h"
#include "tests/support/resource_gauge.h"

namespace tensord {
namespace {

constexpr char kExecute[] = "/tensord.v1.ExecutionService/Execute";

class LongLaunchTest : public ServerTest {
 protected:
  void SetUp() override {
    config_.engine.lanes_per_device = 1;
    StartServer();
  }

  static v1::Node& AddNode(v1::Graph& graph, const std::string& op,
                           const std::vector<std::string>& inputs,
                           const std::string& output) {
    v1::Node& node = *graph.add_nodes();
    node.set_op(op);
    for (const std::string& input : inputs) node.add_inputs(input);
    node.add_outputs(output);
    return node;
  }
  static void SetInts(v1::Node& node, const std::string& name,
                      const std::vector<int64_t>& values) {
    v1::Attribute& attribute = *node.add_attributes();
    attribute.set_name(name);
    for (int64_t value : values) attribute.mutable_ints()->add_values(value);
  }

  // The mean of what is around each of half a million elements, all of x's
  // largest: ten seconds and more on two cores. Input and output are small.
  static v1::Graph WidePool() {
    v1::Graph graph = IdentityGraph("wide");
    graph.clear_nodes();
    v1::Initializer& extents = *graph.add_initializers();
    extents.set_name("extents");
    v1::Tensor& tensor = *extents.mutable_tensor();
    tensor.set_dtype(v1::DTYPE_INT64);
    tensor.add_dims(4);
    const int64_t values[] = {1, 1, 768, 768};
    tensor.set_data(values, sizeof(values));
    AddNode(graph, "ReduceMax", {"x"}, "most");
    AddNode(graph, "Expand", {"most", "extents"}, "image");
    v1::Node& pool = AddNode(graph, "AveragePool", {"image"}, "means");
    SetInts(pool, "kernel_shape", {385, 385});
    SetInts(pool, "pads", {192, 192, 192, 192});
    AddNode(graph, "ReduceMax", {"means"}, "y");
    return graph;
  }
};

TEST_F(LongLaunchTest, TheDeadlineOfACallEndsItAndFreesTheOnlyLane) {
  const std::string wide = Submit(WidePool());
  const std::string relu = Submit(ReluGraph());
  const absl::Time start = absl::Now();
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(start + absl::Milliseconds(500)));
  v1::ExecuteResponse response;
  EXPECT_EQ(Call(kExecute, IdentityRequest(wide, "cpu:0"), response, &context)
                .error_code(),
            grpc::StatusCode::DEADLINE_EXCEEDED);
  // The only lane: this one waits for it.
  EXPECT_TRUE(Call(kExecute, IdentityRequest(relu, "cpu:0"), response).ok());
  EXPECT_LT(absl::Now() - start, absl::Seconds(5) * BuildSlowdown());
}

}  // namespace
}  // namespace tensord
