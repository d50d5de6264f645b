#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tensord/v1/device_service.pb.h"
#include "tests/server/support/server_test.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;

constexpr char kDevices[] = "/tensord.v1.DeviceService/ListDevices";
constexpr char kKernels[] = "/tensord.v1.DeviceService/ListKernels";
constexpr char kDrain[] = "/tensord.v1.DeviceService/DrainDevice";
constexpr char kResume[] = "/tensord.v1.DeviceService/ResumeDevice";

class DeviceServiceTest : public ServerTest {
 protected:
  void SetUp() override { StartServer(); }
};

TEST_F(DeviceServiceTest, ListsTheDevicesInTheConfigurationsOrder) {
  v1::ListDevicesResponse response;
  ASSERT_TRUE(Call(kDevices, v1::ListDevicesRequest(), response).ok());
  ASSERT_EQ(response.devices_size(), 2);
  EXPECT_EQ(response.devices(0).name(), "cpu:0");
  EXPECT_EQ(response.devices(1).name(), "null:0");
  EXPECT_EQ(response.devices(0).health(), v1::DEVICE_HEALTH_HEALTHY);
  EXPECT_GT(response.devices(0).lane_count(), 0);
  EXPECT_EQ(response.instance(), "tensord");
  EXPECT_EQ(response.build(), "test");
  EXPECT_EQ(response.unavailable_backends(0).backend(), "cuda");
  v1::ListDevicesRequest request;
  request.set_backend("null");
  ASSERT_TRUE(Call(kDevices, request, response).ok());
  EXPECT_EQ(response.devices_size(), 1);
  request.set_backend("tpu");
  EXPECT_EQ(Call(kDevices, request, response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(DeviceServiceTest, KernelPagesTogetherAreTheWholeTable) {
  size_t in_table = 0;
  engine_->table().ForEach([&](const KernelBinding&) { ++in_table; });
  std::set<std::string> names;
  v1::ListKernelsRequest request;
  request.set_page_size(37);
  size_t listed = 0;
  do {
    v1::ListKernelsResponse response;
    ASSERT_TRUE(Call(kKernels, request, response).ok());
    for (const auto& kernel : response.kernels()) {
      ++listed;
      EXPECT_LT(kernel.sibling_index(), kernel.sibling_count());
    }
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(listed, in_table);
}

TEST_F(DeviceServiceTest, KernelFiltersNarrowAndBindTheirTokens) {
  v1::ListKernelsRequest request;
  request.set_op("Identity");
  request.set_backend("cpu");
  v1::ListKernelsResponse response;
  ASSERT_TRUE(Call(kKernels, request, response).ok());
  ASSERT_GT(response.kernels_size(), 0);
  for (const auto& kernel : response.kernels()) {
    EXPECT_EQ(kernel.op(), "Identity");
    EXPECT_EQ(kernel.backend(), "cpu");
    EXPECT_EQ(kernel.revision_hash().size(), 16u);
  }
  v1::ListKernelsRequest all;
  all.set_page_size(1);
  ASSERT_TRUE(Call(kKernels, all, response).ok());
  all.set_page_token(response.next_page_token());
  ASSERT_TRUE(Call(kKernels, all, response).ok());
  all.set_backend("cpu");
  EXPECT_EQ(Call(kKernels, all, response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  request.set_op("Nope");
  EXPECT_THAT(Call(kKernels, request, response).error_message(),
              HasSubstr("Nope"));
}

TEST_F(DeviceServiceTest, ADrainedDeviceIsNotChosenUntilItIsResumed) {
  StopServer();
  config_.device_names = {"cpu:0", "cpu:1"};
  StartServer();
  const std::string id = Submit(IdentityGraph());
  v1::DrainDeviceRequest drain;
  drain.set_device("cpu:0");
  drain.set_reason("new memory\n");
  v1::Device device;
  ASSERT_TRUE(Call(kDrain, drain, device).ok());
  EXPECT_EQ(device.health(), v1::DEVICE_HEALTH_DRAINED);
  EXPECT_EQ(device.health_reason(), "new memory\\n");
  ASSERT_TRUE(Call(kDrain, drain, device).ok());
  v1::ExecuteResponse response;
  ASSERT_TRUE(Call("/tensord.v1.ExecutionService/Execute",
                   IdentityRequest(id, ""), response)
                  .ok());
  EXPECT_EQ(response.device(), "cpu:1");
  v1::ResumeDeviceRequest resume;
  resume.set_device("cpu:0");
  ASSERT_TRUE(Call(kResume, resume, device).ok());
  EXPECT_EQ(device.health(), v1::DEVICE_HEALTH_HEALTHY);
  EXPECT_EQ(device.health_reason(), "");
}

TEST_F(DeviceServiceTest, DevicesThatAreNotThereAreNotFound) {
  v1::DrainDeviceRequest drain;
  drain.set_device("cuda:0");
  v1::Device device;
  EXPECT_EQ(Call(kDrain, drain, device).error_code(),
            grpc::StatusCode::NOT_FOUND);
  v1::ResumeDeviceRequest resume;
  EXPECT_EQ(Call(kResume, resume, device).error_code(),
            grpc::StatusCode::NOT_FOUND);
  drain.set_device("cpu:0");
  drain.set_reason(std::string(257, 'x'));
  EXPECT_EQ(Call(kDrain, drain, device).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

}  // namespace
}  // namespace tensord
