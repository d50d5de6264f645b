#include "server/metrics/metrics_collector.h"

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/profile/launch.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/metrics/page_text.h"

namespace tensord::metrics {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

absl::Status Succeed() { return absl::OkStatus(); }

// The sum of the samples of a metric (not of a histogram's parts).
double SumOf(const std::vector<prometheus::MetricFamily>& families,
             const std::string& name) {
  double sum = 0;
  for (const auto& family : families) {
    if (family.name != name) continue;
    for (const auto& metric : family.metric) {
      sum += metric.counter.value + metric.gauge.value;
    }
  }
  return sum;
}

class MetricsCollectorTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(profile_.Configure({op_profile::Mode::kFull}).ok());
    sources_.op_profile = &profile_;
    sources_.phases = &phases_;
    sources_.requests = &requests_;
    sources_.executions = &executions_;
    sources_.build_info = {"0.1.0", "abc", "gcc 12", "release"};
  }

  void Launch(OpKind op, DeviceId device, const std::string& kernel) {
    auto shard = profile_.CreateShard(device);
    op_profile::LaunchSite site;
    site.slot = profile_.SlotFor(op, device.backend, kernel, DType::kFloat32);
    site.bytes = 10;
    op_profile::ExecutionScope scope(shard.get());
    ASSERT_TRUE(op_profile::CountLaunch(scope.shard(), site, Succeed).ok());
  }

  op_profile::OpProfile profile_;
  op_profile::PhaseProfile phases_;
  RequestMetrics requests_{{{"tensord.v1.ExecutionService", "Execute"},
                            {"tensord.v1.GraphService", "SubmitGraph"}}};
  ExecutionMetrics executions_;
  MetricSources sources_;
};

TEST_F(MetricsCollectorTest, ShowsLaunchesByOpAndKernel) {
  const MetricsCollector collector(sources_);
  Launch(OpKind::kConv, {BackendId::kCpu, 1}, "conv_f32");
  const std::string text = PageText(collector.Collect());
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("tensord_op_launches_total{op=\"Conv\",backend=\"cpu\","
                      "device=\"cpu:1\"} 1\n"),
            HasSubstr("tensord_op_errors_total{op=\"Conv\",backend=\"cpu\","
                      "device=\"cpu:1\"} 0\n"),
            HasSubstr("tensord_op_bytes_total{op=\"Conv\",backend=\"cpu\","
                      "device=\"cpu:1\"} 10\n"),
            HasSubstr("tensord_kernel_launches_total{op=\"Conv\","
                      "backend=\"cpu\",kernel=\"conv_f32\","
                      "dtype=\"float32\"} 1\n"),
            HasSubstr("tensord_op_host_duration_seconds_count{op=\"Conv\","
                      "backend=\"cpu\"} 1\n"),
            HasSubstr("tensord_op_profile_sample_every 1\n"),
            HasSubstr("tensord_op_profile_epoch 1\n")));
  EXPECT_THAT(text,
              Not(HasSubstr("# TYPE tensord_op_device_duration_seconds")));
}

TEST_F(MetricsCollectorTest, ShowsDeviceTimesWhereTheyWereTaken) {
  const MetricsCollector collector(sources_);
  profile_.AddDeviceDuration(OpKind::kConv, BackendId::kCuda, 2'000'000);
  EXPECT_THAT(PageText(collector.Collect()),
              HasSubstr("tensord_op_device_duration_seconds_sum{op=\"Conv\","
                        "backend=\"cuda\"} 0.002\n"));
}

TEST_F(MetricsCollectorTest, ShowsRequestsFromManyThreads) {
  const MetricsCollector collector(sources_);
  const size_t method =
      requests_.Find("/tensord.v1.ExecutionService/Execute").value();
  std::vector<std::thread> threads;
  for (int i = 0; i < 32; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 100; ++j) {
        requests_.Record(method,
                         i == 0 ? absl::StatusCode::kResourceExhausted
                                : absl::StatusCode::kOk,
                         1'000'000, 100);
      }
      collector.Collect();
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string labels =
      "service=\"tensord.v1.ExecutionService\",method=\"Execute\"";
  EXPECT_THAT(
      PageText(collector.Collect()),
      AllOf(HasSubstr(absl::StrCat("tensord_requests_total{", labels,
                                   ",code=\"OK\"} 3100\n")),
            HasSubstr(absl::StrCat("tensord_requests_total{", labels,
                                   ",code=\"RESOURCE_EXHAUSTED\"} 100\n")),
            HasSubstr(absl::StrCat("tensord_request_duration_seconds_count{",
                                   labels, "} 3200\n")),
            HasSubstr(absl::StrCat("tensord_request_bytes_sum{", labels,
                                   "} 320000\n")),
            HasSubstr(absl::StrCat("tensord_request_bytes_bucket{", labels,
                                   ",le=\"64\"} 0\n")),
            HasSubstr(absl::StrCat("tensord_request_bytes_bucket{", labels,
                                   ",le=\"256\"} 3200\n")),
            Not(HasSubstr("SubmitGraph"))));
}

TEST_F(MetricsCollectorTest, NamesThatAreNotInAListMakeNoSeries) {
  const MetricsCollector collector(sources_);
  // A client reaches metrics by the method that it calls and the code that it
  // gets; everything else of it stops at the decoder.
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(requests_.Find(absl::StrCat("/evil.Service/Call", i)));
    EXPECT_FALSE(requests_.Find(
        absl::StrCat("/tensord.v1.ExecutionService/Execute", i)));
  }
  EXPECT_FALSE(requests_.Find(""));
  EXPECT_FALSE(requests_.Find("tensord.v1.ExecutionService/Execute"));
  const size_t before = Samples(PageText(collector.Collect())).size();
  const size_t method =
      requests_.Find("/tensord.v1.ExecutionService/Execute").value();
  requests_.Record(method, static_cast<absl::StatusCode>(12345), 1, 1);
  requests_.Record(method, static_cast<absl::StatusCode>(-1), 1, 1);
  const std::string text = PageText(collector.Collect());
  EXPECT_THAT(text, HasSubstr("code=\"UNKNOWN\"} 2\n"));
  EXPECT_EQ(Samples(text).size(), before + 1 + 2 * kHistogramSeries);
}

TEST_F(MetricsCollectorTest, ShowsPhasesExecutionsAndWhatTheEngineSays) {
  sources_.engine_stats = [] {
    EngineStats stats;
    DeviceStats device;
    device.device = {BackendId::kNull, 0};
    device.is_up = false;
    device.executions_in_flight = 3;
    device.lanes = 5;
    device.queue_depth = 4;
    device.queue_limit = 6;
    device.memory_bytes = {{"used", 77}};
    device.transfer_bytes = {{"upload", 88}};
    device.queue_wait.emplace();
    stats.devices.push_back(device);
    stats.graph_cache = GraphCacheStats{5, 6, 7, 8};
    stats.tuning = TuningStats{{{"faster", 9}, {"kept", 10}}, 11, 12.5, 13};
    stats.compile_durations.emplace_back("plan",
                                         op_profile::DurationHistogram());
    return stats;
  };
  const MetricsCollector collector(sources_);
  phases_.Add(op_profile::Phase::kRun, BackendId::kNull, 100);
  phases_.Add(op_profile::Phase::kDecode, std::nullopt, 100);
  executions_.RecordOutcome(ExecutionOutcome::kCancelled);
  executions_.RecordRejection(RejectionReason::kQueueFull);
  EXPECT_THAT(
      PageText(collector.Collect()),
      AllOf(HasSubstr("tensord_execution_phase_duration_seconds_count{"
                      "phase=\"run\",backend=\"null\"} 1\n"),
            HasSubstr("{phase=\"decode\",backend=\"none\"} 1\n"),
            HasSubstr("tensord_executions_total{state=\"cancelled\"} 1\n"),
            HasSubstr("tensord_executions_total{state=\"failed\"} 0\n"),
            HasSubstr("tensord_rejections_total{reason=\"queue_full\"} 1\n"),
            HasSubstr("tensord_executions_in_flight{device=\"null:0\"} 3\n"),
            HasSubstr("tensord_device_lanes{device=\"null:0\"} 5\n"),
            HasSubstr("tensord_queue_depth{device=\"null:0\"} 4\n"),
            HasSubstr("tensord_queue_limit{device=\"null:0\"} 6\n"),
            HasSubstr("tensord_queue_wait_seconds_count{device=\"null:0\"} 0"),
            HasSubstr("tensord_device_up{device=\"null:0\"} 0\n"),
            HasSubstr("tensord_device_memory_bytes{device=\"null:0\","
                      "kind=\"used\"} 77\n"),
            HasSubstr("tensord_transfer_bytes_total{device=\"null:0\","
                      "direction=\"upload\"} 88\n"),
            HasSubstr("tensord_graph_cache_hits_total 5\n"),
            HasSubstr("tensord_graph_cache_misses_total 6\n"),
            HasSubstr("tensord_graph_cache_evictions_total 7\n"),
            HasSubstr("tensord_graph_cache_bytes 8\n"),
            HasSubstr("tensord_tuning_decisions_total{outcome=\"faster\"} 9\n"),
            HasSubstr("tensord_tuning_decisions_total{outcome=\"kept\"} 10\n"),
            HasSubstr("tensord_tuning_disagreements_total 11\n"),
            HasSubstr("tensord_tuning_seconds_total 12.5\n"),
            HasSubstr("tensord_tuning_remembered_nodes 13\n"),
            HasSubstr("tensord_compile_duration_seconds_count{"
                      "phase=\"plan\"} 0\n"),
            HasSubstr("tensord_build_info{version=\"0.1.0\",revision=\"abc\","
                      "compiler=\"gcc 12\",build_type=\"release\"} 1\n")));
}

TEST_F(MetricsCollectorTest, ShowsTheProcess) {
  const MetricsCollector collector(sources_);
  const auto families = collector.Collect();
  EXPECT_GT(SumOf(families, "process_resident_memory_bytes"), 1e6);
  EXPECT_GT(SumOf(families, "process_virtual_memory_bytes"), 1e6);
  EXPECT_GE(SumOf(families, "process_open_fds"), 3);
  EXPECT_GT(SumOf(families, "process_max_fds"), 3);
  EXPECT_GT(SumOf(families, "process_start_time_seconds"), 1.6e9);
}

// Every operator on every backend and 4 devices of each, and twice as many
// kernels as there may be series.
TEST_F(MetricsCollectorTest, TheSeriesAreBoundedAndTheSumsStayExact) {
  const MetricsCollector collector(sources_);
  double launches = 0;
  for (int backend = 0; backend < kBackendCount; ++backend) {
    for (uint16_t ordinal = 0; ordinal < 4; ++ordinal) {
      const DeviceId device{static_cast<BackendId>(backend), ordinal};
      auto shard = profile_.CreateShard(device);
      op_profile::ExecutionScope scope(shard.get());
      for (int i = 0; i < kOpKindCount; ++i) {
        const OpKind op = static_cast<OpKind>(i);
        for (int k = 0; k < 8; ++k) {
          op_profile::LaunchSite site;
          site.slot = profile_.SlotFor(op, device.backend,
                                       absl::StrCat("kernel_", i, "_", k),
                                       DType::kFloat32);
          ASSERT_TRUE(
              op_profile::CountLaunch(scope.shard(), site, Succeed).ok());
          ++launches;
        }
        profile_.AddDeviceDuration(op, device.backend, 1'000);
      }
    }
    if (backend == 1) collector.Collect();  // rows come while others are there
  }
  collector.Collect();
  const auto families = collector.Collect();
  const size_t series = Samples(PageText(families)).size();
  EXPECT_LE(series + MetricsCollector::kExposerSeries,
            MetricsCollector::kMaxSeries);
  EXPECT_GT(series, 7'000) << "the bound was meant to be reached";
  EXPECT_EQ(SumOf(families, "tensord_op_launches_total"), launches);
  EXPECT_EQ(SumOf(families, "tensord_kernel_launches_total"), launches);
  EXPECT_EQ(SumOf(families, "tensord_metrics_series"), series);
  EXPECT_GT(SumOf(families, "tensord_metrics_folded_rows"), 0);
  EXPECT_THAT(PageText(families),
              HasSubstr("tensord_op_host_duration_seconds_count{op=\"other\""));
}

// What the page could show besides the profile, at its largest.
TEST_F(MetricsCollectorTest, AFullProfileLeavesRoomForEveryMethodAndDevice) {
  std::vector<MethodName> methods;
  for (int i = 0; i < 60; ++i) {
    methods.push_back({"tensord.v1.SomeService", absl::StrCat("Method", i)});
  }
  RequestMetrics requests(methods);
  for (size_t i = 0; i < methods.size(); ++i) {
    for (int code : {0, 3, 4, 5, 8, 9, 12, 13, 14}) {
      requests.Record(i, static_cast<absl::StatusCode>(code), 1, 1);
    }
  }
  for (int phase = 0; phase < op_profile::kPhaseCount; ++phase) {
    for (int backend = 0; backend < kBackendCount; ++backend) {
      phases_.Add(static_cast<op_profile::Phase>(phase),
                  static_cast<BackendId>(backend), 1);
    }
  }
  sources_.requests = &requests;
  sources_.engine_stats = [] {
    EngineStats stats;
    for (uint16_t i = 0; i < 10; ++i) {
      DeviceStats device;
      device.device.ordinal = i;
      device.queue_wait.emplace();
      device.memory_bytes = {{"total", 1}, {"used", 1}, {"weights", 1}};
      device.transfer_bytes = {{"upload", 1}, {"download", 1}, {"peer", 1}};
      stats.devices.push_back(device);
    }
    return stats;
  };
  const MetricsCollector collector(sources_);
  EXPECT_EQ(SumOf(collector.Collect(), "tensord_metrics_folded_rows"), 0);
}

}  // namespace
}  // namespace tensord::metrics
