// tensordctl run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "clients/cpp/tensors.h"
#include "tests/tools/tensordctl/app_fixture.h"
#include "tools/tensordctl/files.h"
#include "tools/tensordctl/npy.h"
#include "tools/tensordctl/onnx_tensor.h"

namespace tensord::ctl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST_F(AppTest, RunsAModelOnAFile) {
  const std::string input = AddNpy("x.npy", row);
  const Outcome outcome = Run({"run", model, "--input", "x=" + input});
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("ran on     cpu:0: run 12.3 us\n"));
  EXPECT_THAT(outcome.out,
              HasSubstr("output     y float32[1,3]  0.1 0.7 0.2\n"));
  ASSERT_THAT(daemon.executions(), SizeIs(1));
  EXPECT_EQ(daemon.executions()[0].inputs(0).tensor().SerializeAsString(),
            row.SerializeAsString());
}

TEST_F(AppTest, ReadsProtosAndJsonTheSame) {
  const std::string proto = folder.Add("x.pb", WriteOnnxTensor(row, "ignored"));
  const std::string json = folder.Add("x.json", "[[0.1, 0.7, 0.2]]");
  Run({"run", model, "--input", "x=" + proto});
  Run({"run", model, "--input", "x=" + json});
  ASSERT_THAT(daemon.executions(), SizeIs(2));
  for (const v1::ExecuteRequest& request : daemon.executions()) {
    EXPECT_EQ(request.inputs(0).tensor().SerializeAsString(),
              row.SerializeAsString());
  }
}

TEST_F(AppTest, RunsAHeldGraphByTheBeginningOfItsId) {
  std::string id = Run({"submit", model, "-q"}).out;
  id.resize(10);
  EXPECT_EQ(Run({"run", id, "--input", "random", "--set", "N=2"}).code,
            ExitCode::kOk);
  EXPECT_THAT(daemon.submissions(), SizeIs(1));
}

TEST_F(AppTest, SendsAModelOnlyOnce) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Run({"run", model, "--input", "x=random:1x3"}).code,
              ExitCode::kOk);
  }
  EXPECT_THAT(daemon.submissions(), SizeIs(1));
  EXPECT_THAT(daemon.executions(), SizeIs(3));
}

TEST_F(AppTest, MakesRandomInputs) {
  EXPECT_EQ(Run({"run", model, "--input", "x=random", "--set", "N=2"}).code,
            ExitCode::kOk);
  EXPECT_EQ(Run({"run", model, "--input", "x=random:4x3"}).code, ExitCode::kOk);
  EXPECT_EQ(Run({"run", model, "--input", "random", "--set", "N=2"}).code,
            ExitCode::kOk);
  EXPECT_EQ(
      Run({"run", model, "--input", "random", "--set", "N=2", "--seed", "2"})
          .code,
      ExitCode::kOk);
  const auto executions = daemon.executions();
  ASSERT_THAT(executions, SizeIs(4));
  const auto tensor_of = [&](int i) {
    return executions[i].inputs(0).tensor();
  };
  EXPECT_THAT(tensor_of(0).dims(), ElementsAre(2, 3));
  EXPECT_THAT(tensor_of(1).dims(), ElementsAre(4, 3));
  EXPECT_EQ(tensor_of(0).data(), tensor_of(2).data());
  EXPECT_NE(tensor_of(0).data(), tensor_of(3).data());
  EXPECT_NE(tensor_of(0).data(), std::string(24, '\0'));
}

TEST_F(AppTest, SaysWhichInputOrExtentIsMissing) {
  const struct {
    std::vector<std::string> arguments;
    const char* text;
  } cases[] = {
      {{}, "input x float32[N,3] is not given"},
      {{"--input", "z=random"}, "which takes x float32[N,3]"},
      {{"--input", "x=random"}, "give N an extent, as in --set N=1"},
      {{"--input", "x=random", "--set", "M=1"}, "only N"},
      {{"--input", "x=random:2x", "--set", "N=1"}, "2x: not a shape"},
      {{"--input", "x=a.npy", "--input", "x=b.npy"}, "x is given twice"},
      {{"--input", "x=/no/such.npy"}, "/no/such.npy: No such file"},
      {{"--input", "x=x.txt"}, "not a .npy, .pb or .json file"},
      {{"--input", "x=random", "--set", "N=9999999999"}, "1.00 GiB"},
  };
  for (const auto& test : cases) {
    std::vector<std::string> arguments = {"run", model};
    arguments.insert(arguments.end(), test.arguments.begin(),
                     test.arguments.end());
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.code, ExitCode::kUsage);
    EXPECT_THAT(outcome.err, HasSubstr(test.text));
  }
  EXPECT_THAT(daemon.executions(), SizeIs(0));
}

TEST_F(AppTest, NamesTheFileThatIsWrong) {
  const std::string path = folder.Add("bad.npy", "\x93NUMPY\1");
  const Outcome outcome = Run({"run", model, "--input", "x=" + path});
  EXPECT_EQ(outcome.code, ExitCode::kUsage);
  EXPECT_THAT(outcome.err, StartsWith("tensordctl: " + path + ": its version"));
}

TEST_F(AppTest, ShowsTheTopClassesWithTheirLabels) {
  const std::string input = AddNpy("x.npy", row);
  const std::string labels = folder.Add("labels.txt", "cat\ndog\nbird\n");
  const Outcome outcome = Run({"run", model, "--input", "x=" + input, "--top",
                               "2", "--labels", labels});
  EXPECT_THAT(outcome.out, HasSubstr("ROW CLASS LABEL SCORE\n"
                                     "  0     1 dog     0.7\n"
                                     "  0     2 bird    0.2\n"));
  const Json json = Run({"run", model, "--input", "x=" + input, "--top", "1",
                         "--labels", labels, "--json"})
                        .json();
  EXPECT_EQ(json["top"][0]["classes"][0]["label"], "dog");
  EXPECT_EQ(json["outputs"][0]["tensor"]["dims"], Json({1, 3}));
  EXPECT_EQ(json["outputs"][0]["tensor"]["data"],
            Json::parse("[[0.1, 0.7, 0.2]]"));
  EXPECT_EQ(json["timings"]["run_ns"], 12345);
}

TEST_F(AppTest, WritesOutputsThatReadBack) {
  const std::string input = AddNpy("x.npy", row);
  daemon.graph.mutable_outputs(0)->set_name("../y:0");
  const std::string out = folder.PathOf("a/b");
  EXPECT_EQ(
      Run({"run", model, "--input", "x=" + input, "--output-dir", out}).code,
      ExitCode::kOk);
  const auto bytes = ReadFile(out + "/_.._y_0.npy");
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(ReadNpy(*bytes)->SerializeAsString(), row.SerializeAsString());
}

TEST_F(AppTest, ComparesWithDataSets) {
  const std::string right = folder.PathOf("right");
  folder.Add("right/input_0.pb", WriteOnnxTensor(row, "x"));
  folder.Add("right/output_0.pb", WriteOnnxTensor(row, "y"));
  folder.Add("wrong/input_0.pb", WriteOnnxTensor(row, "x"));
  folder.Add(
      "wrong/output_0.pb",
      WriteOnnxTensor(MakeTensor<float>({1, 3}, {0.1f, 0.8f, 0.2f}), "y"));
  const Outcome good = Run({"run", model, "--expect", right});
  EXPECT_EQ(good.code, ExitCode::kOk) << good.err;
  EXPECT_THAT(good.out, HasSubstr("as expected  " + right +
                                  ": y, max abs diff 0 (rtol 0.001, atol "
                                  "1e-05)\n"));
  const Outcome bad =
      Run({"run", model, "--expect", right, folder.PathOf("wrong/")});
  EXPECT_EQ(bad.code, ExitCode::kDiffers);
  EXPECT_THAT(bad.out, HasSubstr("max abs diff 0.1 "));
  EXPECT_THAT(bad.out,
              HasSubstr("1 of 3 elements outside, the worst at 1: expected "
                        "0.800000012, got 0.699999988"));
  EXPECT_EQ(Run({"run", model, "--atol", "0.2", "--expect", right,
                 folder.PathOf("wrong")})
                .code,
            ExitCode::kOk);
  const Outcome as_json =
      Run({"run", model, "--json", "--expect", folder.PathOf("wrong")});
  EXPECT_EQ(as_json.code, ExitCode::kDiffers);
  EXPECT_EQ(as_json.json()["expect"][0]["outputs"][0]["is_within"], false);
  EXPECT_EQ(Run({"run", model, "--expect", folder.PathOf("none")}).code,
            ExitCode::kUsage);
}

TEST_F(AppTest, CallsAnAnswerOfAnotherShapeDifferent) {
  folder.Add("set/input_0.pb", WriteOnnxTensor(row, "x"));
  folder.Add("set/output_0.pb",
             WriteOnnxTensor(MakeTensor<float>({3}, {0.1f, 0.7f, 0.2f}), "y"));
  const Outcome outcome = Run({"run", model, "--expect", folder.PathOf("set")});
  EXPECT_EQ(outcome.code, ExitCode::kDiffers);
  EXPECT_THAT(outcome.out, HasSubstr("expected float32[3], got float32[1,3]"));
}

TEST_F(AppTest, RepeatsAndTellsTheLatency) {
  const Outcome outcome =
      Run({"run", model, "--input", "x=random:1x3", "--repeat", "5", "--json"});
  EXPECT_THAT(daemon.executions(), SizeIs(5));
  const Json latency = outcome.json()["latency"];
  EXPECT_EQ(latency["count"], 5);
  EXPECT_LE(latency["min_ns"], latency["p50_ns"]);
  EXPECT_LE(latency["p50_ns"], latency["p99_ns"]);
  EXPECT_LE(latency["p99_ns"], latency["max_ns"]);
}

TEST_F(AppTest, ShowsTheTraceOfARun) {
  daemon.execute = [](const v1::ExecuteRequest& request,
                      v1::ExecuteResponse& response) {
    EXPECT_GT(request.options().trace().max_rows(), 0);
    v1::TraceRow& launch = *response.mutable_trace()->add_rows();
    launch.set_op("Conv");
    launch.set_node("conv1");
    launch.set_kernel("conv_f32");
    launch.set_start_ns(1500);
    launch.set_host_ns(2'000'000);
    launch.set_size_bytes(4096);
    response.mutable_trace()->set_is_truncated(true);
    response.mutable_trace()->set_launch_count(9);
  };
  const Outcome outcome =
      Run({"run", model, "--input", "x=random:1x3", "--trace"});
  EXPECT_THAT(outcome.out, HasSubstr("# OP   NODE  KERNEL     START    HOST"
                                     "    BYTES\n"
                                     "0 Conv conv1 conv_f32 1.50 us 2.00 ms "
                                     "4.00 KiB\n"));
  EXPECT_THAT(outcome.out, HasSubstr("The first 1 of 9 launches.\n"));
}

}  // namespace
}  // namespace tensord::ctl
