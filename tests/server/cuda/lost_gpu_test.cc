// A GPU of the pool: that it serves, what a client sees when it has no memory
// left, and when it is lost.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/emulation/control.h"
#include "grpc/health/v1/health.pb.h"
#include "tensord/v1/device_service.pb.h"
#include "tests/server/support/server_test.h"
#include "tests/support/backend_test.h"

namespace tensord {
namespace {

using ::grpc::health::v1::HealthCheckRequest;
using ::grpc::health::v1::HealthCheckResponse;
using ::testing::HasSubstr;

constexpr char kExecute[] = "/tensord.v1.ExecutionService/Execute";
constexpr char kDevices[] = "/tensord.v1.DeviceService/ListDevices";
constexpr char kHealth[] = "/grpc.health.v1.Health/Check";

class LostGpuTest : public ServerTest {
 protected:
  LostGpuTest() {
    cuda::emulation::Reset();
    cuda_ = cuda::MakeCudaBackend(TestHostServices());
    config_.device_names = {"cpu:0", "cuda:0"};
  }
  ~LostGpuTest() override { cuda::emulation::Reset(); }
  std::vector<Backend*> MoreBackends() override { return {cuda_.get()}; }
  void SetUp() override {
    StartServer();
    graph_id_ = Submit(ReluGraph());
  }
  void TearDown() override { StopServer(); }

  grpc::Status Execute(const std::string& device,
                       v1::ExecuteResponse* response = nullptr) {
    v1::ExecuteResponse own;
    return Call(kExecute, IdentityRequest(graph_id_, device),
                response == nullptr ? own : *response);
  }
  v1::Device ListedGpu() {
    v1::ListDevicesResponse response;
    EXPECT_TRUE(Call(kDevices, v1::ListDevicesRequest(), response).ok());
    return response.devices(1);
  }
  HealthCheckResponse::ServingStatus Health(const std::string& service) {
    HealthCheckRequest request;
    request.set_service(service);
    HealthCheckResponse response;
    EXPECT_TRUE(Call(kHealth, request, response).ok());
    return response.status();
  }
  // The server looks five times a second.
  void AwaitHealth(const std::string& service,
                   HealthCheckResponse::ServingStatus status) {
    const absl::Time deadline = absl::Now() + absl::Seconds(30);
    while (Health(service) != status && absl::Now() < deadline) {
      std::this_thread::yield();
    }
    EXPECT_EQ(Health(service), status) << service;
  }

  std::unique_ptr<Backend> cuda_;
  std::string graph_id_;
};

TEST_F(LostGpuTest, ServesOnTheGpu) {
  v1::ExecuteResponse response;
  ASSERT_TRUE(Execute("cuda:0", &response).ok());
  EXPECT_EQ(response.device(), "cuda:0");
  EXPECT_GT(cuda::emulation::CountsOf(0).launches, 0);
  EXPECT_EQ(ListedGpu().health(), v1::DEVICE_HEALTH_HEALTHY);
  EXPECT_EQ(Health("liveness"), HealthCheckResponse::SERVING);
}

TEST_F(LostGpuTest, NoMemoryIsTheEndOfOneExecutionOnly) {
  cuda::emulation::RefuseAllocations(0, 1000);
  const grpc::Status status = Execute("cuda:0");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("cuda:0"));
  cuda::emulation::RefuseAllocations(0, 0);
  EXPECT_TRUE(Execute("cuda:0").ok());
  EXPECT_EQ(ListedGpu().health(), v1::DEVICE_HEALTH_HEALTHY);
}

TEST_F(LostGpuTest, ALostGpuIsSeenEverywhereAndTheCpuGoesOn) {
  ASSERT_TRUE(Execute("cuda:0").ok());
  cuda::emulation::FaultAtLaunch(0, 0, cudaErrorIllegalAddress);
  const grpc::Status first = Execute("cuda:0");
  EXPECT_EQ(first.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(first.error_message(), HasSubstr("cudaErrorIllegalAddress"));
  // It names a device that is not used any more.
  EXPECT_EQ(Execute("cuda:0").error_code(), grpc::StatusCode::UNAVAILABLE);
  v1::ExecuteResponse response;
  ASSERT_TRUE(Execute("", &response).ok());
  EXPECT_EQ(response.device(), "cpu:0");

  const v1::Device gpu = ListedGpu();
  EXPECT_EQ(gpu.health(), v1::DEVICE_HEALTH_QUARANTINED);
  EXPECT_THAT(gpu.health_reason(), HasSubstr("cudaErrorIllegalAddress"));
  const metrics::DeviceStats stats = observer_.Stats(*engine_).devices[1];
  EXPECT_FALSE(stats.is_up);
  EXPECT_EQ(stats.faults, 1u);
  // The CPU serves, but only a restart gives the GPU back.
  AwaitHealth("", HealthCheckResponse::SERVING);
  AwaitHealth("liveness", HealthCheckResponse::NOT_SERVING);
}

}  // namespace
}  // namespace tensord
