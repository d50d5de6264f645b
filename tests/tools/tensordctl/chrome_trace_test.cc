#include "tools/tensordctl/chrome_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/tools/tensordctl/app_fixture.h"
#include "tools/tensordctl/files.h"

namespace tensord::ctl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Decoded, queued, launched twice on a device with a clock of its own.
RunTrace TestRun() {
  RunTrace run{.execution_id = "a.b", .graph_id = "3fa9", .device = "cuda:0"};
  run.timings.set_decode_ns(1000);
  run.timings.set_queue_ns(4000);
  run.timings.set_run_ns(20'000);
  run.timings.set_wait_ns(30'000);
  run.timings.set_encode_ns(500);
  for (int i = 0; i < 2; ++i) {
    v1::TraceRow& row = *run.launches.add_rows();
    row.set_node_index(i);
    row.set_op("Conv");
    row.set_node(i == 0 ? "conv1" : "");
    row.set_kernel("conv_f32");
    row.set_device("cuda:0");
    row.set_start_ns(2000 + 3000 * i);
    row.set_host_ns(1500);
    row.set_device_start_ns(2000 + 20'000 * i);
    row.set_device_ns(20'000);
    row.set_size_bytes(64);
  }
  run.launches.set_launch_count(2);
  return run;
}

// The slices of one row, in order.
std::vector<Json> Slices(const Json& trace, int process, int thread) {
  std::vector<Json> slices;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "X" && event["pid"] == process &&
        event["tid"] == thread) {
      slices.push_back(event);
    }
  }
  return slices;
}

std::vector<std::string> Names(const std::vector<Json>& slices) {
  std::vector<std::string> names;
  for (const Json& slice : slices) names.push_back(slice["name"]);
  return names;
}

TEST(ChromeTrace, PhasesFollowOneAnother) {
  const auto phases = Slices(Json(ChromeTrace(TestRun())), 1, 1);
  EXPECT_THAT(Names(phases),
              ElementsAre("decode", "queue", "run", "wait", "encode"));
  double end_us = 0;
  for (const Json& phase : phases) {
    EXPECT_DOUBLE_EQ(phase["ts"].get<double>(), end_us);
    end_us += phase["dur"].get<double>();
  }
  EXPECT_DOUBLE_EQ(end_us, 55.5);
}

TEST(ChromeTrace, LaunchesStandBehindTheWaitForALane) {
  const auto launches = Slices(Json(ChromeTrace(TestRun())), 1, 2);
  EXPECT_THAT(Names(launches), ElementsAre("Conv conv1", "Conv"));
  EXPECT_DOUBLE_EQ(launches[0]["ts"].get<double>(), 7.0);
  EXPECT_DOUBLE_EQ(launches[0]["dur"].get<double>(), 1.5);
  EXPECT_EQ(launches[0]["args"]["kernel"], "conv_f32");
  EXPECT_EQ(launches[0]["args"]["bytes"], 64);
}

TEST(ChromeTrace, ADeviceWithTimesHasARowOfItsOwn) {
  RunTrace run = TestRun();
  const Json trace(ChromeTrace(run));
  const auto kernels = Slices(trace, 2, 2);
  ASSERT_THAT(kernels, SizeIs(2));
  EXPECT_DOUBLE_EQ(kernels[1]["ts"].get<double>(), 27.0);
  EXPECT_DOUBLE_EQ(kernels[1]["dur"].get<double>(), 20.0);
  EXPECT_THAT(trace.dump(), HasSubstr("\"name\":\"cuda:0\""));
  for (v1::TraceRow& row : *run.launches.mutable_rows()) row.clear_device_ns();
  EXPECT_THAT(Slices(Json(ChromeTrace(run)), 2, 2), IsEmpty());
}

TEST(ChromeTrace, SaysWhatItIsOfAndWhatItLacks) {
  RunTrace run = TestRun();
  run.trace_id = "4bf9";
  run.launches.set_is_truncated(true);
  run.launches.set_launch_count(7);
  const Json about = Json(ChromeTrace(run))["otherData"];
  EXPECT_EQ(about["execution_id"], "a.b");
  EXPECT_EQ(about["trace_id"], "4bf9");
  EXPECT_EQ(about["launches_left_out"], 5);
}

class TraceCommand : public AppTest {
 protected:
  TraceCommand() {
    daemon.execute = [](const v1::ExecuteRequest& request,
                        v1::ExecuteResponse& response) {
      is_asked_for_ = request.options().trace().device_times();
      if (is_asked_for_) *response.mutable_trace() = TestRun().launches;
    };
  }

  inline static bool is_asked_for_ = false;
};

TEST_F(TraceCommand, ShowsARunThatWasStarted) {
  std::string id =
      Run({"start", model, "--input", "x=random:1x3", "--trace", "-q"}).out;
  id.pop_back();
  EXPECT_TRUE(is_asked_for_);
  const Outcome outcome = Run({"trace", id});
  ASSERT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_THAT(Slices(outcome.json(), 1, 2), SizeIs(2));
  const std::string file = folder.PathOf("trace.json");
  EXPECT_THAT(Run({"trace", id, "--output", file}).out,
              HasSubstr("trace.json: 2 launches\n"));
  EXPECT_EQ(Json::parse(*ReadFile(file)), outcome.json());
}

TEST_F(TraceCommand, OfARunThatIsUnknownOrGoesOnThereIsNone) {
  EXPECT_EQ(Run({"trace", "no.such"}).code, ExitCode::kRefused);
  daemon.runs.waits_for_finish = true;
  std::string id =
      Run({"start", model, "--input", "x=random:1x3", "--trace", "-q"}).out;
  id.pop_back();
  const Outcome outcome = Run({"trace", id, "--timeout", "20ms"});
  EXPECT_EQ(outcome.code, ExitCode::kUnavailable);
  EXPECT_THAT(outcome.err, HasSubstr("goes on"));
}

TEST_F(TraceCommand, RunWritesTheSame) {
  const std::string file = folder.PathOf("trace.json");
  const Outcome outcome =
      Run({"run", model, "--input", "x=random:1x3", "--trace-file", file});
  ASSERT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("wrote      " + file + "\n"));
  EXPECT_THAT(Slices(Json::parse(*ReadFile(file)), 1, 2), SizeIs(2));
  EXPECT_EQ(Run({"run", model, "--input", "x=random:1x3", "--trace-file",
                 "/no/such/folder/file"})
                .code,
            ExitCode::kUsage);
}

TEST_F(TraceCommand, PassesTheTraceOfItsCallerOn) {
  const std::string traceparent =
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  ::setenv("TRACEPARENT", traceparent.c_str(), 1);
  Run({"devices"});
  ::setenv("TRACEPARENT", "not\na traceparent", 1);
  Run({"devices"});
  ::unsetenv("TRACEPARENT");
  Run({"devices"});
  EXPECT_THAT(daemon.traceparents(), ElementsAre(traceparent, "", ""));
}

}  // namespace
}  // namespace tensord::ctl
