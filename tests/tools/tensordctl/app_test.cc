// Command lines: usage, help, submitting and listing graphs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/tools/tensordctl/app_fixture.h"
#include "tools/tensordctl/files.h"

namespace tensord::ctl {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST(App, TellsUsageErrorsOnOneLineWithExitCode1) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"frobnicate"},
      {"run"},
      {"run", "m.onnx", "--no-such-option"},
      {"run", "m.onnx", "--top", "0"},
      {"run", "m.onnx", "--repeat", "-1"},
      {"run", "m.onnx", "--input", "x=random", "--expect", "dir"},
      {"submit", "m.onnx", "--precision", "loose"},
      {"profile", "--set", "sometimes"},
      {"graphs", "get"},
      {"graphs", "list", "abc"},
      {"health", "--timeout", "soon"},
      {"health", "--timeout", "0"},
      {"kernels", "--dtype", "float"},
      {"submit", "/no/such/file.onnx"},
      {"run", "neither-file-nor-id", "--address", "127.0.0.1:1"},
      {"explain", "abcdef", "--set", "N"},
      {"explain", "abcdef", "--set", "N=-1"},
      {"explain", "abcdef", "--set", "N=1", "--set", "N=2"},
  };
  for (const std::vector<std::string>& arguments : wrong) {
    const Outcome outcome = RunLine(arguments);
    EXPECT_EQ(outcome.code, ExitCode::kUsage) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, StartsWith("tensordctl: "));
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
  }
}

TEST(App, HasHelpWithExamplesForEverySubcommand) {
  EXPECT_THAT(RunLine({"--help"}).out, HasSubstr("Exit codes:"));
  for (const char* command :
       {"submit", "run", "explain", "graphs", "devices", "kernels", "profile",
        "health", "completion", "start", "wait", "cancel", "executions",
        "bench", "sessions", "upload", "download", "tensors", "top"}) {
    const Outcome outcome = RunLine({command, "--help"});
    EXPECT_EQ(outcome.code, ExitCode::kOk);
    EXPECT_THAT(outcome.out,
                AllOf(HasSubstr("Examples:\n"),
                      HasSubstr(absl::StrCat("  tensordctl ", command))))
        << command;
    EXPECT_THAT(outcome.out, HasSubstr("--address")) << command;
    EXPECT_THAT(outcome.out, HasSubstr("--timeout")) << command;
    EXPECT_THAT(outcome.out, HasSubstr("--json")) << command;
  }
}

TEST_F(AppTest, TakesTheAddressFromTheEnvironment) {
  setenv("TENSORD_ADDRESS", daemon.address().c_str(), 1);
  EXPECT_EQ(RunLine({"health"}).code, ExitCode::kOk);
  // The option is stronger.
  EXPECT_EQ(RunLine({"health", "--address", "127.0.0.1:1"}).code,
            ExitCode::kUnavailable);
  unsetenv("TENSORD_ADDRESS");
}

TEST_F(AppTest, ShowsHealth) {
  EXPECT_EQ(Run({"health"}).out, "SERVING\n");
  EXPECT_EQ(Run({"health", "--json"}).json(), Json({{"status", "SERVING"}}));
  const Outcome unknown = Run({"health", "no.such.Service"});
  EXPECT_EQ(unknown.code, ExitCode::kRefused);
  EXPECT_THAT(unknown.err, StartsWith("tensordctl: NOT_FOUND: "));
}

TEST_F(AppTest, SubmitsAModel) {
  const Outcome outcome = Run({"submit", model, "--deterministic", "--hint",
                               "N=1,W=640", "--hint", "N=8"});
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  ASSERT_THAT(daemon.submissions(), SizeIs(1));
  const auto submission = daemon.submissions()[0];
  EXPECT_EQ(submission.bytes, "these bytes are a model");
  EXPECT_TRUE(submission.options.deterministic());
  ASSERT_EQ(submission.options.shape_hints_size(), 2);
  EXPECT_EQ(submission.options.shape_hints(0).symbols().at("W"), 640);
  EXPECT_THAT(outcome.out, HasSubstr("input      x float32[N,3]\n"));
  EXPECT_THAT(Run({"submit", model, "-q"}).out, MatchesRegex("[0-9a-f]+\n"));
  EXPECT_EQ(Run({"submit", model, "--json"}).json()["graph"]["node_count"], 7);
}

TEST_F(AppTest, ListsShowsAndDeletesGraphs) {
  EXPECT_EQ(Run({"graphs"}).out, "none\n");
  Run({"submit", model});
  Run({"submit", folder.Add("other.onnx", "another model")});
  const Json list = Run({"graphs", "--json"}).json()["graphs"];
  ASSERT_THAT(list, SizeIs(2));
  const std::string id = list[0]["graph_id"];
  EXPECT_THAT(Run({"graphs"}).out, HasSubstr(id.substr(0, 12) + " net "));
  // An id may be shortened.
  EXPECT_THAT(Run({"graphs", "get", id.substr(0, 8)}).out, HasSubstr(id));
  EXPECT_EQ(Run({"graphs", "delete", id}).code, ExitCode::kOk);
  EXPECT_EQ(Run({"graphs", "delete", id}).code, ExitCode::kRefused);
  EXPECT_EQ(Run({"graphs", "get", id.substr(0, 8)}).code, ExitCode::kRefused);
  EXPECT_THAT(Run({"graphs", "--json"}).json()["graphs"], SizeIs(1));
}

TEST(Completion, IsBashThatCompletesSubcommandsAndOptions) {
  const Outcome outcome = RunLine({"completion", "bash"});
  EXPECT_EQ(outcome.code, ExitCode::kOk);
  TempFolder folder;
  const std::string script = folder.Add("c.sh", outcome.out);
  const auto complete = [&](const std::string& words, int index) {
    const std::string command = absl::StrCat(
        "bash -c 'source ", script, "; COMP_WORDS=(", words,
        "); COMP_CWORD=", index, "; _tensordctl; echo \"${COMPREPLY[*]}\"' > ",
        folder.PathOf("reply"));
    EXPECT_EQ(std::system(command.c_str()), 0);
    return *ReadFile(folder.PathOf("reply"));
  };
  EXPECT_EQ(complete("tensordctl exp", 1), "explain\n");
  EXPECT_EQ(complete("tensordctl run --out", 2), "--output-dir\n");
  EXPECT_EQ(complete("tensordctl graphs de", 2), "delete\n");
  EXPECT_EQ(complete("tensordctl sessions cr", 2), "create\n");
  EXPECT_EQ(complete("tensordctl bench --conc", 2), "--concurrency\n");
  EXPECT_EQ(complete("tensordctl run model", 2), "\n");
}

}  // namespace
}  // namespace tensord::ctl
