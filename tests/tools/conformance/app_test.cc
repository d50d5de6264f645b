// The program on a command line: against moody_daemon, which it starts itself,
// and against a daemon of somebody else.

#include "tools/conformance/app.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/strings/str_split.h"
#include "tests/support/fake_daemon/fake_daemon.h"
#include "tests/tools/conformance/case_maker.h"
#include "tests/tools/conformance/moods.h"

namespace tensord::conformance {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

struct Ran {
  int code;
  std::string out;
  std::string err;
};

class ConformanceAppTest : public ::testing::Test {
 protected:
  Ran Run(std::vector<std::string> arguments) {
    for (const std::string& common :
         {std::string("--cases"), root.path(), std::string("--report"),
          root.PathOf("report")}) {
      arguments.push_back(common);
    }
    const char* const programs = std::getenv("TENSORD_BIN_DIR");
    std::ostringstream out, err;
    const int code = RunApp(
        arguments,
        absl::StrCat(programs == nullptr ? "." : programs, "/moody_daemon"),
        {out, err});
    return {code, out.str(), err.str()};
  }

  // What the report says of each case.
  std::map<std::string, nlohmann::json> Report() {
    std::map<std::string, nlohmann::json> lines;
    const auto text = ctl::ReadFile(root.PathOf("report"));
    EXPECT_TRUE(text.ok()) << text.status();
    for (absl::string_view line :
         absl::StrSplit(text.value_or(""), '\n', absl::SkipEmpty())) {
      auto json = nlohmann::json::parse(line);
      const std::string name = json["case"];
      lines[name] = std::move(json);
    }
    return lines;
  }

  // A case that passes if the daemon answers with what it gets.
  void AddEcho(const std::string& name, float mood) {
    AddCase(root, "node/" + name, {mood, 2}, {mood, 2});
  }

  ctl::TempFolder root;
};

TEST_F(ConformanceAppTest, CasesThatPassAreCounted) {
  for (int i = 0; i < 9; ++i) AddEcho(absl::StrCat("test_", i), i);
  const Ran ran = Run({});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, EndsWith("9 passed, 0 failed, 0 skipped\n"));
  EXPECT_EQ(Report().at("test_7")["outcome"], "passed");
}

TEST_F(ConformanceAppTest, AnotherAnswerIsWrong) {
  AddEcho("test_right", 1);
  AddEcho("test_wrong", kAnswersWrong);
  AddCase(root, "node/test_otherwise", {1}, {1.5f});
  const Ran ran = Run({});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, EndsWith("1 passed, 2 failed, 0 skipped\n"));
  EXPECT_THAT(ran.out,
              HasSubstr("wrong  node/test_otherwise (Identity): "
                        "test_data_set_0: output 0 'y': element [0] is 1, "
                        "expected 1.5 (1 of 1 differ)"));
  EXPECT_EQ(Report().at("test_wrong")["outcome"], "wrong");
}

TEST_F(ConformanceAppTest, ADeathIsOneCasesCrashAndTheOthersStillRun) {
  for (int i = 0; i < 8; ++i) AddEcho(absl::StrCat("test_", i), i);
  AddEcho("test_2a", kDies);
  AddEcho("test_5a", kDies);
  const Ran ran = Run({"--in-flight", "3"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, EndsWith("8 passed, 2 failed, 0 skipped\n"));
  const auto report = Report();
  EXPECT_EQ(report.at("test_5a")["outcome"], "crash");
  const std::string reason = report.at("test_2a")["reason"];
  EXPECT_THAT(reason, HasSubstr("the daemon died: signal 9"));
  EXPECT_THAT(reason, HasSubstr("these are the last words"));
}

TEST_F(ConformanceAppTest, ADeathThatDoesNotRepeatIsNotForgotten) {
  AddEcho("test_once", kDiesOnce);
  const Ran ran = Run({});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, EndsWith("0 passed, 1 failed, 0 skipped\n"));
  EXPECT_EQ(Report().at("test_once")["outcome"], "crash");
}

TEST_F(ConformanceAppTest, NoAnswerInTimeIsAHang) {
  AddEcho("test_a", 1);
  AddEcho("test_hangs", kHangs);
  AddEcho("test_z", 2);
  const Ran ran = Run({"--timeout", "1"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, EndsWith("2 passed, 1 failed, 0 skipped\n"));
  EXPECT_EQ(Report().at("test_hangs")["outcome"], "hang");
}

TEST_F(ConformanceAppTest, FiltersAndTiersChoose) {
  AddEcho("test_add", 1);
  AddEcho("test_sub", 2);
  AddCase(root, "simple/test_sub", {1}, {1});
  root.Add("LIST.tsv",
           "case\tfolder\ttier\n"
           "test_add\tnode\t1\ntest_sub\tnode\t2\ntest_sub\tsimple\t3\n");
  const auto last_line = [&](std::vector<std::string> arguments) {
    return Run(std::move(arguments)).out;
  };
  EXPECT_THAT(last_line({}), EndsWith("3 passed, 0 failed, 0 skipped\n"));
  EXPECT_THAT(last_line({"--filter", "*sub"}),
              EndsWith("2 passed, 0 failed, 0 skipped\n"));
  EXPECT_THAT(last_line({"--filter", "node/*"}),
              EndsWith("2 passed, 0 failed, 0 skipped\n"));
  EXPECT_THAT(last_line({"--tier", "1", "--tier", "3"}),
              EndsWith("2 passed, 0 failed, 0 skipped\n"));
  EXPECT_THAT(last_line({"--tier", "2", "--filter", "*sub"}),
              EndsWith("1 passed, 0 failed, 0 skipped\n"));
  EXPECT_EQ(Run({"--filter", "nothing"}).code, 2);
}

TEST_F(ConformanceAppTest, ADisputedDifferenceIsNeitherPassNorFailure) {
  AddCase(root, "node/test_disputed", {1, 2}, {1, 3});
  AddCase(root, "node/test_shape", {1, 2}, {1});
  root.Add("LIST.tsv",
           "case\tfolder\ttolerance\n"
           "test_disputed\tnode\tdisputed: other runtimes differ\n"
           "test_shape\tnode\tdisputed: other runtimes differ\n");
  EXPECT_THAT(Run({}).out, EndsWith("0 passed, 1 failed, 1 skipped\n"));
  EXPECT_EQ(Report().at("test_disputed")["outcome"], "skipped");
  EXPECT_EQ(Report().at("test_shape")["outcome"], "wrong");
}

TEST_F(ConformanceAppTest, ARuleThatIsNotUnderstoodIsAnError) {
  AddEcho("test_a", 1);
  root.Add("LIST.tsv", "case\tfolder\ttolerance\ntest_a\tnode\tloosely\n");
  EXPECT_THAT(Run({}).out, EndsWith("0 passed, 1 failed, 0 skipped\n"));
  EXPECT_THAT(std::string(Report().at("test_a")["reason"]),
              HasSubstr("tolerance \"loosely\" is not understood"));
}

TEST_F(ConformanceAppTest, PackedCasesRunAsUnpackedOnesDo) {
  AddEcho("test_right", 1);
  AddEcho("test_wrong", kAnswersWrong);
  // Longer than the name field of a tar's header.
  const std::string long_name = "test_" + std::string(90, 'x');
  AddEcho(long_name, 2);
  root.Add("LIST.tsv",
           absl::StrCat("case\tfolder\ntest_right\tnode\n",
                        "test_wrong\tnode\n", long_name, "\tnode\n"));
  const std::string pack = absl::StrCat(
      "cd '", root.path(),
      "' && tar --format=ustar --zstd -cf node.tar.zst node && ", "rm -r node");
  ASSERT_EQ(std::system(pack.c_str()), 0);
  // Only in a folder of our own can be seen what stays behind.
  const std::string temporary = root.PathOf("temporary");
  std::filesystem::create_directory(temporary);
  setenv("TMPDIR", temporary.c_str(), 1);
  EXPECT_THAT(Run({}).out, EndsWith("2 passed, 1 failed, 0 skipped\n"));
  EXPECT_TRUE(std::filesystem::is_empty(temporary));
  unsetenv("TMPDIR");
  root.Add("node.tar.zst", "this is no archive");
  const Ran ran = Run({});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("zstd cannot unpack"));
}

TEST_F(ConformanceAppTest, AllowedOutcomesAndTheFloorMakeTheExitCode) {
  AddEcho("test_right", 1);
  AddEcho("test_wrong", kAnswersWrong);
  EXPECT_EQ(Run({}).code, 1);
  EXPECT_EQ(Run({"--allow", "refused"}).code, 1);
  EXPECT_EQ(Run({"--allow", "wrong"}).code, 0);
  EXPECT_EQ(Run({"--allow", "wrong", "--at-least", "1"}).code, 0);
  const Ran below = Run({"--allow", "wrong", "--at-least", "2"});
  EXPECT_EQ(below.code, 1);
  EXPECT_THAT(below.out, HasSubstr("fewer than the 2"));
}

TEST_F(ConformanceAppTest, ShowChoosesWhatIsPrintedNotWhatIsCounted) {
  AddEcho("test_wrong", kAnswersWrong);
  const Ran ran = Run({"--show", "refused"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, Not(HasSubstr("node/test_wrong")));
  EXPECT_THAT(ran.out, EndsWith("0 passed, 1 failed, 0 skipped\n"));
}

TEST_F(ConformanceAppTest, ADaemonThatDoesNotStartIsToldWithItsLog) {
  AddEcho("test_a", 1);
  const Ran ran = Run({"--daemon", "/bin/false"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("/bin/false does not start: exit code 1"));
}

// Statuses that a daemon of somebody else answers with.
class ServerTest : public ConformanceAppTest {
 protected:
  ServerTest() {
    daemon.graph.set_name("net");
    daemon.graph.add_outputs()->set_name("y");
  }

  std::string OutcomeOf(const google::rpc::Status& failure) {
    daemon.failure = failure;
    Run({"--server", daemon.address()});
    return Report().at("test_a")["outcome"];
  }

  testing::FakeDaemon daemon;
};

TEST_F(ServerTest, HonestStatusesAreRefusalsAndOthersErrors) {
  AddEcho("test_a", 1);
  EXPECT_EQ(OutcomeOf({}), "passed");
  EXPECT_EQ(OutcomeOf(testing::Error(12, "no kernel for Foo")), "refused");
  EXPECT_EQ(Report().at("test_a")["reason"],
            "SubmitGraph: UNIMPLEMENTED: no kernel for Foo");
  EXPECT_EQ(OutcomeOf(testing::Error(3, "bad graph")), "refused");
  EXPECT_EQ(OutcomeOf(testing::Error(8, "too large")), "refused");
  EXPECT_EQ(OutcomeOf(testing::Error(13, "oops")), "error");
  EXPECT_EQ(OutcomeOf(testing::Error(2, "what")), "error");
  EXPECT_EQ(OutcomeOf(testing::Error(9, "state")), "error");
  EXPECT_EQ(OutcomeOf(testing::Error(14, "draining")), "error");
}

TEST_F(ServerTest, TheDeviceThatIsAskedForIsPassedOn) {
  AddEcho("test_a", 1);
  Run({"--server", daemon.address(), "--device", "cuda:1"});
  EXPECT_EQ(daemon.submissions().at(0).options.device(), "cuda:1");
  EXPECT_EQ(daemon.executions().at(0).options().device(), "cuda:1");
}

TEST_F(ConformanceAppTest, AServerThatIsNotThereIsAnErrorOfEachCase) {
  AddEcho("test_a", 1);
  const Ran ran = Run({"--server", "127.0.0.1:1", "--timeout", "5"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(Report().at("test_a")["outcome"], "error");
}

}  // namespace
}  // namespace tensord::conformance
