#include "server/config/load_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>

#include "server/config/option_table.h"

namespace tensord {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LoadConfigTest : public ::testing::Test {
 protected:
  absl::StatusOr<Startup> Load(std::vector<const char*> flags) {
    flags.insert(flags.begin(), "tensord");
    return LoadConfig(
        flags.size(), flags.data(),
        [&](const std::string& name) -> std::optional<std::string> {
          const auto found = variables_.find(name);
          if (found == variables_.end()) return std::nullopt;
          return found->second;
        },
        "1.2.3");
  }
  std::string ErrorOf(std::vector<const char*> flags) {
    const auto startup = Load(std::move(flags));
    EXPECT_EQ(startup.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(startup.status().message());
  }
  // Writes the file that --config names, and returns its path.
  const char* WriteFile(const std::string& content) {
    path_ = ::testing::TempDir() + "load_config_test.yaml";
    std::ofstream(path_) << content;
    return path_.c_str();
  }
  void TearDown() override {
    if (!path_.empty()) std::remove(path_.c_str());
  }

  std::map<std::string, std::string> variables_;
  std::string path_;
};

TEST_F(LoadConfigTest, NothingGivenServesOnLoopbackWithTheCpuAndAnyGpu) {
  const auto startup = Load({});
  ASSERT_TRUE(startup.ok()) << startup.status();
  EXPECT_FALSE(startup->text_to_print.has_value());
  ASSERT_EQ(startup->config.devices.size(), 2);
  EXPECT_EQ(startup->config.devices[0].backend, BackendId::kCpu);
  EXPECT_EQ(startup->config.devices[0].ordinal, 0);
  EXPECT_EQ(startup->config.devices[1].backend, BackendId::kCuda);
  EXPECT_TRUE(startup->config.devices[1].is_optional);
  for (const std::string& address : startup->config.listen) {
    EXPECT_TRUE(IsLoopback(address)) << address;
  }
}

TEST_F(LoadConfigTest, AFlagBeatsAVariableWhichBeatsTheFile) {
  WriteFile("max-rank: 3\nmax-nodes: 30\nmax-values: 300\n");
  variables_["TENSORD_MAX_RANK"] = "2";
  variables_["TENSORD_MAX_NODES"] = "20";
  const auto startup = Load({"--config", path_.c_str(), "--max-rank=1"});
  ASSERT_TRUE(startup.ok()) << startup.status();
  EXPECT_EQ(startup->config.engine.limits.max_rank, 1);
  EXPECT_EQ(startup->config.engine.limits.max_nodes, 20);
  EXPECT_EQ(startup->config.engine.limits.max_values, 300);
  EXPECT_EQ(startup->config.engine.max_graphs, EngineOptions().max_graphs);
}

TEST_F(LoadConfigTest, TheTunerIsOffUnlessItIsSwitchedOn) {
  EXPECT_FALSE(Load({})->config.engine.tuning.is_on);
  EXPECT_TRUE(Load({"--tuning"})->config.engine.tuning.is_on);
  variables_["TENSORD_TUNING"] = "on";
  variables_["TENSORD_TUNING_DIR"] = "/var/lib/tensord";
  WriteFile("tuning-seconds-per-hour: 5\n");
  const auto startup = Load({"--config", path_.c_str(), "--print-config"});
  ASSERT_TRUE(startup.ok()) << startup.status();
  EXPECT_TRUE(startup->config.engine.tuning.is_on);
  EXPECT_EQ(startup->config.engine.tuning.directory, "/var/lib/tensord");
  EXPECT_EQ(startup->config.engine.tuning.seconds_per_hour, 5);
  EXPECT_THAT(*startup->text_to_print, HasSubstr("tuning: true\n"));
  EXPECT_FALSE(Load({"--tuning=off"})->config.engine.tuning.is_on);
  EXPECT_THAT(ErrorOf({"--tuning-seconds-per-hour=0"}),
              HasSubstr("tuning-seconds-per-hour"));
}

TEST_F(LoadConfigTest, TheFileIsAlsoNamedByAVariable) {
  variables_["TENSORD_CONFIG"] = WriteFile("max-rank: 3\n");
  const auto startup = Load({});
  ASSERT_TRUE(startup.ok()) << startup.status();
  EXPECT_EQ(startup->config.engine.limits.max_rank, 3);
}

TEST_F(LoadConfigTest, ListsComeInEverySpelling) {
  const auto with_commas = Load({"--devices", "cpu:0, null:1"});
  const auto repeated = Load({"--devices=cpu:0", "--devices=null:1"});
  const auto in_file =
      Load({"--config", WriteFile("devices: [cpu:0, 'null:1']\n")});
  for (const auto* startup : {&with_commas, &repeated, &in_file}) {
    ASSERT_TRUE(startup->ok()) << startup->status();
    EXPECT_THAT((*startup)->config.device_names,
                ElementsAre("cpu:0", "null:1"));
  }
}

TEST_F(LoadConfigTest, AFlagWithoutAValueIsTrue) {
  const auto startup = Load({"--insecure", "--listen=0.0.0.0:0"});
  ASSERT_TRUE(startup.ok()) << startup.status();
  EXPECT_TRUE(startup->config.insecure);
  const auto denied = Load({"--insecure=false"});
  ASSERT_TRUE(denied.ok()) << denied.status();
  EXPECT_FALSE(denied->config.insecure);
}

TEST_F(LoadConfigTest, BytesAndTimesHaveUnits) {
  const auto startup =
      Load({"--max-message-bytes=8MiB", "--drain-timeout=1m30s"});
  ASSERT_TRUE(startup.ok()) << startup.status();
  EXPECT_EQ(startup->config.max_message_bytes, 8 << 20);
  EXPECT_EQ(startup->config.drain_timeout, absl::Seconds(90));
}

// The negative control is the last expectation: other values give another text.
TEST_F(LoadConfigTest, WhatItPrintsReadsBackAsTheSame) {
  const auto printed = Load({"--print-config", "--max-rank=5",
                             "--devices=null:0,cpu:3", "--log-format=json",
                             "--metrics-listen=off", "--slow-request=250ms"});
  ASSERT_TRUE(printed.ok()) << printed.status();
  ASSERT_TRUE(printed->text_to_print.has_value());
  const auto again = Load({"--config", WriteFile(*printed->text_to_print)});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(FormatConfig(again->config), *printed->text_to_print);
  EXPECT_EQ(again->config.engine.limits.max_rank, 5);
  EXPECT_NE(FormatConfig(ServerConfig()), *printed->text_to_print);
}

TEST_F(LoadConfigTest, EveryOptionIsInHelpAndInThePrintedConfiguration) {
  const auto help = Load({"--help"});
  const auto printed = Load({"--print-config"});
  ASSERT_TRUE(help.ok() && printed.ok());
  for (const Option& option : OptionTable()) {
    EXPECT_THAT(*help->text_to_print,
                HasSubstr(std::string("--") + option.name));
    EXPECT_THAT(*printed->text_to_print,
                HasSubstr(std::string("\n") + option.name + ": "));
  }
  EXPECT_THAT(*help->text_to_print, HasSubstr("Limits on graphs"));
}

TEST_F(LoadConfigTest, EveryLimitOfTheApiIsAnOption) {
  for (const char* name :
       {"max-message-bytes",  "max-upload-bytes",   "max-nodes",
        "max-values",         "max-attributes",     "max-nesting-depth",
        "max-function-depth", "max-rank",           "max-elements",
        "max-constant-bytes", "max-folded-bytes",   "max-peak-bytes",
        "max-graphs",         "graph-cache-bytes",  "max-queue-length",
        "max-queued-bytes",   "max-execution-time", "max-queue-time",
        "max-trace-rows",     "max-watchers"}) {
    EXPECT_THAT(*Load({"--help"})->text_to_print,
                HasSubstr(std::string("--") + name));
  }
}

TEST_F(LoadConfigTest, VersionIsPrinted) {
  EXPECT_EQ(*Load({"--version"})->text_to_print, "tensord 1.2.3\n");
}

struct BadFlag {
  std::vector<const char*> flags;
  const char* option;
  const char* right;
};

class BadFlags : public LoadConfigTest,
                 public ::testing::WithParamInterface<BadFlag> {};

TEST_P(BadFlags, ErrorNamesTheOptionAndWhatWouldBeRight) {
  const std::string error = ErrorOf(GetParam().flags);
  EXPECT_THAT(error, HasSubstr(GetParam().option));
  EXPECT_THAT(error, HasSubstr(GetParam().right));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadFlags,
    ::testing::Values(
        BadFlag{{"--max-rank=17"}, "--max-rank", "from 0 to 16"},
        BadFlag{{"--max-rank=x"}, "--max-rank", "whole number"},
        BadFlag{{"--max-rank="}, "--max-rank", "give one"},
        BadFlag{{"--max-rank"}, "--max-rank", "give one"},
        BadFlag{{"--max-message-bytes=-1"}, "--max-message-bytes", "1MiB"},
        BadFlag{{"--max-message-bytes=99999999999999999999TiB"},
                "--max-message-bytes",
                "bytes from"},
        BadFlag{{"--drain-timeout=5"}, "--drain-timeout", "30s"},
        BadFlag{{"--drain-timeout=inf"}, "--drain-timeout", "30s"},
        BadFlag{{"--log-format=xml"}, "--log-format", "text or json"},
        BadFlag{{"--op-profile=on"}, "--op-profile", "off or sampled or full"},
        BadFlag{{"--insecure=perhaps"}, "--insecure", "true or false"},
        BadFlag{{"--listen=0.0.0.0:80"}, "--listen", "--insecure"},
        BadFlag{{"--listen=127.evil.com:80"}, "--listen", "--insecure"},
        BadFlag{{"--listen=localhost"}, "--listen", "HOST:PORT"},
        BadFlag{{"--listen=localhost:65536"}, "--listen", "65535"},
        BadFlag{{"--listen=,"}, "--listen", "at least one"},
        BadFlag{{"--listen=unix:"}, "--listen", "107"},
        BadFlag{
            {"--metrics-listen=0.0.0.0:80"}, "--metrics-listen", "--insecure"},
        BadFlag{{"--metrics-listen=unix:/x"}, "--metrics-listen", "HOST:PORT"},
        BadFlag{{"--tls-cert=x"}, "--tls-cert", "not in this version"},
        BadFlag{{"--tls-key=x"}, "--tls-key", "not in this version"},
        BadFlag{{"--devices=gpu:0"}, "--devices", "cpu:0"},
        BadFlag{{"--devices=cpu:"}, "--devices", "cpu:0"},
        BadFlag{{"--devices=cpu:65536"}, "--devices", "cpu:0"},
        BadFlag{{"--devices=auto,cpu:0"}, "--devices", "twice"},
        BadFlag{{"--devices=cpu:0,cpu:0"}, "--devices", "twice"},
        BadFlag{{"--devices=,"}, "--devices", "at least one"},
        BadFlag{{"--advertised-name=A"}, "--advertised-name", "a to z"},
        BadFlag{{"--upload-budget-bytes=1MiB"},
                "--upload-budget-bytes",
                "--max-upload-bytes"},
        BadFlag{{"--max-ingress-bytes=32MiB"},
                "--max-ingress-bytes",
                "--max-message-bytes"},
        BadFlag{{"--no-such-option"}, "--no-such-option", "--help"},
        BadFlag{{"--config=/does/not/exist"}, "--config", "YAML"},
        BadFlag{{"positional"}, "positional", "--help"}));

TEST_F(LoadConfigTest, AVariableThatIsWrongIsNamed) {
  variables_["TENSORD_MAX_RANK"] = "many";
  const std::string error = ErrorOf({});
  EXPECT_THAT(error, HasSubstr("--max-rank"));
  EXPECT_THAT(error, HasSubstr("TENSORD_MAX_RANK"));
}

// Kubernetes sets these for a service that is called tensord.
TEST_F(LoadConfigTest, VariablesOfNoOptionAreIgnored) {
  variables_["TENSORD_PORT"] = "tcp://10.0.0.1:8500";
  variables_["TENSORD_SERVICE_HOST"] = "10.0.0.1";
  EXPECT_TRUE(Load({}).ok());
}

TEST_F(LoadConfigTest, AFileThatIsWrongIsNamedWithItsLine) {
  EXPECT_THAT(ErrorOf({"--config", WriteFile("max-rank: 1\nmax-ranks: 2\n")}),
              HasSubstr(":2: 'max-ranks': no such option"));
  EXPECT_THAT(ErrorOf({"--config", WriteFile("max-rank: 1\nmax-rank: 2\n")}),
              HasSubstr("twice"));
  EXPECT_THAT(ErrorOf({"--config", WriteFile("max-rank: [1, 2]\n")}),
              HasSubstr("give one value"));
  EXPECT_THAT(ErrorOf({"--config", WriteFile("max-rank: 99\n")}),
              HasSubstr("(from " + path_ + ")"));
  EXPECT_THAT(ErrorOf({"--config", WriteFile("a: b: c\n")}),
              HasSubstr(path_ + ":1"));
  EXPECT_THAT(ErrorOf({"--config", WriteFile("just text\n")}),
              HasSubstr("NAME: VALUE"));
  EXPECT_THAT(ErrorOf({"--config", WriteFile("{[1]: 2}\n")}),
              HasSubstr("no such option"));
}

TEST_F(LoadConfigTest, AnEmptyFileGivesTheDefaults) {
  EXPECT_TRUE(Load({"--config", WriteFile("")}).ok());
  EXPECT_TRUE(Load({"--config", WriteFile("# nothing\n")}).ok());
}

}  // namespace
}  // namespace tensord
