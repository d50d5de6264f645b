#include "backends/cuda/libraries/conv_graph.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tensord::cuda {
namespace {

constexpr uint64_t kWorkspaceBytes = uint64_t{64} << 20;

// An H200, as cuDNN describes devices: plans for it are made without one.
constexpr char kDevice[] = R"({
  "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64],
  "deviceName": "NVIDIA H200", "cudaDeviceId": 0, "deviceVer": 900,
  "multiProcessorCount": 132, "driverVer": 13000,
  "maxSharedMemoryPerBlockOptin": 232448, "totalGlobalMem": 150754820096,
  "regsPerBlock": 65536, "smClockRateKHz": 1980000, "memClockRateKHz": 3201000,
  "l2CacheSize": 62914560, "warpSize": 32, "maxSharedMemoryPerBlock": 49152,
  "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536,
  "pciDeviceId": 0, "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024,
  "maxThreadsPerSM": 2048, "isTccDriver": 0, "supportCoopLaunch": 1})";

class ConvGraph : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Cudnn::Get().ok()) GTEST_SKIP() << Cudnn::Get().status();
    device_ = std::make_unique<CudnnDescriptor>(
        CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, status_);
    device_->Set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                 sizeof(kDevice), kDevice);
    device_->Finalize();
    if (!status_.ok()) GTEST_SKIP() << status_;
  }

  CudnnTarget target() const { return {.device_properties = device_.get()}; }

  absl::Status status_;
  std::unique_ptr<CudnnDescriptor> device_;
};

// A layer of ResNet-50's third stage.
ConvProblem Layer(DType dtype, bool is_channels_last, int64_t taps) {
  const int64_t pad = taps / 2;
  return {.dtype = dtype,
          .is_channels_last = is_channels_last,
          .images = 1,
          .input_channels = 128,
          .output_channels = 128,
          .inputs = {28, 28, 1},
          .outputs = {28, 28, 1},
          .taps = {taps, taps, 1},
          .strides = {1, 1, 1},
          .dilations = {1, 1, 1},
          .pads_begin = {pad, pad, 0},
          .pads_end = {pad, pad, 0}};
}

TEST_F(ConvGraph, APlainConvolutionHasPlans) {
  for (DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    for (bool is_channels_last : {false, true}) {
      const auto plans = PlanConvGraph(Layer(dtype, is_channels_last, 3),
                                       target(), kWorkspaceBytes, 1);
      ASSERT_TRUE(plans.ok())
          << DTypeName(dtype) << is_channels_last << plans.status();
      EXPECT_EQ(plans->size(), 1u) << DTypeName(dtype) << is_channels_last;
    }
  }
}

TEST_F(ConvGraph, Float16FusesBiasResidualAndActivation) {
  for (Activation activation : {Activation::kRelu, Activation::kClip}) {
    ConvProblem problem = Layer(DType::kFloat16, true, 1);
    problem.has_bias = problem.has_addend = true;
    problem.activation = activation;
    problem.high = 6;
    const auto plans = PlanConvGraph(problem, target(), kWorkspaceBytes, 1);
    ASSERT_TRUE(plans.ok()) << plans.status();
    EXPECT_EQ(plans->size(), 1u);
  }
}

}  // namespace
}  // namespace tensord::cuda
