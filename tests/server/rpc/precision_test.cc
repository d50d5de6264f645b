#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "tests/server/support/server_test.h"
#include "tests/support/tolerances.h"

// What CompileOptions.precision allows, from the wire to the kernel.
namespace tensord {
namespace {

using ::testing::HasSubstr;

constexpr char kSubmit[] = "/tensord.v1.GraphService/SubmitGraph";
constexpr char kExplain[] = "/tensord.v1.GraphService/ExplainGraph";
constexpr char kExecute[] = "/tensord.v1.ExecutionService/Execute";

constexpr int64_t kRows = 64, kDepth = 128, kColumns = 96;

// Numbers of about 1 that bfloat16 does not have.
std::vector<float> Numbers(int64_t count, double step) {
  std::vector<float> numbers;
  for (int64_t i = 0; i < count; ++i) {
    numbers.push_back(static_cast<float>(std::sin(step * (1.0 + i))));
  }
  return numbers;
}

void Fill(v1::Tensor& tensor, int64_t rows, int64_t columns, double step) {
  const std::vector<float> numbers = Numbers(rows * columns, step);
  tensor.set_dtype(v1::DTYPE_FLOAT32);
  tensor.add_dims(rows);
  tensor.add_dims(columns);
  tensor.set_data(numbers.data(), numbers.size() * sizeof(float));
}

class PrecisionTest : public ServerTest {
 protected:
  struct Outcome {
    std::string graph_id;
    std::string kernel;
    std::string reason;  // why the kernel that rounds declined; else empty
    std::vector<float> y;
  };

  void SetUp() override { StartServer(); }

  // x [64, 128] times a constant.
  static v1::Graph ProductGraph() {
    v1::Graph graph = IdentityGraph("product");
    v1::ValueInfo& x = *graph.mutable_inputs(0);
    x.clear_dims();
    x.add_dims()->set_size(kRows);
    x.add_dims()->set_size(kDepth);
    v1::Initializer& w = *graph.add_initializers();
    w.set_name("w");
    Fill(*w.mutable_tensor(), kDepth, kColumns, 0.7);
    graph.mutable_nodes(0)->set_op("MatMul");
    graph.mutable_nodes(0)->add_inputs("w");
    return graph;
  }

  Outcome RunWith(v1::Precision precision) {
    Outcome outcome;
    v1::SubmitGraphRequest submit;
    *submit.mutable_graph() = ProductGraph();
    submit.mutable_options()->set_precision(precision);
    v1::SubmitGraphResponse submitted;
    grpc::Status status = Call(kSubmit, submit, submitted);
    EXPECT_TRUE(status.ok()) << status.error_message();
    outcome.graph_id = submitted.graph_id();

    v1::ExplainGraphRequest explain;
    explain.set_graph_id(outcome.graph_id);
    explain.set_device("cpu:0");
    v1::ExplainGraphResponse explained;
    status = Call(kExplain, explain, explained);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(explained.nodes_size(), 1);
    if (explained.nodes_size() != 1) return outcome;
    outcome.kernel = explained.nodes(0).kernel();
    for (const auto& declined : explained.nodes(0).declined()) {
      if (absl::EndsWith(declined.kernel(), "_bf16")) {
        outcome.reason = declined.reason();
      }
    }

    v1::ExecuteRequest execute = IdentityRequest(outcome.graph_id, "cpu:0");
    v1::Tensor& x = *execute.mutable_inputs(0)->mutable_tensor();
    x.Clear();
    Fill(x, kRows, kDepth, 0.3);
    v1::ExecuteResponse executed;
    status = Call(kExecute, execute, executed);
    EXPECT_TRUE(status.ok()) << status.error_message();
    if (executed.outputs_size() != 1) return outcome;
    const std::string& bytes = executed.outputs(0).tensor().data();
    outcome.y.resize(bytes.size() / sizeof(float));
    std::memcpy(outcome.y.data(), bytes.data(), bytes.size());
    return outcome;
  }
};

TEST_F(PrecisionTest, OnlyASubmissionThatAllowsItIsRounded) {
  const Outcome strict = RunWith(v1::PRECISION_STRICT);
  const Outcome tf32 = RunWith(v1::PRECISION_ALLOW_TF32);
  const Outcome bf16 = RunWith(v1::PRECISION_ALLOW_BF16);
  EXPECT_NE(strict.graph_id, tf32.graph_id);
  EXPECT_NE(tf32.graph_id, bf16.graph_id);
  EXPECT_FALSE(absl::EndsWith(strict.kernel, "_bf16")) << strict.kernel;
  EXPECT_FALSE(absl::EndsWith(tf32.kernel, "_bf16")) << tf32.kernel;
  // A build without the library has no kernel that rounds.
  if (!strict.reason.empty()) {
    EXPECT_THAT(strict.reason, HasSubstr("the request does not allow"));
    EXPECT_THAT(tf32.reason, HasSubstr("the request does not allow"));
    if (!absl::EndsWith(bf16.kernel, "_bf16")) {
      EXPECT_THAT(bf16.reason, HasSubstr("this machine has no instructions"));
    }
  }
  ASSERT_EQ(strict.y.size(), static_cast<size_t>(kRows * kColumns));
  ASSERT_EQ(bf16.y.size(), strict.y.size());
  EXPECT_EQ(tf32.y, strict.y);
  EXPECT_EQ(bf16.y != strict.y, absl::EndsWith(bf16.kernel, "_bf16"));
  const Tolerance tolerance =
      ToleranceFor(DType::kFloat32, OpFamily::kRoundedContraction, kDepth);
  for (size_t i = 0; i < strict.y.size(); ++i) {
    ASSERT_NEAR(bf16.y[i], strict.y[i],
                tolerance.absolute + tolerance.relative * std::abs(strict.y[i]))
        << i;
  }
}

TEST_F(PrecisionTest, ANumberThatIsNoPrecisionIsRefused) {
  v1::SubmitGraphRequest submit;
  *submit.mutable_graph() = ProductGraph();
  submit.mutable_options()->set_precision(static_cast<v1::Precision>(9));
  v1::SubmitGraphResponse submitted;
  const grpc::Status status = Call(kSubmit, submit, submitted);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("options.precision"));
}

}  // namespace
}  // namespace tensord
