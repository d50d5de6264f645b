#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "tensord/v1/errors.pb.h"
#include "tests/server/support/server_test.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kExecute[] = "/tensord.v1.ExecutionService/Execute";

class ExecuteTest : public ServerTest {
 protected:
  void SetUp() override {
    StartServer();
    graph_id_ = Submit(IdentityGraph());
  }

  grpc::Status Execute(const v1::ExecuteRequest& request) {
    response_.Clear();
    return Call(kExecute, request, response_);
  }

  std::string graph_id_;
  v1::ExecuteResponse response_;
};

TEST_F(ExecuteTest, AnswersWithTheOutputsOfTheGraph) {
  const auto request = IdentityRequest(graph_id_, "cpu:0");
  const grpc::Status status = Execute(request);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(response_.outputs_size(), 1);
  EXPECT_EQ(response_.outputs(0).name(), "y");
  EXPECT_EQ(response_.outputs(0).tensor().data(),
            request.inputs(0).tensor().data());
  EXPECT_EQ(response_.outputs(0).tensor().dims(0), 2);
  EXPECT_EQ(response_.device(), "cpu:0");
  EXPECT_THAT(response_.execution_id(), StartsWith("tensord."));
  EXPECT_EQ(response_.execution_id().size(),
            std::string("tensord.").size() + 26);
  EXPECT_GT(response_.timings().decode_ns(), 0);
  EXPECT_EQ(response_.batch_size(), 1);
}

TEST_F(ExecuteTest, RunsOnTheDeviceThatIsAskedFor) {
  ASSERT_TRUE(Execute(IdentityRequest(graph_id_, "null:0")).ok());
  EXPECT_EQ(response_.device(), "null:0");
  ASSERT_TRUE(Execute(IdentityRequest(graph_id_, "null")).ok());
  EXPECT_EQ(response_.device(), "null:0");
  ASSERT_TRUE(Execute(IdentityRequest(graph_id_, "")).ok());
  EXPECT_EQ(response_.device(), "cpu:0");
  ASSERT_TRUE(Execute(IdentityRequest(graph_id_, "cpu")).ok());
  EXPECT_EQ(response_.device(), "cpu:0");
  EXPECT_EQ(Execute(IdentityRequest(graph_id_, "cuda")).error_code(),
            grpc::StatusCode::NOT_FOUND);
  const grpc::Status status = Execute(IdentityRequest(graph_id_, "cpu:7"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(status.error_message(), HasSubstr("cpu:7"));
}

TEST_F(ExecuteTest, EveryRunHasAnIdOfItsOwn) {
  ASSERT_TRUE(Execute(IdentityRequest(graph_id_, "")).ok());
  const std::string first = response_.execution_id();
  ASSERT_TRUE(Execute(IdentityRequest(graph_id_, "")).ok());
  EXPECT_NE(response_.execution_id(), first);
}

TEST_F(ExecuteTest, ReturnsOnlyTheOutputsThatAreAskedFor) {
  v1::Graph graph = IdentityGraph("two");
  v1::Node& node = *graph.add_nodes();
  node.set_op("Identity");
  node.add_inputs("y");
  node.add_outputs("z");
  graph.add_outputs("z");
  v1::ExecuteRequest request = IdentityRequest(Submit(graph), "cpu:0");
  ASSERT_TRUE(Execute(request).ok());
  EXPECT_EQ(response_.outputs_size(), 2);
  request.add_outputs()->set_name("z");
  ASSERT_TRUE(Execute(request).ok());
  ASSERT_EQ(response_.outputs_size(), 1);
  EXPECT_EQ(response_.outputs(0).name(), "z");
  request.add_outputs()->set_name("y");
  ASSERT_TRUE(Execute(request).ok());
  EXPECT_EQ(response_.outputs(0).name(), "z");
  EXPECT_EQ(response_.outputs(1).name(), "y");
}

TEST_F(ExecuteTest, ATraceHasTheLaunches) {
  v1::ExecuteRequest request = IdentityRequest(Submit(ReluGraph()), "null:0");
  request.mutable_options()->mutable_trace()->set_max_rows(10);
  ASSERT_TRUE(Execute(request).ok());
  ASSERT_EQ(response_.trace().rows_size(), 1);
  EXPECT_EQ(response_.trace().rows(0).op(), "Relu");
  EXPECT_EQ(response_.trace().launch_count(), 1);
  EXPECT_EQ(response_.trace().rows(0).device(), "null:0");
}

TEST_F(ExecuteTest, LargeTensorsComeBackBitByBit) {
  v1::Graph graph = IdentityGraph("large");
  graph.mutable_inputs(0)->mutable_dims(0)->set_symbol("n");
  v1::ExecuteRequest request = IdentityRequest(Submit(graph), "cpu:0");
  std::string data(8 << 20, '\0');
  std::mt19937_64 random(5);
  for (char& c : data) c = static_cast<char>(random());
  v1::Tensor& tensor = *request.mutable_inputs(0)->mutable_tensor();
  tensor.set_dims(0, static_cast<int64_t>(data.size() / 4));
  tensor.set_data(data);
  const grpc::Status status = Execute(request);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_TRUE(response_.outputs(0).tensor().data() == data);
}

TEST_F(ExecuteTest, ManyAtOnceAllGetTheirOwnAnswer) {
  std::vector<std::thread> clients;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&, i] {
      for (int k = 0; k < 50; ++k) {
        v1::ExecuteRequest request = IdentityRequest(graph_id_, "cpu:0");
        const float values[] = {static_cast<float>(i), static_cast<float>(k)};
        request.mutable_inputs(0)->mutable_tensor()->set_data(values,
                                                              sizeof(values));
        v1::ExecuteResponse response;
        if (!Call(kExecute, request, response).ok() ||
            response.outputs(0).tensor().data() !=
                request.inputs(0).tensor().data()) {
          ++wrong;
        }
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(wrong, 0);
}

// --- What is wrong.

struct WrongRequest {
  const char* name;
  void (*change)(v1::ExecuteRequest&);
  grpc::StatusCode code;
  const char* text;
};

class WrongRequests : public ExecuteTest,
                      public ::testing::WithParamInterface<WrongRequest> {};

TEST_P(WrongRequests, AreRefusedAndTheNextOneRuns) {
  v1::ExecuteRequest request = IdentityRequest(graph_id_, "cpu:0");
  GetParam().change(request);
  const grpc::Status status = Execute(request);
  EXPECT_EQ(status.error_code(), GetParam().code) << status.error_message();
  EXPECT_THAT(status.error_message(), HasSubstr(GetParam().text));
  EXPECT_TRUE(Execute(IdentityRequest(graph_id_, "cpu:0")).ok());
}

v1::Tensor& TensorOf(v1::ExecuteRequest& request) {
  return *request.mutable_inputs(0)->mutable_tensor();
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongRequests,
    ::testing::Values(
        WrongRequest{"UnknownGraph",
                     [](auto& r) { r.set_graph_id(std::string(64, 'a')); },
                     grpc::StatusCode::NOT_FOUND, "there is no graph"},
        WrongRequest{"NoGraphId", [](auto& r) { r.set_graph_id("x\ny"); },
                     grpc::StatusCode::INVALID_ARGUMENT, "x\\ny"},
        WrongRequest{"MissingInput", [](auto& r) { r.clear_inputs(); },
                     grpc::StatusCode::INVALID_ARGUMENT, "'x' is missing"},
        WrongRequest{"UnknownInput",
                     [](auto& r) { r.mutable_inputs(0)->set_name("q"); },
                     grpc::StatusCode::INVALID_ARGUMENT, "no input 'q'"},
        WrongRequest{"TooManyInputs",
                     [](auto& r) { *r.add_inputs() = r.inputs(0); },
                     grpc::StatusCode::INVALID_ARGUMENT, "2 are given"},
        WrongRequest{"NoSource",
                     [](auto& r) { r.mutable_inputs(0)->clear_source(); },
                     grpc::StatusCode::INVALID_ARGUMENT, "has no tensor"},
        WrongRequest{"WrongDType",
                     [](auto& r) { TensorOf(r).set_dtype(v1::DTYPE_INT32); },
                     grpc::StatusCode::INVALID_ARGUMENT, "int32"},
        WrongRequest{"WrongRank", [](auto& r) { TensorOf(r).add_dims(1); },
                     grpc::StatusCode::INVALID_ARGUMENT, "x"},
        WrongRequest{"WrongExtent",
                     [](auto& r) {
                       TensorOf(r).set_dims(0, 3);
                       TensorOf(r).set_data(std::string(12, '\0'));
                     },
                     grpc::StatusCode::INVALID_ARGUMENT, "3"},
        WrongRequest{"WrongBytes",
                     [](auto& r) { TensorOf(r).set_data("1234567"); },
                     grpc::StatusCode::INVALID_ARGUMENT, "7 bytes"},
        WrongRequest{"HugeDims",
                     [](auto& r) { TensorOf(r).set_dims(0, INT64_MAX); },
                     grpc::StatusCode::INVALID_ARGUMENT, "9223372036854775807"},
        WrongRequest{"UnknownOutput",
                     [](auto& r) { r.add_outputs()->set_name("q"); },
                     grpc::StatusCode::INVALID_ARGUMENT, "no output 'q'"},
        WrongRequest{"TooManyOutputs",
                     [](auto& r) {
                       r.add_outputs()->set_name("y");
                       r.add_outputs()->set_name("y");
                     },
                     grpc::StatusCode::INVALID_ARGUMENT, "2 are asked for"},
        WrongRequest{"ByHandle",
                     [](auto& r) { r.mutable_inputs(0)->set_tensor_id("t"); },
                     grpc::StatusCode::INVALID_ARGUMENT, "no tensor id"},
        WrongRequest{"Sequence",
                     [](auto& r) { r.mutable_inputs(0)->mutable_sequence(); },
                     grpc::StatusCode::UNIMPLEMENTED, "sequence"},
        WrongRequest{"Donate",
                     [](auto& r) { r.mutable_inputs(0)->set_donate(true); },
                     grpc::StatusCode::INVALID_ARGUMENT, "donate"},
        WrongRequest{"TimeToLiveOfNothing",
                     [](auto& r) {
                       r.add_outputs()->set_name("y");
                       r.mutable_outputs(0)->mutable_time_to_live();
                     },
                     grpc::StatusCode::INVALID_ARGUMENT, "keep_on_device"},
        WrongRequest{"RequestId",
                     [](auto& r) {
                       r.mutable_options()->set_request_id(
                           std::string(129, 'r'));
                     },
                     grpc::StatusCode::INVALID_ARGUMENT, "129 bytes"},
        WrongRequest{"Session",
                     [](auto& r) { r.mutable_options()->set_session_id("s"); },
                     grpc::StatusCode::INVALID_ARGUMENT, "no session id"},
        WrongRequest{"KeepResult",
                     [](auto& r) {
                       r.mutable_options()->mutable_keep_result()->set_seconds(
                           -1);
                     },
                     grpc::StatusCode::INVALID_ARGUMENT, "keep_result"},
        WrongRequest{"Trace",
                     [](auto& r) {
                       r.mutable_options()->mutable_trace()->set_max_rows(-1);
                     },
                     grpc::StatusCode::INVALID_ARGUMENT, "max_rows"}),
    [](const auto& info) { return info.param.name; });

TEST_F(ExecuteTest, AWrongTensorIsDescribedTyped) {
  v1::ExecuteRequest request = IdentityRequest(graph_id_, "cpu:0");
  TensorOf(request).set_dtype(v1::DTYPE_INT32);
  auto detail = DetailOf<v1::InvalidTensor>(Execute(request));
  ASSERT_TRUE(detail.has_value());
  EXPECT_EQ(detail->name(), "x");
  EXPECT_EQ(detail->dtype(), v1::DTYPE_INT32);
  EXPECT_EQ(detail->expected().dtype(), v1::DTYPE_FLOAT32);
  request = IdentityRequest(graph_id_, "cpu:0");
  TensorOf(request).set_data("123");
  detail = DetailOf<v1::InvalidTensor>(Execute(request));
  ASSERT_TRUE(detail.has_value());
  EXPECT_EQ(detail->expected_bytes(), 8);
  EXPECT_EQ(detail->received_bytes(), 3);
}

TEST_F(ExecuteTest, RandomBytesAreMalformed) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 300; ++i) {
    std::string bytes(random() % 200, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    EXPECT_FALSE(CallBytes(kExecute, bytes).ok());
  }
  const grpc::Status status = CallBytes(kExecute, "\xff\xff\xff");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(ReasonOf(status), "MALFORMED_MESSAGE");
  EXPECT_TRUE(Execute(IdentityRequest(graph_id_, "cpu:0")).ok());
}

TEST_F(ExecuteTest, ADeadlineThatHasPassedIsToldAsOne) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() -
                       std::chrono::seconds(1));
  EXPECT_EQ(Call(kExecute, IdentityRequest(graph_id_, ""), response_, &context)
                .error_code(),
            grpc::StatusCode::DEADLINE_EXCEEDED);
}

TEST_F(ExecuteTest, MetricsAndPhasesAreRecorded) {
  ASSERT_TRUE(Execute(IdentityRequest(graph_id_, "null:0")).ok());
  bool has_decode = false, has_encode = false;
  for (const op_profile::PhaseRow& row : phases_.Snapshot()) {
    if (row.backend != BackendId::kNull) continue;
    has_decode |= row.phase == op_profile::Phase::kDecode;
    has_encode |= row.phase == op_profile::Phase::kEncode;
  }
  EXPECT_TRUE(has_decode);
  EXPECT_TRUE(has_encode);
}

TEST_F(ExecuteTest, TheLogHasTheTraceIdOfTheClient) {
  grpc::ClientContext context;
  context.AddMetadata(
      "traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  ASSERT_TRUE(
      Call(kExecute, IdentityRequest(graph_id_, ""), response_, &context).ok());
  EXPECT_THAT(log_lines(),
              HasSubstr("trace_id=4bf92f3577b34da6a3ce929d0e0e4736"));
}

TEST_F(ExecuteTest, AnEndedServerHasNoBufferOnLoan) {
  ASSERT_TRUE(Execute(IdentityRequest(graph_id_, "cpu:0")).ok());
  channel_.reset();
  server_.reset();
  EXPECT_EQ(engine_->buffers().loaned_bytes(), 0u);
}

}  // namespace
}  // namespace tensord
