// tensordctl bench and top.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tools/tensordctl/app_fixture.h"
#include "tools/tensordctl/bench_report.h"
#include "tools/tensordctl/progress_line.h"

namespace tensord::ctl {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

std::vector<std::string> Bench(const std::string& model,
                               std::vector<std::string> more = {}) {
  std::vector<std::string> line = {"bench",     model, "--input",    "random",
                                   "--set",     "N=2", "--duration", "100ms",
                                   "--warm-up", "0"};
  line.insert(line.end(), more.begin(), more.end());
  return line;
}

TEST_F(AppTest, ShowsRatesAndPercentiles) {
  const Outcome outcome = Run(Bench(model, {"--concurrency", "2"}));
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("load       2 at a time for 100ms"),
                                 HasSubstr("RATE/S"), HasSubstr("P99.9"),
                                 HasSubstr("net ")));
  // It is no terminal.
  EXPECT_EQ(outcome.err, "");
}

TEST_F(AppTest, BenchesForPrograms) {
  const Json json =
      Run(Bench(model, {"--rate", "100", "--stream", "--json"})).json();
  EXPECT_EQ(json["loop"], "open");
  EXPECT_EQ(json["offered_rate"], 100);
  EXPECT_EQ(json["is_stream"], true);
  EXPECT_EQ(json["latency"]["count"], 10);
  EXPECT_GE(json["latency"]["p99_9_ns"], json["latency"]["p50_ns"]);
  EXPECT_EQ(json["graphs"][0]["graph"], "net");
  EXPECT_EQ(json["error_count"], 0);
}

TEST_F(AppTest, BenchesSeveralGraphs) {
  const std::string other = folder.Add("other.onnx", "another model");
  std::vector<std::string> line = Bench(model, {"--json"});
  line.insert(line.begin() + 2, other);
  EXPECT_THAT(Run(line).json()["graphs"], SizeIs(2));
  EXPECT_THAT(daemon.submissions(), SizeIs(2));
  line.pop_back();
  EXPECT_THAT(Run(line).out, HasSubstr("\nall "));
}

TEST_F(AppTest, EndsABenchByTheFirstErrorsCode) {
  // The first one, before the load, succeeds.
  daemon.failure = testing::Error(14, "restarting");
  daemon.failing_calls = 0;
  daemon.execute = [this](const v1::ExecuteRequest&, v1::ExecuteResponse&) {
    if (daemon.executions().size() > 3) daemon.failing_calls = 1000;
  };
  const Outcome outcome = Run(Bench(model));
  EXPECT_EQ(outcome.code, ExitCode::kUnavailable);
  EXPECT_THAT(outcome.out, HasSubstr(" UNAVAILABLE\n"));
}

TEST_F(AppTest, BenchesNothingThatFailsAtOnce) {
  daemon.knows_only_submitted = true;
  daemon.forgets_at_once = true;
  const Outcome outcome = Run(Bench(model));
  EXPECT_EQ(outcome.code, ExitCode::kRefused);
  EXPECT_THAT(daemon.executions(), SizeIs(1));
}

TEST_F(AppTest, RefusesALoadThatMakesNoSense) {
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{
           {"--rate", "0"},
           {"--rate", "5", "--concurrency", "2"},
           {"--duration", "inf"},
           {"--duration", "soon"},
           {"--warm-up", "-1s"},
           {"--connections", "0"}}) {
    const Outcome outcome = Run(Bench(model, more));
    EXPECT_EQ(outcome.code, ExitCode::kUsage) << outcome.out;
  }
  EXPECT_THAT(daemon.executions(), SizeIs(0));
}

TEST_F(AppTest, WatchesOpsAndDevices) {
  v1::Device& device = *daemon.devices.add_devices();
  device.set_name("cpu:0");
  device.set_queue_depth(17);
  const auto profile = [](const char* op) {
    v1::OpProfile result;
    v1::OpProfileRow& row = *result.add_rows();
    row.set_op(op);
    row.set_backend("cpu");
    row.set_launch_count(3);
    return result;
  };
  daemon.watched = {profile("Before"), profile("Conv"), profile("Relu")};
  // What was before the first interval is not shown.
  const Outcome once = Run({"top", "--once"});
  EXPECT_EQ(once.code, ExitCode::kOk) << once.err;
  EXPECT_THAT(once.out, AllOf(HasSubstr("cpu:0"), HasSubstr("17"),
                              HasSubstr("Conv"), Not(HasSubstr("Before")),
                              Not(HasSubstr("Relu")), Not(HasSubstr("\x1b"))));
  EXPECT_THAT(Run({"top"}).out, AllOf(HasSubstr("Conv"), HasSubstr("Relu")));
  const Json json = Run({"top", "--once", "--json"}).json();
  EXPECT_EQ(json["devices"][0]["queue_depth"], 17);
  EXPECT_EQ(json["profile"]["rows"][0]["op"], "Conv");
}

TEST_F(AppTest, ClearsAScreenForEachView) {
  daemon.watched = {{}, {}, {}};
  std::ostringstream out, err;
  RunApp({"top", "--address", daemon.address()},
         {.out = out, .err = err, .clears_out = true});
  EXPECT_THAT(out.str(), HasSubstr("\x1b[H\x1b[J"));
}

TEST_F(AppTest, RefusesAnIntervalOutOfRange) {
  for (const char* interval : {"10ms", "2h", "often"}) {
    EXPECT_EQ(Run({"top", "--interval", interval}).code, ExitCode::kUsage);
  }
}

TEST(ProgressLine, IsOnlyForTerminals) {
  std::ostringstream out, err;
  {
    const Console console = {.out = out, .err = err};
    ProgressLine line(console);
    line.Show("half");
  }
  EXPECT_EQ(err.str(), "");
  {
    const Console console = {.out = out, .err = err, .overwrites_err = true};
    ProgressLine line(console);
    line.Show("half");
    line.Show("too soon after it");
  }
  EXPECT_EQ(err.str(), "\r\x1b[Khalf\r\x1b[K");
  EXPECT_EQ(out.str(), "");
}

TEST(ProgressLine, TellsHowFarATransferIs) {
  EXPECT_EQ(TransferText("x.npy", 32 << 20, 64 << 20, absl::Seconds(2)),
            "x.npy [##########----------]  50 %  32.0 MiB of 64.0 MiB, "
            "16.0 MiB/s, 2 s left");
  EXPECT_EQ(TransferText("x.npy", 0, 0, absl::ZeroDuration()),
            "x.npy [####################] 100 %  0 B of 0 B");
}

}  // namespace
}  // namespace tensord::ctl
