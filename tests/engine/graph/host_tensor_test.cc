#include "engine/graph/host_tensor.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "backends/api/storage.h"

namespace tensord {
namespace {

TEST(HostTensorTest, CopyKeepsTheBytesAndTheirAlignment) {
  const std::array<float, 6> values = {1, 2, 3, 4, 5, 6};
  const absl::StatusOr<HostTensor> tensor = HostTensor::Copy(
      DType::kFloat32, Shape({2, 3}),
      absl::MakeConstSpan(reinterpret_cast<const std::byte*>(values.data()),
                          sizeof(values)));
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->values<float>()[5], 6);
  EXPECT_EQ(
      reinterpret_cast<uintptr_t>(tensor->bytes().data()) % kStorageAlignment,
      0u);
}

TEST(HostTensorTest, BytesThatDoNotMatchTheShapeAreRefusedWithBothNumbers) {
  const std::vector<std::byte> bytes(16);
  EXPECT_EQ(HostTensor::Copy(DType::kFloat32, Shape({2, 3}), bytes)
                .status()
                .message(),
            "16 bytes for float32 [2, 3], which takes 24");
  EXPECT_EQ(
      HostTensor::Copy(DType::kString, Shape({16}), bytes).status().code(),
      absl::StatusCode::kInvalidArgument);
}

TEST(HostTensorTest, EmptyTensorsScalarsAndPackedElementsHaveTheirSizes) {
  EXPECT_TRUE(HostTensor::Copy(DType::kFloat32, Shape({2, 0, 3}), {}).ok());
  EXPECT_NE(HostTensor::Copy(DType::kFloat32, Shape({0}), {})->bytes().data(),
            nullptr);
  const std::vector<std::byte> bytes(8);
  EXPECT_TRUE(HostTensor::Copy(DType::kInt64, Shape(), bytes).ok());
  EXPECT_TRUE(HostTensor::Copy(DType::kInt4, Shape({15}), bytes).ok());
  EXPECT_FALSE(HostTensor::Copy(DType::kInt4, Shape({17}), bytes).ok());
}

TEST(HostTensorTest, CopiesShareTheirBytes) {
  const HostTensor tensor = HostTensor::Int64s({1, 2});
  const HostTensor copy = tensor;
  EXPECT_EQ(copy.bytes().data(), tensor.bytes().data());
  EXPECT_EQ(copy.shape(), Shape({2}));
  EXPECT_EQ(copy.values<int64_t>()[1], 2);
  EXPECT_FALSE(HostTensor().is_present());
}

}  // namespace
}  // namespace tensord
