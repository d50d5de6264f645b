// What every backend says about itself: devices and kernels.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/support/backend_test.h"

namespace tensord {
namespace {

using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class BackendContract : public BackendTest {};

TEST_P(BackendContract, DeviceInfoIsComplete) {
  const DeviceInfo& info = device().info();
  EXPECT_EQ(info.id.backend, backend().id());
  EXPECT_EQ(info.id.ordinal, GetParam().ordinal);
  EXPECT_NE(info.description, "");
  EXPECT_NE(info.uuid, "");
  EXPECT_GT(info.memory_limit_bytes, 0u);
  EXPECT_GE(info.max_lanes, 1);
  // An unknown cost must not look free.
  EXPECT_GT(info.flops_per_ns, 0);
  EXPECT_GT(info.bytes_per_ns, 0);
  EXPECT_GT(info.launch_overhead_ns, 0);
  EXPECT_THAT(device().health(), IsOk());
  EXPECT_EQ(device().allocated_bytes(), 0u);
}

TEST_P(BackendContract, TheUuidIsTheSameInTheNextProcess) {
  std::unique_ptr<Backend> again =
      GetParam().make_backend(TestHostServices(), 0);
  std::unique_ptr<Device> same = again->OpenDevice(GetParam().ordinal).value();
  EXPECT_EQ(same->info().uuid, device().info().uuid);
}

TEST_P(BackendContract, SaysHowManyDevicesThereAreOrWhyNone) {
  EXPECT_GE(backend().device_count(), 1);
  EXPECT_EQ(backend().why_none(), "");
}

TEST_P(BackendContract, OrdinalsPastTheEndAreNotFound) {
  for (int ordinal : {-1, 64, 1 << 20}) {
    EXPECT_THAT(backend().OpenDevice(ordinal),
                StatusIs(absl::StatusCode::kNotFound,
                         HasSubstr(":" + std::to_string(ordinal))));
  }
}

TEST_P(BackendContract, EveryKernelRowIsComplete) {
  EXPECT_FALSE(backend().kernels().empty());
  for (const KernelEntry& kernel : backend().kernels()) {
    ASSERT_NE(kernel.name, nullptr);
    EXPECT_THAT(std::string(kernel.name), Not(std::string("")));
    ASSERT_NE(kernel.source, nullptr) << kernel.name;
    EXPECT_THAT(std::string(kernel.source), Not(std::string("")))
        << kernel.name;
    EXPECT_NE(kernel.run, nullptr) << kernel.name;
    EXPECT_LT(static_cast<int>(kernel.op), kOpKindCount) << kernel.name;
    EXPECT_TRUE(kernel.dtypes.any || kernel.dtypes.output_count > 0)
        << kernel.name;
  }
}

// A kernel's name is a metric label.
TEST_P(BackendContract, KernelNamesAreUniqueAndOfLabelCharacters) {
  std::set<std::string> names;
  for (const KernelEntry& kernel : backend().kernels()) {
    EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name;
    EXPECT_THAT(kernel.name, ::testing::MatchesRegex("[A-Za-z0-9_]+"));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, BackendContract, AvailableDevices(),
                         DeviceName);

// Devices whose kernels compute: their code is what makes the results, so it is
// tracked.
class ComputingBackendContract : public BackendTest {};

TEST_P(ComputingBackendContract, EveryKernelHasARevision) {
  for (const KernelEntry& kernel : backend().kernels()) {
    EXPECT_THAT(backend().KernelRevision(kernel.source), Gt(0u))
        << kernel.name << " of " << kernel.source;
  }
}

TEST_P(ComputingBackendContract, SourcesThatDoNotExistHaveNone) {
  EXPECT_EQ(backend().KernelRevision("backends/none/kernels/none.cc"), 0u);
}

TEST_P(ComputingBackendContract, SourcesAreFilesOfTheBackendOrOfALibrary) {
  const std::string folder =
      "backends/" + std::string(BackendName(backend().id())) + "/kernels/";
  for (const KernelEntry& kernel : backend().kernels()) {
    EXPECT_THAT(std::string(kernel.source),
                ::testing::AnyOf(StartsWith(folder), StartsWith("library:")))
        << kernel.name;
  }
}

TEST_P(ComputingBackendContract, IdentityMovesEveryByte) {
  const TestTensor x = Pattern(DType::kFloat32, Shape({3, 5}));
  ExpectEach(
      {.op = OpKind::kIdentity, .inputs = {x}, .outputs = {{x.dtype, x.shape}}},
      x, ToleranceFor(x.dtype, OpFamily::kMovement));
}

INSTANTIATE_TEST_SUITE_P(Devices, ComputingBackendContract, ComputingDevices(),
                         DeviceName);

}  // namespace
}  // namespace tensord
