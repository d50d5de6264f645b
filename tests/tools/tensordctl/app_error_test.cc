// What is shown of errors, and the exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "tensord/v1/errors.pb.h"
#include "tests/tools/tensordctl/app_fixture.h"

namespace tensord::ctl {
namespace {

using testing::Error;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct CodeCase {
  int grpc_code;
  const char* name;
  ExitCode expected;
};
class ExitCodes : public AppTest,
                  public ::testing::WithParamInterface<CodeCase> {};

TEST_P(ExitCodes, AreAsTheHelpSays) {
  daemon.failure = Error(GetParam().grpc_code, "the text");
  const Outcome outcome = Run({"devices"});
  EXPECT_EQ(outcome.code, GetParam().expected);
  EXPECT_EQ(outcome.err,
            absl::StrCat("tensordctl: ", GetParam().name, ": the text\n"));
  EXPECT_EQ(outcome.out, "");
}
INSTANTIATE_TEST_SUITE_P(
    AllCodes, ExitCodes,
    ::testing::Values(CodeCase{1, "CANCELLED", ExitCode::kUnavailable},
                      CodeCase{2, "UNKNOWN", ExitCode::kInternal},
                      CodeCase{3, "INVALID_ARGUMENT", ExitCode::kRefused},
                      CodeCase{4, "DEADLINE_EXCEEDED", ExitCode::kUnavailable},
                      CodeCase{5, "NOT_FOUND", ExitCode::kRefused},
                      CodeCase{6, "ALREADY_EXISTS", ExitCode::kRefused},
                      CodeCase{7, "PERMISSION_DENIED", ExitCode::kRefused},
                      CodeCase{8, "RESOURCE_EXHAUSTED", ExitCode::kRefused},
                      CodeCase{9, "FAILED_PRECONDITION", ExitCode::kRefused},
                      CodeCase{10, "ABORTED", ExitCode::kInternal},
                      CodeCase{11, "OUT_OF_RANGE", ExitCode::kRefused},
                      CodeCase{12, "UNIMPLEMENTED", ExitCode::kRefused},
                      CodeCase{13, "INTERNAL", ExitCode::kInternal},
                      CodeCase{14, "UNAVAILABLE", ExitCode::kUnavailable},
                      CodeCase{15, "DATA_LOSS", ExitCode::kInternal},
                      CodeCase{16, "UNAUTHENTICATED", ExitCode::kRefused}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(AppTest, CallsAFullQueueUnavailable) {
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_nanos(50'000'000);
  daemon.failure = Error(8, "the queue is full", retry);
  const Outcome outcome = Run({"devices"});
  EXPECT_EQ(outcome.code, ExitCode::kUnavailable);
  EXPECT_EQ(outcome.err,
            "tensordctl: RESOURCE_EXHAUSTED: the queue is full "
            "[retry after 50.0 ms]\n");
}

TEST_F(AppTest, GivesUpAtTheTimeout) {
  daemon.is_silent = true;
  const Outcome outcome = Run({"devices", "--timeout", "30ms"});
  EXPECT_EQ(outcome.code, ExitCode::kUnavailable);
  EXPECT_THAT(outcome.err, StartsWith("tensordctl: DEADLINE_EXCEEDED: "));
}

TEST_F(AppTest, ExplainsAMissingKernelInABlock) {
  v1::NoBackendForOp detail;
  detail.set_op("Einsum");
  detail.set_node("attn/einsum");
  detail.set_node_count(3);
  detail.mutable_dtypes()->add_inputs(v1::DTYPE_FLOAT16);
  detail.mutable_dtypes()->add_outputs(v1::DTYPE_FLOAT16);
  detail.add_backends("cpu");
  v1::BackendSupport& support = *detail.add_supported();
  support.set_backend("cpu");
  support.add_combinations()->add_inputs(v1::DTYPE_FLOAT32);
  support.mutable_combinations(0)->add_outputs(v1::DTYPE_FLOAT32);
  v1::DeclinedKernel& declined = *detail.add_declined();
  declined.set_backend("cpu");
  declined.set_kernel("einsum_f16");
  declined.set_reason("dilation 2 is above 1");
  daemon.failure = Error(12, "no kernel for Einsum", detail);

  const Outcome outcome = Run({"submit", model});
  EXPECT_EQ(outcome.code, ExitCode::kRefused);
  EXPECT_EQ(
      outcome.err,
      "tensordctl: UNIMPLEMENTED: no kernel for Einsum\n"
      "  op         Einsum (node attn/einsum), and 2 more nodes without a "
      "kernel\n"
      "  dtypes     float16 -> float16\n"
      "  asked for  any device\n"
      "  backends   cpu\n"
      "  supported  cpu: float32 -> float32\n"
      "  declined   cpu einsum_f16: dilation 2 is above 1\n");

  const Outcome as_json = Run({"submit", model, "--json"});
  const Json error = Json::parse(as_json.err)["error"];
  EXPECT_EQ(error["code"], "UNIMPLEMENTED");
  EXPECT_EQ(error["details"]["NoBackendForOp"]["op"], "Einsum");
  EXPECT_EQ(error["details"]["NoBackendForOp"]["node_count"], 3);
}

TEST_F(AppTest, ShowsTheDetailsOfOtherErrors) {
  v1::LimitExceeded limit;
  limit.set_limit("max_constant_bytes");
  limit.set_flag("--max-constant-bytes");
  limit.set_maximum(1 << 20);
  limit.set_unit("bytes");
  daemon.failure = Error(8, "too many constants", limit);
  EXPECT_THAT(Run({"submit", model}).err,
              HasSubstr("[max_constant_bytes is 1.00 MiB, set by "
                        "--max-constant-bytes]"));
  v1::InvalidGraph graph;
  graph.set_node("proj");
  graph.set_op("MatMul");
  daemon.failure = Error(3, "inner extents 512 vs 768", graph);
  EXPECT_THAT(Run({"submit", model}).err, HasSubstr("[node proj, op MatMul]"));
  google::rpc::ErrorInfo info;
  info.set_reason("FEATURE_OFF");
  daemon.failure = Error(12, "off", info);
  EXPECT_THAT(Run({"submit", model}).err, HasSubstr("[reason FEATURE_OFF]"));
}

TEST_F(AppTest, KeepsErrorsOnOneLineWhateverTheyHold) {
  daemon.failure = Error(3, "bad \x1b[31m\nname");
  EXPECT_EQ(Run({"devices"}).err,
            "tensordctl: INVALID_ARGUMENT: bad \\x1b[31m\\x0aname\n");
}

}  // namespace
}  // namespace tensord::ctl
