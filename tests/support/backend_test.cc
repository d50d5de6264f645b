#include "tests/support/backend_test.h"

#include <thread>

#include "absl/strings/str_cat.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_worker_pool.h"
#include "backends/null/null_backend.h"
#if TENSORD_HAVE_CUDA
#include "tests/support/cuda_devices.h"
#endif
#if TENSORD_HAVE_VULKAN
#include "tests/support/vulkan_devices.h"
#endif

namespace tensord {
namespace {

class SilentLogger final : public Logger {
 public:
  void Log(LogSeverity, absl::string_view, absl::Span<const Field>) override {}
};

DeviceParam CpuParam(int ordinal) {
  return {absl::StrCat("cpu_", ordinal), ordinal,
          [](const HostServices& services, uint64_t memory_limit_bytes) {
            return MakeCpuBackend(services,
                                  {.memory_limit_bytes = memory_limit_bytes});
          }};
}

DeviceParam NullParam(int ordinal) {
  return {absl::StrCat("null_", ordinal), ordinal,
          [](const HostServices& services, uint64_t memory_limit_bytes) {
            NullOptions options;
            if (memory_limit_bytes != 0) {
              options.memory_limit_bytes = memory_limit_bytes;
            }
            return MakeNullBackend(services, options);
          }};
}

// Devices that differ in the order in which lanes run and completions come.
// Ordinal 1 of two, so that a mix-up of devices shows.
DeviceParam FakeParam(const std::string& name, FakeLaneOrder lane_order,
                      FakeDelivery delivery) {
  return {name, 1,
          [lane_order, delivery](
              const HostServices&,
              uint64_t memory_limit_bytes) -> std::unique_ptr<Backend> {
            FakeOptions options;
            options.device_count = 2;
            options.lane_order = lane_order;
            options.delivery = delivery;
            if (memory_limit_bytes != 0) {
              options.memory_limit_bytes = memory_limit_bytes;
            }
            return std::make_unique<FakeBackend>(BackendId::kVulkan, options);
          }};
}

std::vector<DeviceParam> FakeParams() {
  return {FakeParam("fake_in_order", FakeLaneOrder::kOldestFirst,
                    FakeDelivery::kAsFinished),
          FakeParam("fake_reordered", FakeLaneOrder::kNewestFirst,
                    FakeDelivery::kReversed)};
}

std::vector<DeviceParam> GpuParams() {
  std::vector<DeviceParam> params;
#if TENSORD_HAVE_CUDA
  for (DeviceParam& gpu : CudaParams()) params.push_back(std::move(gpu));
#endif
#if TENSORD_HAVE_VULKAN
  for (DeviceParam& gpu : VulkanParams()) params.push_back(std::move(gpu));
#endif
  return params;
}

}  // namespace

::testing::internal::ParamGenerator<DeviceParam> AvailableDevices() {
  std::vector<DeviceParam> params = {CpuParam(0), CpuParam(1), NullParam(0)};
  for (DeviceParam& fake : FakeParams()) params.push_back(std::move(fake));
  for (DeviceParam& gpu : GpuParams()) params.push_back(std::move(gpu));
  return ::testing::ValuesIn(params);
}

::testing::internal::ParamGenerator<DeviceParam> ComputingDevices() {
  std::vector<DeviceParam> params = {CpuParam(0)};
  for (DeviceParam& gpu : GpuParams()) params.push_back(std::move(gpu));
  return ::testing::ValuesIn(params);
}

::testing::internal::ParamGenerator<DeviceParam> FakeDevices() {
  return ::testing::ValuesIn(FakeParams());
}

const HostServices& TestHostServices() {
  // More threads than a small machine has, so that ranges do run at once. Never
  // destroyed: tests of other files may still use it at exit.
  static const HostServices* services =
      new HostServices{new HostWorkerPool(4), new SilentLogger};
  return *services;
}

BackendTest::BackendTest(uint64_t memory_limit_bytes)
    : backend_(GetParam().make_backend(TestHostServices(), memory_limit_bytes)),
      device_(backend_->OpenDevice(GetParam().ordinal).value()),
      lane_(device_->CreateLane().value()) {}

BackendTest::~BackendTest() { CloseDevice(); }

void BackendTest::CloseDevice() {
  lane_.reset();
  device_.reset();
}

void BackendTest::Finish(Lane& lane) {
  absl::StatusOr<CompletionHandle> handle = lane.RecordCompletion();
  ASSERT_THAT(handle, IsOk());
  EXPECT_THAT(handle->WaitUntil(absl::InfiniteFuture()), IsOk());
}

std::unique_ptr<Storage> BackendTest::Allocate(uint64_t size_bytes) {
  absl::StatusOr<std::unique_ptr<Storage>> storage =
      device_->Allocate(size_bytes);
  EXPECT_THAT(storage, IsOk());
  return *std::move(storage);
}

std::unique_ptr<Storage> BackendTest::Upload(
    Lane& lane, const std::vector<std::byte>& bytes) {
  std::unique_ptr<Storage> storage = Allocate(bytes.size());
  EXPECT_THAT(lane.CopyToDevice(bytes, WholeOf(*storage)), IsOk());
  Finish(lane);
  return storage;
}

std::vector<std::byte> BackendTest::Download(Lane& lane, StorageView view) {
  std::vector<std::byte> bytes(view.size_bytes);
  EXPECT_THAT(lane.CopyToHost(view, absl::MakeSpan(bytes)), IsOk());
  Finish(lane);
  return bytes;
}

TestTensor BackendTest::Run(const TestNode& node) {
  const std::vector<const KernelEntry*> kernels = KernelsFor(*backend_, node);
  if (kernels.empty()) {
    ADD_FAILURE() << "no kernel accepts " << std::string(OpKindName(node.op));
    return {};
  }
  absl::StatusOr<KernelResult> result =
      RunKernel(*kernels[0], node, *device_, *lane_, workers());
  EXPECT_THAT(result, IsOk()) << kernels[0]->name;
  return result.ok() ? result->outputs[0] : TestTensor{};
}

void BackendTest::ExpectEach(const TestNode& node, const TestTensor& expected,
                             Tolerance tolerance) {
  const std::vector<const KernelEntry*> kernels = KernelsFor(*backend_, node);
  EXPECT_FALSE(kernels.empty())
      << "no kernel accepts " << std::string(OpKindName(node.op));
  for (const KernelEntry* kernel : kernels) {
    absl::StatusOr<KernelResult> result =
        RunKernel(*kernel, node, *device_, *lane_, workers());
    ASSERT_THAT(result, IsOk()) << kernel->name;
    EXPECT_THAT(result->outputs[0], IsNear(expected, tolerance))
        << kernel->name;
  }
}

std::vector<std::byte> PatternBytes(size_t count, int seed) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) {
    // 251 is prime, so the pattern does not repeat with any power of two.
    bytes[i] = static_cast<std::byte>((i + seed * 31) % 251);
  }
  return bytes;
}

}  // namespace tensord
