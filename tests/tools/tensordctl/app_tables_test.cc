// tensordctl devices, kernels, profile, explain.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tools/tensordctl/app_fixture.h"

namespace tensord::ctl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

TEST_F(AppTest, ShowsDevices) {
  v1::Device& device = *daemon.devices.add_devices();
  device.set_name("cpu:0");
  device.set_health(v1::DEVICE_HEALTH_QUARANTINED);
  device.set_health_reason("CUDA_ERROR_ILLEGAL_ADDRESS");
  device.set_memory_used_bytes(3 << 20);
  device.set_memory_limit_bytes(int64_t{2} << 30);
  v1::UnavailableBackend& none = *daemon.devices.add_unavailable_backends();
  none.set_backend("vulkan");
  none.set_reason("libvulkan.so.1: cannot open shared object file");
  const Outcome outcome = Run({"devices"});
  EXPECT_THAT(outcome.out, HasSubstr("quarantined"));
  EXPECT_THAT(outcome.out, HasSubstr("3.00 MiB 2.00 GiB"));
  EXPECT_THAT(outcome.out, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_THAT(outcome.out, HasSubstr("no vulkan: libvulkan.so.1"));
  EXPECT_EQ(
      Run({"devices", "--json"}).json()["devices"][0]["memory_used_bytes"],
      3 << 20);
}

TEST_F(AppTest, ShowsKernels) {
  v1::Kernel& kernel = daemon.kernels.emplace_back();
  kernel.set_op("Softmax");
  kernel.set_backend("cpu");
  kernel.set_name("softmax_f32_rows");
  kernel.set_sibling_count(2);
  kernel.mutable_dtypes()->add_inputs(v1::DTYPE_FLOAT32);
  kernel.mutable_dtypes()->add_outputs(v1::DTYPE_FLOAT32);
  kernel.set_source("backends/cpu/kernels/softmax.cc");
  EXPECT_THAT(Run({"kernels"}).out,
              HasSubstr("Softmax cpu     softmax_f32_rows   1/2 float32 -> "
                        "float32 backends/cpu/kernels/softmax.cc\n"));
  EXPECT_THAT(Run({"kernels", "-v"}).out, HasSubstr("REVISION"));
}

TEST_F(AppTest, SortsTheProfileByTimeAndMarksEstimates) {
  daemon.profile.mutable_config()->set_mode(v1::OP_PROFILE_MODE_SAMPLED);
  daemon.profile.mutable_config()->set_sample_every(64);
  for (int64_t bound : {1000, 10'000, 100'000}) {
    daemon.profile.add_bucket_bounds_ns(bound);
  }
  const auto add = [&](const char* op, int64_t launches, int64_t samples,
                       int64_t total_ns, std::vector<int64_t> buckets) {
    v1::OpProfileRow& row = *daemon.profile.add_rows();
    row.set_op(op);
    row.set_backend("cpu");
    row.set_launch_count(launches);
    row.mutable_host_time()->set_sample_count(samples);
    row.mutable_host_time()->set_total_ns(total_ns);
    row.mutable_host_time()->mutable_bucket_counts()->Add(buckets.begin(),
                                                          buckets.end());
  };
  add("Relu", 10, 10, 20'000, {0, 10, 0, 0});
  add("Conv", 1000, 10, 500'000, {0, 0, 10, 0});
  add("Add", 5, 0, 0, {0, 0, 0, 0});
  const Outcome outcome = Run({"profile"});
  EXPECT_EQ(
      outcome.out,
      "op_profile sampled, one run in 64 is timed\n"
      "OP   BACKEND LAUNCHES TIMED    TOTAL   SHARE    MEAN    ~P50    "
      "~P99\n"
      "Conv cpu         1000    10 ~50.0 ms 100.0 % 50.0 us 55.0 us 99.1 "
      "us\n"
      "Relu cpu           10    10  20.0 us   0.0 % 2.00 us 5.50 us 9.91 "
      "us\n"
      "Add  cpu            5     0        -       -       -       -       "
      "-\n");
  EXPECT_EQ(Run({"profile", "--json"}).json()["rows"][1]["launch_count"], 1000);
}

TEST_F(AppTest, AccountsAWindowByItsDifference) {
  daemon.profile.set_incarnation("a");
  EXPECT_EQ(Run({"profile", "--for", "1ms"}).code, ExitCode::kOk);
  const auto requests = daemon.profile_requests();
  ASSERT_THAT(requests, SizeIs(2));
  EXPECT_FALSE(requests[0].has_since());
  EXPECT_EQ(requests[1].since().incarnation(), "a");
  EXPECT_EQ(requests[0].omit_kernels(), requests[1].omit_kernels());
}

TEST_F(AppTest, ConfiguresTheProfile) {
  EXPECT_EQ(Run({"profile", "--set", "sampled", "--sample-every", "16"}).out,
            "op_profile sampled, one run in 16 is timed\n");
  EXPECT_EQ(Run({"profile", "--set", "off"}).out, "op_profile off\n");
  EXPECT_EQ(daemon.profile_config.sample_every(), 16);
}

TEST_F(AppTest, ExplainsAGraph) {
  v1::CompiledGraphInfo& compiled = *daemon.explanation.mutable_compiled();
  compiled.set_device("cpu:0");
  compiled.set_node_count(1);
  compiled.set_segment_count(1);
  compiled.mutable_memory()->set_peak_bytes(3 << 20);
  compiled.mutable_memory()->set_arena_bytes(1 << 20);
  v1::ExplainedNode& node = *daemon.explanation.add_nodes();
  node.set_op("Conv");
  node.set_name("conv1");
  node.add_fused_from("conv1");
  node.add_fused_from("relu1");
  node.set_kernel("conv_f32");
  node.set_device("cpu:0");
  node.set_measured_host_ns(2'500);
  v1::ExplainedValue& output = *node.add_outputs();
  output.set_dtype(v1::DTYPE_FLOAT32);
  output.add_dims(1);
  output.add_dims(8);
  output.set_place(v1::ExplainedValue::PLACE_ARENA);
  output.set_arena_offset(4096);
  v1::DeclinedCandidate& declined = *node.add_declined();
  declined.set_kernel("conv_f32_winograd");
  declined.set_backend("cpu");
  declined.set_reason("stride 2 is above 1");
  v1::ExplainedPass& pass = *daemon.explanation.add_passes();
  pass.set_name("fuse");
  pass.set_is_optional(true);
  pass.set_nodes_before(2);
  pass.set_nodes_after(1);

  const Outcome outcome = Run({"explain", model, "--set", "N=1"});
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_THAT(outcome.out,
              HasSubstr("memory     peak 3.00 MiB: arena 1.00 MiB"));
  EXPECT_THAT(outcome.out,
              HasSubstr("# OP   NODE     KERNEL   OUTPUT       MEASURED\n"
                        "0 Conv conv1 +1 conv_f32 float32[1,8]  2.50 us\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("winograd")));
  EXPECT_EQ(daemon.explain_requests()[0].shapes().symbols().at("N"), 1);

  const Outcome verbose = Run({"explain", model, "--set", "N=1", "-v"});
  EXPECT_THAT(verbose.out, HasSubstr("conv_f32_winograd cpu     stride 2 is"));
  EXPECT_THAT(verbose.out, HasSubstr("fuse 2 -> 1"));
  EXPECT_THAT(verbose.out, HasSubstr("arena+4096"));
}

}  // namespace
}  // namespace tensord::ctl
