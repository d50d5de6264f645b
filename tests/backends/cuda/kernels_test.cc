// Every kernel of the backend against the CPU's, on the nodes of named_node.h.
// The GPU is the emulated one, or cuda:0 in cuda_kernels_gpu_test.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "tests/backends/cuda/named_node.h"
#include "tests/support/cuda_devices.h"

namespace tensord::cuda {
namespace {

// An open device, for all tests of the program.
class OpenDevice {
 public:
  OpenDevice(std::unique_ptr<Backend> backend, int ordinal)
      : backend_(std::move(backend)),
        device_(backend_->OpenDevice(ordinal).value()),
        lane_(device_->CreateLane().value()) {}

  std::vector<const KernelEntry*> KernelsFor(const TestNode& node) const {
    return tensord::KernelsFor(*backend_, node);
  }
  absl::StatusOr<KernelResult> Run(const KernelEntry& kernel,
                                   const TestNode& node) {
    return RunKernel(kernel, node, *device_, *lane_,
                     *TestHostServices().workers);
  }

 private:
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Lane> lane_;
};

// Never destroyed: a lost GPU then cannot keep the program from ending.
OpenDevice& Cpu() {
  static auto* const cpu =
      new OpenDevice(MakeCpuBackend(TestHostServices()), 0);
  return *cpu;
}

OpenDevice& Gpu() {
  static auto* const gpu = [] {
    const DeviceParam param = CudaParams().at(0);
    return new OpenDevice(param.make_backend(TestHostServices(), 0),
                          param.ordinal);
  }();
  return *gpu;
}

// The elements of a view, dense. They have whole bytes.
TestTensor Dense(const TestTensor& tensor, const Layout& view) {
  const int64_t width = BitWidth(tensor.dtype) / 8;
  TestTensor dense{tensor.dtype, view.shape, {}};
  for (int64_t i = 0; i < view.shape.element_count(); ++i) {
    int64_t rest = i;
    int64_t at = view.offset;
    for (int d = view.shape.rank() - 1; d >= 0; --d) {
      at += rest % view.shape[d] * view.strides[d];
      rest /= view.shape[d];
    }
    const auto first = tensor.bytes.begin() + at * width;
    dense.bytes.insert(dense.bytes.end(), first, first + width);
  }
  return dense;
}

// What the compiler makes of a node for kernels that walk no strides.
TestNode WithoutViews(TestNode node) {
  for (size_t i = 0; i < node.input_layouts.size(); ++i) {
    node.inputs[i] = Dense(node.inputs[i], node.input_layouts[i]);
  }
  node.input_layouts.clear();
  return node;
}

// Of others, those of 8 bits and less among them, only the bytes are compared.
bool HasTestValues(DType dtype) {
  switch (dtype) {
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E4M3FNUZ:
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ:
    case DType::kFloat8E8M0:
    case DType::kComplex64:
    case DType::kComplex128:
      return false;
    default:
      return BitWidth(dtype) >= 8;
  }
}

void ExpectNear(const TestTensor& actual, const TestTensor& expected,
                Tolerance tolerance, size_t output) {
  if (!HasTestValues(expected.dtype)) {
    EXPECT_EQ(actual.bytes, expected.bytes) << "output " << output;
  } else {
    EXPECT_THAT(actual, IsNear(expected, tolerance)) << "output " << output;
  }
}

// The tensor in the dtype, if it is of another one.
TestTensor Rounded(const TestTensor& tensor, DType dtype) {
  if (tensor.dtype == dtype || dtype == DType::kUndefined) return tensor;
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.shape.element_count(); ++i) {
    values.push_back(tensor.At(i));
  }
  return TensorOf(dtype, tensor.shape, values);
}

// Every CUDA kernel that accepts the node gives what the CPU's first kernel
// gives; at least one accepts it. Inputs that are views are copied for kernels
// that walk no strides.
class CudaKernelTest : public ::testing::TestWithParam<NamedNode> {};

TEST_P(CudaKernelTest, AgreesWithTheCpu) {
  const NamedNode& param = GetParam();
  const TestNode dense = WithoutViews(param.node);
  const TestNode& cpu_node =
      param.cpu_node.has_value() ? *param.cpu_node : dense;
  const auto cpu_kernels = Cpu().KernelsFor(cpu_node);
  if (param.cpu_node.has_value() && cpu_kernels.empty()) {
    GTEST_SKIP() << "the CPU has no such kernel without oneDNN";
  }
  ASSERT_FALSE(cpu_kernels.empty()) << "no kernel of the CPU accepts it";
  absl::StatusOr<KernelResult> expected = Cpu().Run(*cpu_kernels[0], cpu_node);
  ASSERT_THAT(expected, IsOk()) << cpu_kernels[0]->name;
  for (size_t i = 0; i < param.node.outputs.size(); ++i) {
    expected->outputs[i] =
        Rounded(expected->outputs[i], param.node.outputs[i].dtype);
  }

  const auto gpu_kernels = Gpu().KernelsFor(param.node);
  EXPECT_FALSE(gpu_kernels.empty()) << "no kernel of CUDA accepts it";
  for (const KernelEntry* kernel : gpu_kernels) {
    SCOPED_TRACE(kernel->name);
    const bool takes_views = kernel->caps.strided_input;
    const absl::StatusOr<KernelResult> actual =
        Gpu().Run(*kernel, takes_views ? param.node : dense);
    ASSERT_THAT(actual, IsOk());
    for (size_t i = 0; i < param.node.outputs.size(); ++i) {
      if (param.node.outputs[i].dtype == DType::kUndefined) continue;
      ExpectNear(actual->outputs[i], expected->outputs[i], param.tolerance, i);
    }
  }
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
