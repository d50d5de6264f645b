// tensordctl sessions, upload, download, tensors.
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
using ::testing::SizeIs;

TEST_F(AppTest, CreatesKeepsAndClosesASession) {
  std::string id =
      Run({"sessions", "create", "--name", "n", "--ttl", "90s", "-q"}).out;
  id.pop_back();
  EXPECT_EQ(daemon.sessions.creations()[0].time_to_live().seconds(), 90);
  EXPECT_THAT(Run({"sessions", "keep", id}).out,
              AllOf(HasSubstr("session    " + id + " (n)\n"),
                    HasSubstr("lives      1m30s after its last use\n")));
  EXPECT_THAT(Run({"sessions", "close", id}).out,
              HasSubstr("freed 2 tensors, 3.00 MiB; cancelled 1 runs"));
  const Outcome gone = Run({"sessions", "keep", id});
  EXPECT_EQ(gone.code, ExitCode::kRefused);
  EXPECT_THAT(gone.err, HasSubstr("NOT_FOUND"));
}

TEST_F(AppTest, UploadsAndDownloadsTheSameBytes) {
  const std::string input = AddNpy("x.npy", row);
  std::string id =
      Run({"upload", input, "--session", "s", "--device", "cpu:0", "-q"}).out;
  id.pop_back();
  ASSERT_THAT(daemon.tensors.headers(), SizeIs(1));
  EXPECT_EQ(daemon.tensors.headers()[0].session_id(), "s");
  const std::string output = folder.PathOf("y.npy");
  const Outcome outcome = Run({"download", id, output});
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("float32[1,3], 12 B in "));
  EXPECT_EQ(*ReadFile(output), *ReadFile(input));
  EXPECT_EQ(Run({"download", id, folder.PathOf("y.pb")}).code, ExitCode::kOk);
}

TEST_F(AppTest, UploadsJsonOfAGivenDtype) {
  const std::string input = folder.Add("x.json", "[1, 2]");
  const Outcome without = Run({"upload", input, "--session", "s"});
  EXPECT_EQ(without.code, ExitCode::kUsage);
  EXPECT_THAT(without.err, HasSubstr("needs --dtype"));
  const Outcome with =
      Run({"upload", input, "--session", "s", "--dtype", "int64"});
  EXPECT_THAT(with.out, HasSubstr("type       int64[2]\n"));
  EXPECT_EQ(Run({"upload", input, "--session", "s", "--dtype", "int63"}).code,
            ExitCode::kUsage);
}

TEST_F(AppTest, ListsShowsAndDeletesTensors) {
  EXPECT_EQ(Run({"tensors"}).out, "none\n");
  const std::string input = AddNpy("x.npy", row);
  std::string id = Run({"upload", input, "--session", "s", "-q"}).out;
  id.pop_back();
  EXPECT_THAT(Run({"tensors"}).out,
              AllOf(HasSubstr(id), HasSubstr("float32[1,3] 12 B cpu:0")));
  EXPECT_EQ(Run({"tensors", "--session", "other"}).out, "none\n");
  EXPECT_THAT(Run({"tensors", "get", id}).out, HasSubstr("session    s\n"));
  EXPECT_THAT(Run({"tensors", "--json"}).json()["tensors"], SizeIs(1));
  EXPECT_EQ(Run({"tensors", "delete", id}).code, ExitCode::kOk);
  EXPECT_EQ(Run({"tensors", "delete", id}).code, ExitCode::kRefused);
}

TEST_F(AppTest, ShowsTheProgressOfATransferOnATerminal) {
  const std::string input = AddNpy("x.npy", row);
  std::ostringstream out, err;
  RunApp({"upload", input, "--session", "s", "--address", daemon.address()},
         {.out = out, .err = err, .overwrites_err = true});
  EXPECT_THAT(err.str(), HasSubstr("100 %  12 B of 12 B"));
}

TEST_F(AppTest, RefusesTransfersThatMakeNoSense) {
  const std::string input = AddNpy("x.npy", row);
  for (const std::vector<std::string>& line :
       std::vector<std::vector<std::string>>{
           {"upload", input},
           {"upload", "/no/such.npy", "--session", "s"},
           {"upload", input, "--session", "s", "--ttl", "0"},
           {"download", "id", "y.txt"},
           {"download", "id"},
           {"tensors", "get"},
           {"tensors", "list", "id"},
           {"sessions", "close"},
           {"sessions", "create", "id"},
           {"sessions", "list"}}) {
    const Outcome outcome = Run(line);
    EXPECT_EQ(outcome.code, ExitCode::kUsage) << line[0] << outcome.out;
  }
}

TEST_F(AppTest, RunsOnTensorsByHandleAndKeepsOutputs) {
  Run({"run", model, "--input", "x=tensor:fake.1", "--keep", "y", "--session",
       "s", "--priority", "high", "--queue-timeout", "50ms",
       "--execution-timeout", "2s"});
  Run({"run", model, "--input", "x=donate:fake.1"});
  const auto requests = daemon.executions();
  ASSERT_THAT(requests, SizeIs(2));
  EXPECT_EQ(requests[0].inputs(0).tensor_id(), "fake.1");
  EXPECT_FALSE(requests[0].inputs(0).donate());
  EXPECT_TRUE(requests[0].outputs(0).keep_on_device());
  EXPECT_EQ(requests[0].options().session_id(), "s");
  EXPECT_EQ(requests[0].options().priority(), v1::PRIORITY_HIGH);
  EXPECT_EQ(requests[0].options().queue_timeout().nanos(), 50'000'000);
  EXPECT_EQ(requests[0].options().execution_timeout().seconds(), 2);
  EXPECT_TRUE(requests[1].inputs(0).donate());
  const Outcome unknown =
      Run({"run", model, "--input", "x=tensor:t", "--keep", "z"});
  EXPECT_EQ(unknown.code, ExitCode::kUsage);
  EXPECT_THAT(unknown.err, HasSubstr("no output of that name"));
}

}  // namespace
}  // namespace tensord::ctl
