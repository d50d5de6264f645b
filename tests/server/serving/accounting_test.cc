// What the metrics page counts, beside what was asked for: exactly as many
// launches as the compiled graphs have, whatever becomes of graphs and programs
// meanwhile; no series that a client made up; and the time of requests.
// TENSORD_STORM sets how many runs and names there are in all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/metrics/metrics_collector.h"
#include "tensord/v1/graph_service.pb.h"
#include "tensord/v1/session_service.pb.h"
#include "tests/server/metrics/page_text.h"
#include "tests/server/serving/serving_test.h"
#include "tests/support/fake_backend.h"

namespace tensord {
namespace {

constexpr char kExecute[] = "/tensord.v1.ExecutionService/Execute";

int CountOr(int otherwise) {
  const char* asked = std::getenv("TENSORD_STORM");
  int count = otherwise;
  if (asked != nullptr && !absl::SimpleAtoi(asked, &count)) count = otherwise;
  return count;
}

class AccountingTest : public ServingTest {
 protected:
  AccountingTest() { config_.log_level = LogSeverity::kError; }

  // The page as the daemon's own port has it.
  std::string Page() const { return metrics::PageText(collector_->Collect()); }

  void SetUp() override {
    ServingTest::SetUp();
    collector_ =
        std::make_unique<metrics::MetricsCollector>(metrics::MetricSources{
            .op_profile = &profile_,
            .phases = &phases_,
            .requests = &requests_,
            .executions = &executions_,
            .engine_stats = [this] { return observer_.Stats(*engine_); }});
  }

  void ConfigureProfile(op_profile::Mode mode) {
    ASSERT_TRUE(profile_.Configure({.mode = mode}).ok());
  }

  // The values of a metric's series, by their labels as written.
  static std::map<std::string, double> Series(const std::string& page,
                                              absl::string_view name) {
    std::map<std::string, double> series;
    for (const std::string& sample : metrics::Samples(page)) {
      const absl::string_view line = sample;
      const size_t end = line.rfind(' ');
      const size_t labels = line.find('{');
      if (line.substr(0, std::min(labels, end)) != name) continue;
      double value = 0;
      EXPECT_TRUE(absl::SimpleAtod(line.substr(end + 1), &value)) << sample;
      const size_t begin = std::min(labels, end);
      series[std::string(line.substr(begin, end - begin))] = value;
    }
    return series;
  }

  std::unique_ptr<metrics::MetricsCollector> collector_;
};

// --- Launches.

// A net on float32 [2, 32]: one layer for each operator of `ops`, with weights
// of its own so that its compiled form has some bytes.
v1::Graph Net(const std::string& name, const std::vector<std::string>& ops) {
  constexpr int kWidth = 32;
  v1::Graph graph;
  graph.set_name(name);
  graph.set_opset_version(17);
  v1::ValueInfo& input = *graph.add_inputs();
  input.set_name("x");
  input.set_dtype(v1::DTYPE_FLOAT32);
  input.add_dims()->set_size(2);
  input.add_dims()->set_size(kWidth);
  std::string value = "x";
  for (size_t i = 0; i < ops.size(); ++i) {
    v1::Node& node = *graph.add_nodes();
    node.set_op(ops[i]);
    node.add_inputs(value);
    if (ops[i] == "MatMul" || ops[i] == "Add" || ops[i] == "Mul") {
      v1::Initializer& weights = *graph.add_initializers();
      weights.set_name(absl::StrCat("w", i));
      v1::Tensor& tensor = *weights.mutable_tensor();
      tensor.set_dtype(v1::DTYPE_FLOAT32);
      if (ops[i] == "MatMul") tensor.add_dims(kWidth);
      tensor.add_dims(kWidth);
      const int64_t count = tensor.dims_size() == 2 ? kWidth * kWidth : kWidth;
      // Different ones in each net, or they would be shared.
      const std::vector<float> values(
          static_cast<size_t>(count),
          0.01f * static_cast<float>(i + 1 + name.size()));
      tensor.set_data(values.data(), values.size() * sizeof(float));
      node.add_inputs(weights.name());
    }
    value = i + 1 == ops.size() ? "y" : absl::StrCat("v", i);
    node.add_outputs(value);
  }
  graph.add_outputs("y");
  return graph;
}

class LaunchCountTest : public AccountingTest {
 protected:
  // By labels, as the page has them.
  using Counts = std::map<std::string, double>;

  LaunchCountTest()
      : fake_(BackendId::kVulkan, {.records_programs = true, .max_lanes = 2}) {
    config_.device_names = {"cpu:0", "vulkan:0"};
    // Not all of the nets have room at once.
    config_.engine.graph_cache_bytes = 120'000;
  }
  ~LaunchCountTest() override { StopServer(); }
  std::vector<Backend*> MoreBackends() override { return {&fake_}; }

  // What one run of a net launches on a device.
  Counts LaunchesOf(const v1::Graph& net, const std::string& device) {
    v1::ExplainGraphRequest request;
    request.set_graph_id(Submit(net));
    request.set_device(device);
    v1::ExplainGraphResponse explained;
    const grpc::Status status =
        Call("/tensord.v1.GraphService/ExplainGraph", request, explained);
    EXPECT_TRUE(status.ok()) << status.error_message();
    Counts counts;
    for (const v1::ExplainedNode& node : explained.nodes()) {
      if (node.kernel().empty()) continue;  // a view
      counts[absl::StrCat("{op=\"", node.op(), "\",backend=\"", node.backend(),
                          "\",device=\"", node.device(), "\"}")] += 1;
    }
    return counts;
  }

  // Runs it once, submitting it again if it had to make room for others.
  void RunOnce(const v1::Graph& net, const std::string& device) {
    v1::ExecuteRequest request;
    request.mutable_options()->set_device(device);
    v1::ExecuteInput& input = *request.add_inputs();
    input.set_name("x");
    input.mutable_tensor()->set_dtype(v1::DTYPE_FLOAT32);
    input.mutable_tensor()->add_dims(2);
    input.mutable_tensor()->add_dims(32);
    input.mutable_tensor()->set_data(std::string(2 * 32 * 4, '\0'));
    for (int attempt = 0; attempt < 100; ++attempt) {
      request.set_graph_id(Submit(net));
      v1::ExecuteResponse response;
      const grpc::Status status = Call(kExecute, request, response);
      if (status.error_code() == grpc::StatusCode::NOT_FOUND) continue;
      ASSERT_TRUE(status.ok()) << status.error_message();
      return;
    }
    FAIL() << "the net was evicted a hundred times before it ran";
  }

  FakeBackend fake_;
};

TEST_F(LaunchCountTest,
       LaunchesOnThePageAreThoseOfTheCompiledGraphsTimesTheRuns) {
  const std::vector<v1::Graph> nets = {
      Net("mlp", {"MatMul", "Relu", "MatMul", "Relu", "MatMul"}),
      Net("scales", {"Mul", "Add", "Relu", "Mul", "Add"}),
      // The fake device has no Neg and no Softmax: the host helps out.
      Net("mixed", {"MatMul", "Neg", "Add", "Softmax", "MatMul"})};
  const std::vector<std::string> devices = {"cpu:0", "vulkan:0"};
  ConfigureProfile(op_profile::Mode::kSampled);
  const int run_count = CountOr(1500);
  constexpr int kClients = 4;
  std::vector<std::atomic<int>> runs(nets.size() * devices.size());
  std::atomic<int> begun{0};
  std::vector<std::thread> clients;
  for (int client = 0; client < kClients; ++client) {
    clients.emplace_back([&, client] {
      std::mt19937 random(static_cast<unsigned>(client));
      while (begun.fetch_add(1) < run_count) {
        const size_t pick = random() % runs.size();
        RunOnce(nets[pick / devices.size()], devices[pick % devices.size()]);
        ++runs[pick];
      }
    });
  }
  // No scrape sees a count fall, whatever is retired meanwhile.
  Counts last;
  while (begun.load() < run_count) {
    Counts now = Series(Page(), "tensord_op_launches_total");
    for (const auto& [labels, count] : last) {
      EXPECT_GE(now[labels], count) << labels;
    }
    last = std::move(now);
  }
  for (std::thread& client : clients) client.join();

  Counts expected;
  for (size_t pick = 0; pick < runs.size(); ++pick) {
    for (const auto& [labels, count] : LaunchesOf(
             nets[pick / devices.size()], devices[pick % devices.size()])) {
      expected[labels] += count * runs[pick].load();
    }
  }
  Counts counted = Series(Page(), "tensord_op_launches_total");
  double replays = 0;
  for (auto it = counted.begin(); it != counted.end();) {
    if (absl::StrContains(it->first, "program_replay")) {
      replays += it->second;
      it = counted.erase(it);
    } else {
      ++it;
    }
  }
  EXPECT_EQ(counted, expected);
  EXPECT_GT(replays, run_count / 10) << "programs were meant to be replayed";
  EXPECT_GT(engine_->CacheStats().evictions, 10)
      << "graphs were meant to be evicted in between";
}

// --- Refusals.

TEST_F(AccountingTest, AShareThatIsUsedUpIsARejectionByQuota) {
  StopServer();
  config_.max_sessions = 2;
  Start();
  int refused = 0;
  for (int i = 0; i < 4; ++i) {
    v1::Session session;
    refused += Call("/tensord.v1.SessionService/CreateSession",
                    v1::CreateSessionRequest(), session)
                           .error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED
                   ? 1
                   : 0;
  }
  EXPECT_GT(refused, 0);
  EXPECT_EQ(Series(Page(), "tensord_rejections_total").at("{reason=\"quota\"}"),
            refused);
}

// --- Series.

TEST_F(AccountingTest, NamesThatClientsMakeUpAddNoSeries) {
  const std::string graph_id = Submit(ReluGraph());
  int next = 0;
  // Each of these fails, or succeeds, in one way, with a name of its own.
  const auto send = [&](const std::string& name) {
    grpc::ClientContext context;
    context.AddMetadata("traceparent", name);
    v1::SubmitGraphRequest submit;
    v1::SubmitGraphResponse submitted;
    v1::DeleteGraphRequest deletion;
    v1::DeleteGraphResponse nothing;
    v1::ExecuteResponse response;
    v1::ExecuteRequest run = IdentityRequest(graph_id, "null:0");
    switch (next++ % 8) {
      case 0:
        *submit.mutable_graph() = IdentityGraph(name);
        Call("/tensord.v1.GraphService/SubmitGraph", submit, submitted,
             &context);
        // Or the limit of graphs would be met, which is a code of its own.
        deletion.set_graph_id(submitted.graph_id());
        Call("/tensord.v1.GraphService/DeleteGraph", deletion, nothing);
        return;
      case 1:
        *submit.mutable_graph() = IdentityGraph(name);
        submit.mutable_graph()->mutable_nodes(0)->set_op(name);
        Call("/tensord.v1.GraphService/SubmitGraph", submit, submitted,
             &context);
        return;
      case 2:
        CallBytes(absl::StrCat("/tensord.v1.ExecutionService/", name), "");
        return;
      case 3:
        CallBytes(absl::StrCat("/", name, "/Execute"), "");
        return;
      case 4:
        run.mutable_options()->set_session_id(name);
        Call(kExecute, run, response, &context);
        return;
      case 5:
        run.mutable_options()->set_device(name);
        Call(kExecute, run, response, &context);
        return;
      case 6:
        run.set_graph_id(name);
        run.mutable_options()->set_request_id(name);
        Call(kExecute, run, response, &context);
        return;
      case 7:
        run.mutable_inputs(0)->set_name(name);
        Call(kExecute, run, response, &context);
        return;
    }
  };
  const auto series = [&] {
    std::set<std::string> names;
    for (const std::string& sample : metrics::Samples(Page())) {
      names.insert(sample.substr(0, sample.rfind(' ')));
    }
    return names;
  };
  // What each way leaves, once.
  for (int i = 0; i < 8; ++i) send("first");
  Page();
  const std::set<std::string> before = series();
  const int name_count = CountOr(2000);
  for (int i = 0; i < name_count; ++i) send(absl::StrCat("bogus", i));
  EXPECT_THAT(series(), testing::ContainerEq(before));
  EXPECT_FALSE(absl::StrContains(Page(), "bogus"));
}

// --- Time.

// 60 products of 2048 rows: launches of a tenth of a millisecond, as real
// models have them. (Of launches of 5 us what stands between two is 8 %.)
TEST_F(AccountingTest, OperatorsAndPhasesExplainTheTimeOfRequests) {
  constexpr int kRows = 2048;
  v1::Graph graph = Net("deep", std::vector<std::string>(60, "MatMul"));
  graph.mutable_inputs(0)->mutable_dims(0)->set_size(kRows);
  v1::ExecuteRequest request;
  request.set_graph_id(Submit(graph));
  request.mutable_options()->set_device("cpu:0");
  v1::ExecuteInput& input = *request.add_inputs();
  input.set_name("x");
  input.mutable_tensor()->set_dtype(v1::DTYPE_FLOAT32);
  input.mutable_tensor()->add_dims(kRows);
  input.mutable_tensor()->add_dims(32);
  input.mutable_tensor()->set_data(std::string(kRows * 32 * 4, '\0'));
  ConfigureProfile(op_profile::Mode::kFull);
  v1::ExecuteResponse response;
  ASSERT_TRUE(Call(kExecute, request, response).ok());  // compiles
  const auto sum = [](const std::map<std::string, double>& series,
                      absl::string_view but = "") {
    double total = 0;
    for (const auto& [labels, value] : series) {
      if (but.empty() || !absl::StrContains(labels, but)) total += value;
    }
    return total;
  };
  struct Times {
    double wall, operators, phases, run;
  };
  const auto read = [&] {
    const std::string page = Page();
    const auto walls = Series(page, "tensord_request_duration_seconds_sum");
    const auto phases =
        Series(page, "tensord_execution_phase_duration_seconds_sum");
    double wall = 0;
    for (const auto& [labels, value] : walls) {
      if (absl::StrContains(labels, "method=\"Execute\"")) wall += value;
    }
    return Times{wall,
                 sum(Series(page, "tensord_op_host_duration_seconds_sum")),
                 sum(phases), sum(phases) - sum(phases, "phase=\"run\"")};
  };
  // The best of some tries: what the machine does in between is not ours.
  double explained = 0, phases_share = 0;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const Times before = read();
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(Call(kExecute, request, response).ok());
    }
    ASSERT_TRUE(active_calls_.AwaitNone(absl::Now() + absl::Seconds(30)));
    const Times after = read();
    const double wall = after.wall - before.wall;
    const double phases = after.phases - before.phases;
    // Operators are what the phase `run` is made of.
    const double others = phases - (after.run - before.run);
    explained = std::max(explained,
                         (after.operators - before.operators + others) / wall);
    phases_share = std::max(phases_share, phases / wall);
    EXPECT_LE(phases, wall * 1.001) << "phases do not overlap";
  }
  RecordProperty("explained", absl::StrCat(explained));
  RecordProperty("phases", absl::StrCat(phases_share));
  EXPECT_GE(explained, 0.95);
  EXPECT_GE(phases_share, 0.95);
}

}  // namespace
}  // namespace tensord
