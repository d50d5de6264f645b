// A real GPU that is lost while the engine uses it. One test, since there is no
// way back in a process: everything is looked at in order.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "backends/cuda/cuda_backend.h"
#include "tests/backends/cuda/fault_gpu/trap_kernel.h"
#include "tests/engine/engine_harness.h"
#include "tests/support/backend_test.h"
#include "tests/support/matchers.h"

namespace tensord::cuda {
namespace {

using ::testing::HasSubstr;

constexpr DeviceId kGpu = {BackendId::kCuda, 0};

constexpr KernelEntry kTrap = {.op = OpKind::kAdd,
                               .dtypes = All(DType::kFloat32),
                               .name = "add_f32_trap",
                               .source = "tests",
                               .run = &RunTrap};

// The real backend with one kernel, whose run traps.
class TrapBackend final : public Backend {
 public:
  BackendId id() const override { return BackendId::kCuda; }
  absl::Span<const KernelEntry> kernels() const override { return {&kTrap, 1}; }
  uint64_t KernelRevision(absl::string_view) const override { return 1; }
  int device_count() const override { return real_->device_count(); }
  std::string why_none() const override { return real_->why_none(); }
  absl::StatusOr<std::unique_ptr<Device>> OpenDevice(int ordinal) override {
    return real_->OpenDevice(ordinal);
  }

 private:
  const std::unique_ptr<Backend> real_ = MakeCudaBackend(TestHostServices());
};

TEST(CudaFaultOnAGpu, QuarantinesTheDeviceAndLeavesTheRest) {
  TrapBackend gpu_backend;
  ASSERT_GT(gpu_backend.device_count(), 0) << gpu_backend.why_none();
  const auto cpu_backend = MakeCpuBackend(TestHostServices());

  // Somebody else who uses the same GPU: the context is one for all.
  const auto other_device = gpu_backend.OpenDevice(0).value();
  const auto other_lane = other_device->CreateLane().value();
  const auto other_storage = other_device->Allocate(1 << 20).value();

  {
    EngineHarness gpu({cpu_backend.get(), &gpu_backend}, {kGpu});
    const auto graph = gpu.MustSubmit("trap", AddChain(1, 1.0f));
    const auto is_lost =
        StatusIs(absl::StatusCode::kUnavailable, HasSubstr("cudaError"));
    TestRun first(graph, gpu.engine(), {1, 2, 3, 4});
    first.Start();
    EXPECT_THAT(first.Wait(), is_lost);
    EXPECT_THAT(gpu.StatusOf(kGpu).health, is_lost);
    EXPECT_EQ(gpu.StatusOf(kGpu).faults, 1u);
    TestRun second(graph, gpu.engine(), {1, 2, 3, 4});
    second.Start();
    EXPECT_EQ(second.Wait().code(), absl::StatusCode::kUnavailable);

    // The CPU goes on meanwhile.
    EngineHarness cpu({cpu_backend.get()}, {{BackendId::kCpu, 0}});
    const auto sum = cpu.MustSubmit("sum", AddChain(1, 1.0f));
    TestRun run(sum, cpu.engine(), {1, 2, 3, 4});
    run.Start();
    EXPECT_EQ(run.Output(), (std::vector<float>{2, 3, 4, 5}));
  }  // the lost device is closed here, and does not hang

  EXPECT_THAT(
      other_lane->CopyToDevice(PatternBytes(1 << 20), WholeOf(*other_storage)),
      StatusIs(absl::StatusCode::kUnavailable, HasSubstr("is lost")));
  EXPECT_FALSE(other_device->health().ok());
}

}  // namespace
}  // namespace tensord::cuda
