#include "tests/backends/cuda/agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/cpu/cpu_backend.h"

namespace tensord::cuda {
namespace {

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

}  // namespace

// Never destroyed, as the GPUs of tests are.
OpenDevice& Cpu() {
  static auto* const cpu =
      new OpenDevice(MakeCpuBackend(TestHostServices()), 0);
  return *cpu;
}

int ExpectAgreement(const NamedNode& named, OpenDevice& gpu) {
  const TestNode dense = WithoutViews(named.node);
  const TestNode& cpu_node =
      named.cpu_node.has_value() ? *named.cpu_node : dense;
  const auto gpu_kernels = gpu.KernelsFor(named.node);
  if (gpu_kernels.empty()) return 0;
  const auto cpu_kernels = Cpu().KernelsFor(cpu_node);
  if (cpu_kernels.empty()) {
    // Without oneDNN the CPU lacks those that only it has.
    EXPECT_TRUE(named.cpu_node.has_value())
        << "no kernel of the CPU accepts it";
    return static_cast<int>(gpu_kernels.size());
  }
  absl::StatusOr<KernelResult> expected = Cpu().Run(*cpu_kernels[0], cpu_node);
  EXPECT_THAT(expected, IsOk()) << cpu_kernels[0]->name;
  if (!expected.ok()) return static_cast<int>(gpu_kernels.size());
  for (size_t i = 0; i < named.node.outputs.size(); ++i) {
    expected->outputs[i] =
        Rounded(expected->outputs[i], named.node.outputs[i].dtype);
  }
  for (const KernelEntry* kernel : gpu_kernels) {
    SCOPED_TRACE(kernel->name);
    const bool takes_views = kernel->caps.strided_input;
    const absl::StatusOr<KernelResult> actual =
        gpu.Run(*kernel, takes_views ? named.node : dense);
    EXPECT_THAT(actual, IsOk());
    if (!actual.ok()) continue;
    for (size_t i = 0; i < named.node.outputs.size(); ++i) {
      if (named.node.outputs[i].dtype == DType::kUndefined) continue;
      ExpectNear(actual->outputs[i], expected->outputs[i], named.tolerance, i);
    }
  }
  return static_cast<int>(gpu_kernels.size());
}

}  // namespace tensord::cuda
