#include "backends/null/null_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "tests/support/backend_test.h"

namespace tensord {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

class NullBackendTest : public ::testing::Test {
 protected:
  absl::StatusOr<KernelResult> Run(const TestNode& node) {
    const std::vector<const KernelEntry*> kernels = KernelsFor(*backend_, node);
    EXPECT_THAT(kernels, Not(IsEmpty()));
    return RunKernel(*kernels[0], node, *device_, *lane_,
                     *TestHostServices().workers);
  }

  std::unique_ptr<Backend> backend_ = MakeNullBackend(TestHostServices());
  std::unique_ptr<Device> device_ = backend_->OpenDevice(0).value();
  std::unique_ptr<Lane> lane_ = device_->CreateLane().value();
};

TEST_F(NullBackendTest, HasOneKernelForEachOpKind) {
  std::set<OpKind> ops;
  for (const KernelEntry& kernel : backend_->kernels()) ops.insert(kernel.op);
  EXPECT_EQ(ops.size(), static_cast<size_t>(kOpKindCount));
  EXPECT_EQ(backend_->kernels().size(), static_cast<size_t>(kOpKindCount));
}

TEST_F(NullBackendTest, TakesAnyOperandsAndTouchesNone) {
  // The runner fills outputs with 0xDD and finds them so.
  const KernelResult result =
      Run({.op = OpKind::kConv,
           .inputs = {Tensor<int8_t>({1}, {1}), TestTensor{},
                      Tensor<double>({1}, {2})},
           .outputs = {{DType::kUInt8, Shape({5})}}})
          .value();
  EXPECT_THAT(result.outputs[0].values<uint8_t>(), Each(0xDD));
}

TEST_F(NullBackendTest, ExtentsThatTheDataDecidesAreZero) {
  const KernelResult result = Run({.op = OpKind::kNonZero,
                                   .inputs = {Tensor({2}, {1, 2})},
                                   .outputs = {{DType::kInt64, Shape({1, 2})}},
                                   .extent_cell_count = 2})
                                  .value();
  EXPECT_THAT(result.extents, ElementsAre(0, 0));
}

TEST_F(NullBackendTest, MemoryIsZeroedThoughItWasUsedBefore) {
  for (uint64_t size : {1, 100, 5000, 1 << 20}) {
    for (int round = 0; round < 3; ++round) {
      std::unique_ptr<Storage> storage = device_->Allocate(size).value();
      std::byte* first = storage->address();
      EXPECT_EQ(std::count(first, first + size, std::byte{0}),
                static_cast<ptrdiff_t>(size));
      std::fill_n(first, size, std::byte{0xAA});
    }
  }
}

}  // namespace
}  // namespace tensord
