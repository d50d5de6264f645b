#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/cpu/host_worker_pool.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"
#include "tests/support/tolerances.h"

// Fast convolutions of 8-bit integers are within a step of the portable kernel,
// the last sibling, channels first and last, on any number of threads.
namespace tensord {
namespace {

struct Case {
  DType x = DType::kUInt8, w = DType::kInt8, y = DType::kUInt8;
  Dims spatial, kernel, strides, dilations;
  Dims pads;  // begins, then ends
  int64_t images = 1;
  int64_t channels = 1;
  int64_t outputs = 1;
  int64_t group = 1;
  bool is_per_channel = true;
  bool has_bias = true;
  bool has_epilogue = false;
  int x_zero = 0, y_zero = 0;
};

std::string ToString(const Case& c) {
  return absl::StrCat(
      DTypeName(c.x), " by ", DTypeName(c.w), " to ", DTypeName(c.y),
      " images ", c.images, " channels ", c.channels, " to ", c.outputs,
      " groups ", c.group, " at ", absl::StrJoin(c.spatial, "x"), " kernel ",
      absl::StrJoin(c.kernel, "x"), " strides ", absl::StrJoin(c.strides, "x"),
      " dilations ", absl::StrJoin(c.dilations, "x"), " pads ",
      absl::StrJoin(c.pads, ","), " zero points ", c.x_zero, ",", c.y_zero,
      c.has_bias ? " bias" : "", c.has_epilogue ? " epilogue" : "",
      c.is_per_channel ? " per channel" : "");
}

std::mt19937& Random() {
  static std::mt19937 random(17);
  return random;
}

TestTensor Bytes(DType dtype, const Shape& shape) {
  std::vector<double> values;
  for (int64_t i = 0; i < shape.element_count(); ++i) {
    values.push_back(static_cast<double>(Random()() % 256) -
                     (dtype == DType::kInt8 ? 128 : 0));
  }
  return TensorOf(dtype, shape, values);
}

TestTensor Same(DType dtype, const Shape& shape, double value) {
  return TensorOf(dtype, shape,
                  std::vector<double>(shape.element_count(), value));
}

// Of bytes: [a, b, rest...] to [a, rest..., b] and back.
TestTensor Turned(const TestTensor& tensor, bool to_channels_last) {
  const Shape& shape = tensor.shape;
  const int rank = shape.rank();
  const int64_t channels = shape[to_channels_last ? 1 : rank - 1];
  const int64_t pixels =
      shape.element_count() / std::max<int64_t>(shape[0] * channels, 1);
  Dims extents = {shape[0]};
  if (!to_channels_last) extents.push_back(channels);
  for (int i = 1; i < rank; ++i) {
    if (i != (to_channels_last ? 1 : rank - 1)) extents.push_back(shape[i]);
  }
  if (to_channels_last) extents.push_back(channels);
  TestTensor result{tensor.dtype, Shape::Create(extents).value(), tensor.bytes};
  for (int64_t n = 0; n < shape[0]; ++n) {
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t p = 0; p < pixels; ++p) {
        const int64_t first = (n * channels + c) * pixels + p;
        const int64_t last = (n * pixels + p) * channels + c;
        result.bytes[to_channels_last ? last : first] =
            tensor.bytes[to_channels_last ? first : last];
      }
    }
  }
  return result;
}

// max(0.5 * y + 0.25 * x1 + 3, 20)
std::shared_ptr<const Epilogue> ResidualAndBound() {
  return std::make_shared<Epilogue>(
      Epilogue{.own_input_count = 9,
               .expression = {.input_count = 2,
                              .constants = {0.5, 0.25, 3, 20},
                              .steps = {{OpKind::kMul, {0, 2}},
                                        {OpKind::kMul, {1, 3}},
                                        {OpKind::kAdd, {6, 7}},
                                        {OpKind::kAdd, {8, 4}},
                                        {OpKind::kMax, {9, 5}}}}});
}

TestNode MakeNode(const Case& c) {
  Dims x = {c.images, c.channels};
  Dims w = {c.outputs, c.channels / c.group};
  Dims y = {c.images, c.outputs};
  const size_t rank = c.spatial.size();
  double depth = static_cast<double>(c.channels / c.group);
  for (size_t i = 0; i < rank; ++i) {
    x.push_back(c.spatial[i]);
    w.push_back(c.kernel[i]);
    y.push_back((c.spatial[i] + c.pads[i] + c.pads[rank + i] -
                 (c.kernel[i] - 1) * c.dilations[i] - 1) /
                    c.strides[i] +
                1);
    depth *= static_cast<double>(c.kernel[i]);
  }
  const Shape lines = c.is_per_channel ? Shape({c.outputs}) : Shape({});
  std::vector<double> scales, biases;
  for (int64_t i = 0; i < lines.element_count(); ++i) {
    scales.push_back(0.002 + 0.0001 * static_cast<double>(i % 7));
  }
  for (int64_t i = 0; i < c.outputs; ++i) {
    biases.push_back(static_cast<double>(i % 5) * 1000 - 2000);
  }
  TestNode node{
      .op = OpKind::kQLinearConv,
      .inputs = {Bytes(c.x, Shape::Create(x).value()), Tensor({}, {0.05f}),
                 Same(c.x, {}, c.x_zero), Bytes(c.w, Shape::Create(w).value()),
                 TensorOf(DType::kFloat32, lines, scales),
                 Same(c.w, lines, c.w == DType::kInt8 ? 0 : 128),
                 Tensor({}, {0.01f * static_cast<float>(std::sqrt(depth))}),
                 Same(c.y, {}, c.y_zero)},
      .outputs = {{c.y, Shape::Create(y).value()}},
      .params = ConvParams{.kernel_shape = c.kernel,
                           .strides = c.strides,
                           .dilations = c.dilations,
                           .pads = c.pads,
                           .group = c.group},
      .is_constant = {false, true, true, true, true, true, true, true, true}};
  node.inputs.push_back(
      c.has_bias ? TensorOf(DType::kInt32, {c.outputs}, biases) : TestTensor());
  if (c.has_epilogue) {
    node.inputs.push_back(Bytes(c.y, node.outputs[0].shape));
    node.params.epilogue = ResidualAndBound();
  }
  return node;
}

TestNode WithChannelsLast(TestNode node) {
  std::get<ConvParams>(node.params).channels_last = true;
  node.inputs[0] = Turned(node.inputs[0], true);
  if (node.inputs.size() > 9) node.inputs[9] = Turned(node.inputs[9], true);
  const Shape& y = node.outputs[0].shape;
  node.outputs[0].shape = Turned({node.outputs[0].dtype, y,
                                  std::vector<std::byte>(y.element_count())},
                                 true)
                              .shape;
  return node;
}

TestTensor RunOn(const KernelEntry& kernel, const TestNode& node,
                 WorkerPool& workers) {
  const TestDevice& device = CpuTestDevice();
  auto result = RunKernel(kernel, node, *device.device, *device.lane, workers);
  EXPECT_THAT(result, IsOk()) << kernel.name;
  return result.ok() ? result->outputs[0] : node.inputs[0];
}

// The kernels but the portable one; with an epilogue they alone take the node.
std::vector<const KernelEntry*> FastKernels(const TestNode& node) {
  std::vector<const KernelEntry*> fast;
  for (const KernelEntry* kernel : KernelsFor(*CpuTestDevice().backend, node)) {
    if (absl::EndsWith(kernel->name, "_onednn")) fast.push_back(kernel);
  }
  return fast;
}

// The portable kernel's result, and what the epilogue makes of it.
TestTensor Expected(TestNode node) {
  const TestDevice& device = CpuTestDevice();
  const bool has_epilogue = node.params.epilogue != nullptr;
  TestTensor residual;
  if (has_epilogue) {
    residual = node.inputs.back();
    node.inputs.pop_back();
    node.params.epilogue = nullptr;
  }
  const auto kernels = KernelsFor(*device.backend, node);
  const TestTensor y = RunOn(*kernels.back(), node, *device.workers);
  if (!has_epilogue) return y;
  std::vector<double> values;
  for (int64_t i = 0; i < y.shape.element_count(); ++i) {
    values.push_back(std::nearbyint(
        std::max(0.5 * y.At(i) + 0.25 * residual.At(i) + 3, 20.0)));
    values.back() =
        std::min(values.back(), y.dtype == DType::kInt8 ? 127.0 : 255.0);
  }
  return TensorOf(y.dtype, y.shape, values);
}

// How many fast kernels took it.
int ExpectAgreement(const Case& c) {
  const TestNode node = MakeNode(c);
  const TestTensor expected = Expected(node);
  const Tolerance tolerance = ToleranceFor(c.y, OpFamily::kQuantized);
  int count = 0;
  HostWorkerPool one(1);
  HostWorkerPool three(3);
  for (bool is_last : {false, true}) {
    const TestNode own = is_last ? WithChannelsLast(node) : node;
    for (const KernelEntry* kernel : FastKernels(own)) {
      TestTensor y = RunOn(*kernel, own, three);
      EXPECT_TRUE(y == RunOn(*kernel, own, one))
          << kernel->name << ": " << ToString(c);
      if (is_last) y = Turned(y, false);
      EXPECT_THAT(y, IsNear(expected, tolerance))
          << kernel->name << (is_last ? ", channels last" : "") << ": "
          << ToString(c);
      ++count;
    }
  }
  return count;
}

// Whether this build and machine have a fast kernel at all.
bool HasFastKernel() {
#if defined(__x86_64__)
  for (const KernelEntry& kernel : CpuTestDevice().backend->kernels()) {
    if (kernel.op == OpKind::kQLinearConv &&
        absl::EndsWith(kernel.name, "_onednn")) {
      return __builtin_cpu_supports("avx512vnni");
    }
  }
#endif
  return false;
}

template <typename T>
T Pick(std::initializer_list<T> choices) {
  return *(choices.begin() + Random()() % choices.size());
}

void PickTypes(Case& c) {
  const auto dtype = [] { return Pick({DType::kInt8, DType::kUInt8}); };
  c.x = dtype();
  c.w = dtype();
  c.y = dtype();
  const auto zero = [](DType dtype) {
    return dtype == DType::kInt8 ? Pick({0, 0, -128, 127, 5})
                                 : Pick({0, 0, 128, 255, 13});
  };
  c.x_zero = zero(c.x);
  c.y_zero = zero(c.y);
}

TEST(QLinearConvPartsTest, AgreesAtRandomExtents) {
  int count = 0;
  for (int i = 0; i < 200; ++i) {
    const auto rank = static_cast<size_t>(Pick({1, 2, 2, 2, 3}));
    Case c;
    PickTypes(c);
    c.images = Pick({1, 1, 2, 3});
    c.group = Pick({1, 1, 1, 2, 4});
    c.channels = c.group * Pick({1, 3, 8, 16, 17});
    c.outputs = c.group * Pick({1, 4, 16, 19, 32});
    if (Pick({0, 0, 1}) == 1) c.group = c.channels = c.outputs;  // depthwise
    c.is_per_channel = Pick({false, true});
    c.has_bias = Pick({false, true});
    c.has_epilogue = Pick({false, true});
    for (size_t axis = 0; axis < rank; ++axis) {
      c.kernel.push_back(Pick({1, 2, 3, 3, 5}));
      c.strides.push_back(Pick({1, 1, 2, 3}));
      c.dilations.push_back(Pick({1, 1, 1, 2}));
      const int64_t span = (c.kernel.back() - 1) * c.dilations.back() + 1;
      c.spatial.push_back(span + Pick({0, 1, 4, 9}));
    }
    for (size_t pad = 0; pad < 2 * rank; ++pad) {
      const int64_t span = (c.kernel[pad % rank] - 1) * c.dilations[pad % rank];
      c.pads.push_back(static_cast<int64_t>(Random()() % (span + 1)));
    }
    count += ExpectAgreement(c);
  }
  // Both orders of nearly all.
  if (HasFastKernel()) {
    EXPECT_GE(count, 300);
  }
}

Case Square(int64_t extent, int64_t kernel, int64_t channels, int64_t outputs) {
  Case c;
  c.spatial = {extent, extent};
  c.kernel = {kernel, kernel};
  c.strides = {1, 1};
  c.dilations = {1, 1};
  c.pads = Dims(4, kernel / 2);
  c.channels = channels;
  c.outputs = outputs;
  return c;
}

// By rows, by output channels with scales of their own, by images, and with a
// shorter last part each.
TEST(QLinearConvPartsTest, AgreesWhereTheWorkIsCut) {
  std::vector<Case> cases = {Square(57, 3, 64, 96), Square(7, 3, 512, 320),
                             Square(57, 1, 128, 520), Square(7, 1, 1040, 4160)};
  cases.push_back(Square(28, 3, 96, 80));
  cases.back().images = 13;
  cases.push_back(Square(113, 7, 3, 64));
  cases.back().strides = {2, 2};
  for (Case c : cases) {
    for (int zero : {0, 128}) {
      c.x_zero = c.y_zero = zero;
      c.has_epilogue = zero == 0;
      const int count = ExpectAgreement(c);
      if (HasFastKernel()) {
        EXPECT_EQ(count, 2) << ToString(c);
      }
    }
  }
}

TEST(QLinearConvPartsTest, WhatIsNotConstantIsLeftToThePortableKernel) {
  TestNode node = MakeNode(Square(9, 3, 8, 8));
  for (int input = 1; input <= 7; ++input) {
    TestNode open = node;
    open.is_constant[input] = false;
    EXPECT_TRUE(FastKernels(open).empty()) << input;
  }
  TestNode shifted = node;
  shifted.inputs[5] = Same(DType::kInt8, Shape({8}), 1);
  EXPECT_TRUE(FastKernels(shifted).empty());
  TestNode infinite = node;
  infinite.inputs[6] = Tensor({}, {0});
  EXPECT_TRUE(FastKernels(infinite).empty());
}

}  // namespace
}  // namespace tensord
