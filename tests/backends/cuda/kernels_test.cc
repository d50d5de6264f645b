// Every kernel of the backend against the CPU's, on the nodes of named_node.h.
// The GPU is the emulated one, or cuda:0 in cuda_kernels_gpu_test.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/backends/cuda/agreement.h"
#include "tests/support/cuda_devices.h"

namespace tensord::cuda {
namespace {

// Never destroyed: a lost GPU then cannot keep the program from ending.
OpenDevice& Gpu() {
  static auto* const gpu = [] {
    const DeviceParam param = CudaParams().at(0);
    return new OpenDevice(param.make_backend(TestHostServices(), 0),
                          param.ordinal);
  }();
  return *gpu;
}

// Every CUDA kernel that accepts the node gives what the CPU's first kernel
// gives; at least one accepts it.
class CudaKernelTest : public ::testing::TestWithParam<NamedNode> {};

TEST_P(CudaKernelTest, AgreesWithTheCpu) {
  EXPECT_GT(ExpectAgreement(GetParam(), Gpu()), 0)
      << "no kernel of CUDA accepts it";
}

std::string NodeName(const ::testing::TestParamInfo<NamedNode>& info) {
  return info.param.name;
}

// The extents of its output are for the kernel to tell then, which only the
// host's does: also where the axes turn out to be none.
TEST(CudaKernels, AxesThatTheRunTellsAreLeftToTheHost) {
  for (const std::vector<int64_t>& axes :
       {std::vector<int64_t>{}, std::vector<int64_t>{1}}) {
    TestNode node{
        .op = OpKind::kReduceSum,
        .inputs = {Tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6}),
                   Tensor<int64_t>({static_cast<int64_t>(axes.size())}, axes)},
        .outputs = {{DType::kFloat32, {2, 3}}},
        .params = ReduceParams{}};
    EXPECT_TRUE(Gpu().KernelsFor(node).empty()) << axes.size() << " axes";
    node.is_constant = {false, true};
    if (!axes.empty()) {
      EXPECT_FALSE(Gpu().KernelsFor(node).empty());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cast, CudaKernelTest, ::testing::ValuesIn(CastNodes()),
                         NodeName);
INSTANTIATE_TEST_SUITE_P(Chain, CudaKernelTest,
                         ::testing::ValuesIn(ChainNodes()), NodeName);
INSTANTIATE_TEST_SUITE_P(Elementwise, CudaKernelTest,
                         ::testing::ValuesIn(ElementwiseNodes()), NodeName);
INSTANTIATE_TEST_SUITE_P(Normalization, CudaKernelTest,
                         ::testing::ValuesIn(NormalizationNodes()), NodeName);
INSTANTIATE_TEST_SUITE_P(Reduce, CudaKernelTest,
                         ::testing::ValuesIn(ReduceNodes()), NodeName);
INSTANTIATE_TEST_SUITE_P(Identity, CudaKernelTest,
                         ::testing::ValuesIn(IdentityNodes()), NodeName);
INSTANTIATE_TEST_SUITE_P(Library, CudaKernelTest,
                         ::testing::ValuesIn(LibraryNodes()), NodeName);
INSTANTIATE_TEST_SUITE_P(Movement, CudaKernelTest,
                         ::testing::ValuesIn(MovementNodes()), NodeName);
INSTANTIATE_TEST_SUITE_P(Pool, CudaKernelTest, ::testing::ValuesIn(PoolNodes()),
                         NodeName);
INSTANTIATE_TEST_SUITE_P(Indexing, CudaKernelTest,
                         ::testing::ValuesIn(IndexingNodes()), NodeName);
INSTANTIATE_TEST_SUITE_P(Products, CudaKernelTest,
                         ::testing::ValuesIn(ProductNodes()), NodeName);
INSTANTIATE_TEST_SUITE_P(FewRows, CudaKernelTest,
                         ::testing::ValuesIn(FewRowsNodes()), NodeName);
INSTANTIATE_TEST_SUITE_P(Conv, CudaKernelTest, ::testing::ValuesIn(ConvNodes()),
                         NodeName);
INSTANTIATE_TEST_SUITE_P(Bytes, CudaKernelTest,
                         ::testing::ValuesIn(ByteNodes()), NodeName);
INSTANTIATE_TEST_SUITE_P(Attention, CudaKernelTest,
                         ::testing::ValuesIn(AttentionNodes()), NodeName);
INSTANTIATE_TEST_SUITE_P(Resize, CudaKernelTest,
                         ::testing::ValuesIn(ResizeNodes()), NodeName);
INSTANTIATE_TEST_SUITE_P(Sampling, CudaKernelTest,
                         ::testing::ValuesIn(SamplingNodes()), NodeName);
INSTANTIATE_TEST_SUITE_P(Recurrent, CudaKernelTest,
                         ::testing::ValuesIn(RecurrentNodes()), NodeName);
INSTANTIATE_TEST_SUITE_P(Contraction, CudaKernelTest,
                         ::testing::ValuesIn(ContractionNodes()), NodeName);

}  // namespace
}  // namespace tensord::cuda
