#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "google/rpc/error_details.pb.h"
#include "server/rpc/graph_id.h"
#include "tensord/v1/errors.pb.h"
#include "tests/server/support/server_test.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kSubmit[] = "/tensord.v1.GraphService/SubmitGraph";
constexpr char kGet[] = "/tensord.v1.GraphService/GetGraph";
constexpr char kList[] = "/tensord.v1.GraphService/ListGraphs";
constexpr char kDelete[] = "/tensord.v1.GraphService/DeleteGraph";
constexpr char kExplain[] = "/tensord.v1.GraphService/ExplainGraph";

class GraphServiceTest : public ServerTest {
 protected:
  void SetUp() override { StartServer(); }

  grpc::Status SubmitGraph(const v1::SubmitGraphRequest& request) {
    submitted_.Clear();
    return Call(kSubmit, request, submitted_);
  }
  grpc::Status Explain(const v1::ExplainGraphRequest& request) {
    explained_.Clear();
    return Call(kExplain, request, explained_);
  }
  static v1::Graph SymbolicGraph() {
    v1::Graph graph = IdentityGraph("symbolic");
    graph.mutable_inputs(0)->mutable_dims(0)->set_symbol("batch");
    return graph;
  }

  v1::SubmitGraphResponse submitted_;
  v1::ExplainGraphResponse explained_;
};

// The example of graph_service.proto.
TEST(GraphId, IsTheHashThatTheApiDocuments) {
  EXPECT_EQ(GraphIdOf(v1::GRAPH_FORMAT_ONNX, Sha256Of("abc"), {}),
            "9d4bf5434dc6d9225aef75928e40a63ecf46da98771273646244ba2cb9ba08fa");
}

TEST(GraphId, ChangesWithWhatChangesResultsAndWithNothingElse) {
  const Sha256Digest digest = Sha256Of("abc");
  const auto id = [&](const v1::CompileOptions& options) {
    return GraphIdOf(v1::GRAPH_FORMAT_ONNX, digest, options);
  };
  const std::string plain = id({});
  v1::CompileOptions options;
  options.set_device("cpu:0");
  options.set_pipelined(true);
  options.set_precision(v1::PRECISION_STRICT);
  options.add_shape_hints();
  EXPECT_EQ(id(options), plain);
  std::set<std::string> ids = {plain};
  options.set_deterministic(true);
  ids.insert(id(options));
  options.set_precision(v1::PRECISION_ALLOW_TF32);
  ids.insert(id(options));
  options.add_disabled_passes("b");
  ids.insert(id(options));
  options.add_disabled_passes("a");
  ids.insert(id(options));
  EXPECT_EQ(ids.size(), 5u);
  options.add_disabled_passes("b");  // a repetition, in another order
  EXPECT_EQ(ids.count(id(options)), 1u);
  EXPECT_NE(GraphIdOf(v1::GRAPH_FORMAT_TENSORD, digest, {}), plain);
}

TEST_F(GraphServiceTest, ASubmittedGraphIsDescribed) {
  v1::SubmitGraphRequest request;
  *request.mutable_graph() = IdentityGraph();
  ASSERT_TRUE(SubmitGraph(request).ok());
  EXPECT_EQ(submitted_.graph_id(),
            GraphIdOf(v1::GRAPH_FORMAT_TENSORD,
                      Sha256Of(request.graph().SerializeAsString()), {}));
  EXPECT_FALSE(submitted_.already_known());
  const v1::GraphInfo& info = submitted_.graph();
  EXPECT_EQ(info.name(), "identity");
  EXPECT_EQ(info.format(), v1::GRAPH_FORMAT_TENSORD);
  EXPECT_EQ(info.opset_version(), 17);
  ASSERT_EQ(info.inputs_size(), 1);
  EXPECT_EQ(info.inputs(0).name(), "x");
  EXPECT_EQ(info.inputs(0).dims(0).size(), 2);
  ASSERT_EQ(info.outputs_size(), 1);
  EXPECT_EQ(info.outputs(0).dtype(), v1::DTYPE_FLOAT32);
  EXPECT_EQ(info.node_count(), 1);
  EXPECT_GT(info.received_bytes(), 0);
}

TEST_F(GraphServiceTest, TheSameGraphAgainIsKnown) {
  v1::SubmitGraphRequest request;
  *request.mutable_graph() = IdentityGraph();
  ASSERT_TRUE(SubmitGraph(request).ok());
  const std::string id = submitted_.graph_id();
  ASSERT_TRUE(SubmitGraph(request).ok());
  EXPECT_TRUE(submitted_.already_known());
  EXPECT_EQ(submitted_.graph_id(), id);
}

TEST_F(GraphServiceTest, HintsAreCompiledForAndWrongOnesRefused) {
  v1::SubmitGraphRequest request;
  *request.mutable_graph() = SymbolicGraph();
  v1::ShapeBinding& hint = *request.mutable_options()->add_shape_hints();
  (*hint.mutable_symbols())["batch"] = 5;
  ASSERT_TRUE(SubmitGraph(request).ok());
  EXPECT_GE(engine_->CacheStats().compiled_graphs, 1);
  (*hint.mutable_symbols())["nonsense"] = 5;
  const grpc::Status status = SubmitGraph(request);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("nonsense"));
}

struct WrongSubmission {
  const char* name;
  void (*change)(v1::SubmitGraphRequest&);
  grpc::StatusCode code;
  const char* text;
};

class WrongSubmissions : public GraphServiceTest,
                         public ::testing::WithParamInterface<WrongSubmission> {
};

TEST_P(WrongSubmissions, AreRefusedAndWhatWasThereStays) {
  const std::string id = Submit(IdentityGraph());
  v1::SubmitGraphRequest request;
  *request.mutable_graph() = IdentityGraph("other");
  GetParam().change(request);
  const grpc::Status status = SubmitGraph(request);
  EXPECT_EQ(status.error_code(), GetParam().code) << status.error_message();
  EXPECT_THAT(status.error_message(), HasSubstr(GetParam().text));
  v1::GetGraphRequest get;
  get.set_graph_id(id);
  v1::GraphInfo info;
  EXPECT_TRUE(Call(kGet, get, info).ok());
  v1::ListGraphsResponse list;
  ASSERT_TRUE(Call(kList, v1::ListGraphsRequest(), list).ok());
  EXPECT_EQ(list.graphs_size(), 1);
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongSubmissions,
    ::testing::Values(
        WrongSubmission{"Nothing", [](auto& r) { r.clear_source(); },
                        grpc::StatusCode::INVALID_ARGUMENT, "graph or onnx"},
        WrongSubmission{"NoOnnx", [](auto& r) { r.set_onnx("\xff\xff\xff"); },
                        grpc::StatusCode::INVALID_ARGUMENT, "byte"},
        WrongSubmission{"UnknownOp",
                        [](auto& r) {
                          r.mutable_graph()->mutable_nodes(0)->set_op("Nope");
                        },
                        grpc::StatusCode::UNIMPLEMENTED, "Nope"},
        WrongSubmission{"UndefinedValue",
                        [](auto& r) {
                          r.mutable_graph()->mutable_nodes(0)->set_inputs(0,
                                                                          "q");
                        },
                        grpc::StatusCode::INVALID_ARGUMENT, "q"},
        WrongSubmission{"Precision",
                        [](auto& r) {
                          r.mutable_options()->set_precision(
                              static_cast<v1::Precision>(77));
                        },
                        grpc::StatusCode::INVALID_ARGUMENT, "77"},
        WrongSubmission{
            "Device", [](auto& r) { r.mutable_options()->set_device("gpu:0"); },
            grpc::StatusCode::NOT_FOUND, "gpu:0"},
        WrongSubmission{"Passes",
                        [](auto& r) {
                          for (int i = 0; i < 33; ++i) {
                            r.mutable_options()->add_disabled_passes("p");
                          }
                        },
                        grpc::StatusCode::INVALID_ARGUMENT, "33 passes"},
        WrongSubmission{"NoSuchPass",
                        [](auto& r) {
                          r.mutable_options()->add_disabled_passes(
                              "fold_constants");
                          r.mutable_options()->add_disabled_passes("bind");
                        },
                        grpc::StatusCode::INVALID_ARGUMENT,
                        "there is no pass 'bind' to leave out; there are "},
        WrongSubmission{"Hints",
                        [](auto& r) {
                          for (int i = 0; i < 17; ++i) {
                            r.mutable_options()->add_shape_hints();
                          }
                        },
                        grpc::StatusCode::INVALID_ARGUMENT, "17 hints"}),
    [](const auto& info) { return info.param.name; });

TEST_F(GraphServiceTest, AnOpWithoutAKernelIsToldTyped) {
  v1::SubmitGraphRequest request;
  *request.mutable_graph() = IdentityGraph();
  request.mutable_graph()->mutable_nodes(0)->set_op("Nope");
  const auto detail = DetailOf<v1::NoBackendForOp>(SubmitGraph(request));
  ASSERT_TRUE(detail.has_value());
  EXPECT_EQ(detail->op(), "Nope");
}

TEST_F(GraphServiceTest, ALimitIsToldTypedWithItsFlag) {
  StopServer();
  config_.engine.limits.max_nodes = 1;
  StartServer();
  v1::SubmitGraphRequest request;
  *request.mutable_graph() = IdentityGraph();
  v1::Node& node = *request.mutable_graph()->add_nodes();
  node = request.graph().nodes(0);
  node.set_outputs(0, "z");
  const grpc::Status status = SubmitGraph(request);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  const auto detail = DetailOf<v1::LimitExceeded>(status);
  ASSERT_TRUE(detail.has_value());
  EXPECT_EQ(detail->limit(), "max_nodes");
  EXPECT_EQ(detail->flag(), "--max-nodes");
  EXPECT_EQ(detail->maximum(), 1);
}

TEST_F(GraphServiceTest, GetTellsUnknownFromNoId) {
  v1::GetGraphRequest request;
  v1::GraphInfo info;
  request.set_graph_id(std::string(64, '0'));
  grpc::Status status = Call(kGet, request, info);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(DetailOf<google::rpc::ResourceInfo>(status)->resource_type(),
            "graph");
  request.set_graph_id("../../etc/passwd\n");
  status = Call(kGet, request, info);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), Not(HasSubstr("\n")));
}

TEST_F(GraphServiceTest, ListPagesThroughAllGraphsOnce) {
  std::set<std::string> ids;
  for (int i = 0; i < 5; ++i) {
    ids.insert(Submit(IdentityGraph("graph" + std::to_string(i))));
  }
  std::set<std::string> listed;
  v1::ListGraphsRequest request;
  request.set_page_size(2);
  int pages = 0;
  do {
    v1::ListGraphsResponse response;
    ASSERT_TRUE(Call(kList, request, response).ok());
    for (const auto& graph : response.graphs()) {
      EXPECT_TRUE(listed.insert(graph.graph_id()).second);
    }
    request.set_page_token(response.next_page_token());
    ++pages;
  } while (!request.page_token().empty());
  EXPECT_EQ(listed, ids);
  EXPECT_EQ(pages, 3);
}

TEST_F(GraphServiceTest, WrongPageTokensAndSizesAreRefused) {
  for (const char* token : {"x", "####", "AAAAAAAAAAAAAAAAAAAAAAAAAAAA"}) {
    v1::ListGraphsRequest request;
    request.set_page_token(token);
    v1::ListGraphsResponse response;
    EXPECT_EQ(Call(kList, request, response).error_code(),
              grpc::StatusCode::INVALID_ARGUMENT);
  }
  v1::ListGraphsRequest request;
  request.set_page_size(-1);
  v1::ListGraphsResponse response;
  EXPECT_EQ(Call(kList, request, response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(GraphServiceTest, ADeletedGraphIsGoneAndCanComeBack) {
  v1::DeleteGraphRequest request;
  request.set_graph_id(Submit(IdentityGraph()));
  v1::DeleteGraphResponse response;
  EXPECT_TRUE(Call(kDelete, request, response).ok());
  EXPECT_EQ(Call(kDelete, request, response).error_code(),
            grpc::StatusCode::NOT_FOUND);
  request.set_allow_missing(true);
  EXPECT_TRUE(Call(kDelete, request, response).ok());
  EXPECT_EQ(Submit(IdentityGraph()), request.graph_id());
}

TEST_F(GraphServiceTest, GetCountsExecutions) {
  const std::string id = Submit(IdentityGraph());
  v1::ExecuteResponse executed;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(Call("/tensord.v1.ExecutionService/Execute",
                     IdentityRequest(id, "null:0"), executed)
                    .ok());
  }
  v1::GetGraphRequest get;
  get.set_graph_id(id);
  v1::GraphInfo info;
  ASSERT_TRUE(Call(kGet, get, info).ok());
  EXPECT_EQ(info.execution_count(), 3);
  EXPECT_TRUE(info.has_last_use_time());
}

TEST_F(GraphServiceTest, ExplainTellsKernelDeviceAndMemory) {
  v1::ExplainGraphRequest request;
  request.set_graph_id(Submit(IdentityGraph()));
  request.set_device("null:0");
  ASSERT_TRUE(Explain(request).ok());
  ASSERT_EQ(explained_.nodes_size(), 1);
  EXPECT_EQ(explained_.nodes(0).op(), "Identity");
  EXPECT_EQ(explained_.nodes(0).device(), "null:0");
  EXPECT_EQ(explained_.compiled().device(), "null:0");
  EXPECT_EQ(explained_.compiled().segment_count(), 1);
  EXPECT_GT(explained_.compiled().memory().peak_bytes(), 0);
}

TEST_F(GraphServiceTest, ExplainNeedsShapesOfASymbolicGraph) {
  v1::ExplainGraphRequest request;
  request.set_graph_id(Submit(SymbolicGraph()));
  const grpc::Status status = Explain(request);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("batch"));
  (*request.mutable_shapes()->mutable_symbols())["batch"] = 4;
  EXPECT_TRUE(Explain(request).ok());
  v1::InputShape& shape = *request.mutable_shapes()->add_inputs();
  shape.set_name("x");
  shape.add_dims(4);
  EXPECT_TRUE(Explain(request).ok());
  shape.set_dims(0, 5);
  EXPECT_THAT(Explain(request).error_message(), HasSubstr("both 4 and 5"));
}

TEST_F(GraphServiceTest, ExplainPagesThroughItsNodes) {
  v1::Graph graph = IdentityGraph("chain");
  for (int i = 0; i < 4; ++i) {
    v1::Node& node = *graph.add_nodes();
    node.set_op("Relu");
    node.add_inputs(i == 0 ? "y" : "y" + std::to_string(i));
    node.add_outputs("y" + std::to_string(i + 1));
  }
  graph.set_outputs(0, "y4");
  v1::ExplainGraphRequest request;
  request.set_graph_id(Submit(graph));
  request.set_device("null:0");
  ASSERT_TRUE(Explain(request).ok());
  const int all = explained_.nodes_size();
  request.set_page_size(2);
  int seen = 0;
  do {
    ASSERT_TRUE(Explain(request).ok());
    for (const auto& node : explained_.nodes()) EXPECT_EQ(node.index(), seen++);
    request.set_page_token(explained_.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(seen, all);
  request.set_page_token("nonsense");
  EXPECT_EQ(Explain(request).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

}  // namespace
}  // namespace tensord
