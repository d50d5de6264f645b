#ifndef TENSORD_TESTS_SUPPORT_BACKEND_TEST_H_
#define TENSORD_TESTS_SUPPORT_BACKEND_TEST_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "backends/api/backend.h"
#include "tests/support/fake_backend.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/matchers.h"
#include "tests/support/tensor.h"

namespace tensord {

// One device that tests run on.
struct DeviceParam {
  std::string name;  // in test names: "cpu_0"
  int ordinal = 0;

  // Makes its backend; with a limit other than 0, every device of it may
  // allocate so much (backends of real hardware ignore that).
  std::function<std::unique_ptr<Backend>(const HostServices&,
                                         uint64_t memory_limit_bytes)>
      make_backend;

  friend void PrintTo(const DeviceParam& param, std::ostream* out) {
    *out << param.name;
  }
};

// Every device that tests run on: cpu:0, cpu:1, null:0, the fakes, where there
// is a CUDA toolkit an emulated GPU (cuda_devices.h), and the devices of Vulkan
// drivers (vulkan_devices.h).
::testing::internal::ParamGenerator<DeviceParam> AvailableDevices();

// Those of them whose kernels compute what the operator says: for tests of
// kernels.
::testing::internal::ParamGenerator<DeviceParam> ComputingDevices();

// The fakes alone: for what real hardware does not do on demand.
::testing::internal::ParamGenerator<DeviceParam> FakeDevices();

// Names test instances: INSTANTIATE_TEST_SUITE_P(Devices, MyTest,
// AvailableDevices(), DeviceName).
inline std::string DeviceName(
    const ::testing::TestParamInfo<DeviceParam>& info) {
  return info.param.name;
}

// A worker pool for all tests of a program, and a logger that drops its lines.
const HostServices& TestHostServices();

// One open device and a lane of it.
//
//   class SoftmaxContract : public BackendTest {};
//   TEST_P(SoftmaxContract, HugeLogitsStayFinite) {
//     EXPECT_THAT(Run(node), Near({0.2689, 0.7311}, 1e-4));
//   }
class BackendTest : public ::testing::TestWithParam<DeviceParam> {
 protected:
  // The memory limit is for backends that take one; 0 is their default.
  explicit BackendTest(uint64_t memory_limit_bytes = 0);
  ~BackendTest() override;

  Backend& backend() { return *backend_; }
  Device& device() { return *device_; }
  Lane& lane() { return *lane_; }
  WorkerPool& workers() { return *TestHostServices().workers; }

  // Whether the lane's and the device's work is done when a call returns.
  bool is_synchronous() const { return device_->info().is_synchronous; }

  // The hand on the device; only for suites over FakeDevices().
  FakeControl& control() {
    return static_cast<FakeBackend&>(*backend_).control(GetParam().ordinal);
  }

  // Waits until everything on `lane` is done, and expects it to be OK.
  static void Finish(Lane& lane);

  std::unique_ptr<Storage> Allocate(uint64_t size_bytes);
  std::unique_ptr<Storage> Upload(Lane& lane,
                                  const std::vector<std::byte>& bytes);
  std::vector<std::byte> Download(Lane& lane, StorageView view);

  // The node's first output, by the kernel that comes first when nothing was
  // measured. A failure is reported, and gives an absent tensor.
  TestTensor Run(const TestNode& node);

  // Every kernel that accepts the node, siblings included, must give `expected`
  // as its first output; at least one must accept it.
  void ExpectEach(const TestNode& node, const TestTensor& expected,
                  Tolerance tolerance);

  // Takes lane and device down early, in the right order.
  void CloseDevice();

 private:
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Lane> lane_;
};

// `count` bytes that differ from place to place and seed to seed.
std::vector<std::byte> PatternBytes(size_t count, int seed = 1);

}  // namespace tensord

#endif  // TENSORD_TESTS_SUPPORT_BACKEND_TEST_H_
