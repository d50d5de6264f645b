#include "server/metrics/metrics_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/profile/launch.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/metrics/metrics_collector.h"
#include "tests/server/metrics/page_text.h"

namespace tensord::metrics {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// The whole answer to a GET over a plain socket; empty if nobody listens.
std::string Get(uint16_t port, const std::string& path) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const absl::Cleanup close_fd = [fd] { close(fd); };
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)) != 0) return "";
  const std::string request =
      absl::StrCat("GET ", path,
                   " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  if (write(fd, request.data(), request.size()) !=
      static_cast<ssize_t>(request.size())) {
    return "";
  }
  std::string answer;
  char buffer[4096];
  ssize_t length = 0;
  while ((length = read(fd, buffer, sizeof(buffer))) > 0) {
    answer.append(buffer, length);
  }
  return answer;
}

std::string BodyOf(const std::string& answer) {
  const size_t end_of_head = answer.find("\r\n\r\n");
  return end_of_head == std::string::npos ? "" : answer.substr(end_of_head + 4);
}

// The exit status of `promtool check metrics` on the text.
int CheckWithPromtool(const std::string& text, std::string* findings) {
  const std::string path =
      absl::StrCat(testing::TempDir(), "/page.", getpid(), ".prom");
  std::ofstream(path) << text;
  FILE* promtool = popen(
      absl::StrCat("promtool check metrics <", path, " 2>&1").c_str(), "r");
  char buffer[512];
  while (fgets(buffer, sizeof(buffer), promtool) != nullptr) {
    findings->append(buffer);
  }
  const int status = pclose(promtool);
  remove(path.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A page with every metric that there is.
class MetricsServerTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(profile_.Configure({op_profile::Mode::kSampled, 4}).ok());
    auto shard = profile_.CreateShard({BackendId::kCpu, 0});
    op_profile::LaunchSite site;
    site.slot = profile_.SlotFor(OpKind::kConv, BackendId::kCpu, "conv_f32",
                                 DType::kFloat32);
    {
      op_profile::ExecutionScope scope(shard.get());
      ASSERT_TRUE(op_profile::CountLaunch(scope.shard(), site, [] {
                    return absl::OkStatus();
                  }).ok());
    }
    profile_.AddDeviceDuration(OpKind::kConv, BackendId::kCuda, 1'000);
    phases_.Add(op_profile::Phase::kRun, BackendId::kCpu, 1'000);
    requests_.Record(0, absl::StatusCode::kOk, 1'000, 100);
    MetricSources sources;
    sources.op_profile = &profile_;
    sources.phases = &phases_;
    sources.requests = &requests_;
    sources.executions = &executions_;
    sources.holdings_stats = [] { return HoldingsStats{}; };
    sources.engine_stats = [] {
      EngineStats stats;
      DeviceStats device;
      device.queue_wait.emplace();
      device.memory_bytes = {{"used", 1}};
      device.transfer_bytes = {{"upload", 1}};
      stats.devices.push_back(device);
      stats.graph_cache.emplace();
      stats.tuning = TuningStats{{{"faster", 1}}, 1, 1, 1};
      stats.compile_durations.emplace_back("plan",
                                           op_profile::DurationHistogram());
      return stats;
    };
    page_ = std::make_shared<MetricsCollector>(sources);
  }

  std::unique_ptr<MetricsServer> Start(const std::string& address) {
    auto server = MetricsServer::Start({address, false}, page_);
    EXPECT_TRUE(server.ok()) << server.status();
    return server.ok() ? *std::move(server) : nullptr;
  }

  op_profile::OpProfile profile_;
  op_profile::PhaseProfile phases_;
  RequestMetrics requests_{{{"tensord.v1.ExecutionService", "Execute"}}};
  ExecutionMetrics executions_;
  std::shared_ptr<MetricsCollector> page_;
};

TEST_F(MetricsServerTest, ServesThePageOnAFreePortOfLoopback) {
  const auto server = Start("127.0.0.1:0");
  ASSERT_NE(server, nullptr);
  EXPECT_NE(server->port(), 0);
  EXPECT_EQ(server->address(), absl::StrCat("127.0.0.1:", server->port()));
  const std::string answer = Get(server->port(), "/metrics");
  EXPECT_THAT(
      answer,
      AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("Content-Type: text/plain"),
            HasSubstr("tensord_op_launches_total{op=\"Conv\"")));
  EXPECT_THAT(Get(server->port(), "/"), StartsWith("HTTP/1.1 404"));
}

TEST_F(MetricsServerTest, PromtoolFindsNothingOnThePage) {
  const auto server = Start("localhost:0");
  ASSERT_NE(server, nullptr);
  Get(server->port(), "/metrics");  // the second page has exposer_* values
  const std::string page = BodyOf(Get(server->port(), "/metrics"));
  for (const MetricDef& def : kMetricDefs) {
    EXPECT_THAT(page, HasSubstr(absl::StrCat("# HELP ", def.name, " ")));
  }
  size_t exposer_series = 0;
  for (const std::string& sample : Samples(page)) {
    if (absl::StartsWith(sample, "exposer_")) ++exposer_series;
  }
  EXPECT_GT(exposer_series, 0);
  EXPECT_LE(exposer_series, MetricsCollector::kExposerSeries);
  std::string findings;
  EXPECT_EQ(CheckWithPromtool(page, &findings), 0) << findings;
  EXPECT_EQ(findings, "");

  // The check can fail.
  EXPECT_NE(
      CheckWithPromtool(absl::StrCat(page, "# TYPE tensord_unexplained gauge\n",
                                     "tensord_unexplained 1\n"),
                        &findings),
      0);
  EXPECT_THAT(findings, HasSubstr("tensord_unexplained no help text"));
}

TEST_F(MetricsServerTest, APortThatIsTakenIsAStatus) {
  const auto first = Start("127.0.0.1:0");
  ASSERT_NE(first, nullptr);
  const auto second = MetricsServer::Start({first->address(), false}, page_);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(second.status().message(), HasSubstr(first->address()));
}

TEST_F(MetricsServerTest, AnAddressThatIsNoneIsRefused) {
  for (const char* address :
       {"", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:x",
        "127.0.0.1:-1", "127.0.0.1:80s", "1.2.3:80", "host.example:80",
        "127.0.0.1:0,127.0.0.1:1", "[::1:80", "::1:80", "[]:80", "+80"}) {
    EXPECT_EQ(MetricsServer::Start({address, true}, page_).status().code(),
              absl::StatusCode::kInvalidArgument)
        << address;
  }
}

TEST_F(MetricsServerTest, AnAddressThatOthersReachMustBeAskedFor) {
  for (const char* address : {"0.0.0.0:0", "[::]:0", "192.0.2.1:0"}) {
    EXPECT_EQ(MetricsServer::Start({address, false}, page_).status().code(),
              absl::StatusCode::kInvalidArgument)
        << address;
  }
  EXPECT_TRUE(MetricsServer::Start({"0.0.0.0:0", true}, page_).ok());
}

TEST_F(MetricsServerTest, StopsListeningWhenItGoes) {
  auto server = Start("127.0.0.1:0");
  ASSERT_NE(server, nullptr);
  const uint16_t port = server->port();
  server.reset();
  EXPECT_EQ(Get(port, "/metrics"), "");
}

}  // namespace
}  // namespace tensord::metrics
