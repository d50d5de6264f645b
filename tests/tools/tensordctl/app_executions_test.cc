// tensordctl start, wait, cancel, executions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tools/tensordctl/app_fixture.h"
#include "tools/tensordctl/files.h"

namespace tensord::ctl {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class ExecutionsTest : public AppTest {
 protected:
  std::string Start(std::vector<std::string> more = {}) {
    std::vector<std::string> line = {"start", model, "--input", "x=random:1x3",
                                     "-q"};
    line.insert(line.end(), more.begin(), more.end());
    std::string id = Run(line).out;
    if (!id.empty()) id.pop_back();
    return id;
  }
};

TEST_F(ExecutionsTest, StartsARunAndGetsItsOutputsLater) {
  const std::string id = Start({"--request-id", "r", "--keep-result", "10m"});
  const auto options = daemon.executions()[0].options();
  EXPECT_EQ(options.request_id(), "r");
  EXPECT_EQ(options.keep_result().seconds(), 600);
  const Outcome outcome =
      Run({"wait", id, "--output-dir", folder.PathOf("out")});
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("state      succeeded on cpu:0\n"),
                                 HasSubstr("output     y float32[1,3]"),
                                 HasSubstr("out/y.npy\n")));
  EXPECT_TRUE(IsFile(folder.PathOf("out/y.npy")));
  EXPECT_THAT(Run({"wait", id, "--json"}).json()["outputs"], SizeIs(1));
}

TEST_F(ExecutionsTest, SaysByItsExitCodeThatARunGoesOn) {
  daemon.runs.waits_for_finish = true;
  const std::string id = Start();
  const Outcome outcome = Run({"wait", id, "--timeout", "20ms"});
  EXPECT_EQ(outcome.code, ExitCode::kUnavailable);
  EXPECT_THAT(outcome.err, HasSubstr("goes on"));
}

TEST_F(ExecutionsTest, CancelsARun) {
  daemon.runs.waits_for_finish = true;
  const std::string id = Start();
  EXPECT_THAT(Run({"cancel", id}).out,
              AllOf(HasSubstr("state      cancelled"),
                    HasSubstr("error      CANCELLED: cancelled by the")));
  EXPECT_EQ(Run({"wait", id}).code, ExitCode::kUnavailable);
  EXPECT_EQ(Run({"cancel", "no.such"}).code, ExitCode::kRefused);
}

TEST_F(ExecutionsTest, ListsAndShowsRuns) {
  daemon.runs.waits_for_finish = true;
  const std::string first = Start();
  const std::string second = Start();
  Run({"cancel", first});
  EXPECT_THAT(Run({"executions"}).out, AllOf(HasSubstr(first + " cancelled"),
                                             HasSubstr(second + " running")));
  EXPECT_THAT(Run({"executions", "--state", "running"}).out,
              Not(HasSubstr(first)));
  EXPECT_THAT(Run({"executions", "--json"}).json()["executions"], SizeIs(2));
  EXPECT_THAT(Run({"executions", "get", second}).out,
              HasSubstr("state      running on cpu:0\n"));
  EXPECT_EQ(Run({"executions", "get", "no.such"}).code, ExitCode::kRefused);
}

TEST_F(ExecutionsTest, RefusesWhatMakesNoSense) {
  for (const std::vector<std::string>& line :
       std::vector<std::vector<std::string>>{
           {"wait"},
           {"cancel"},
           {"executions", "get"},
           {"executions", "list", "id"},
           {"executions", "--state", "asleep"},
           {"start", model, "--input", "random", "--set", "N=1",
            "--keep-result", "x"},
           {"start", model, "--input", "random", "--set", "N=1", "--priority",
            "urgent"}}) {
    EXPECT_EQ(Run(line).code, ExitCode::kUsage) << line[0];
  }
}

}  // namespace
}  // namespace tensord::ctl
