#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/cpu/host_worker_pool.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

// Conv with channels in the last dimension agrees with Conv as the standard has
// it, and neither depends on the number of threads.
namespace tensord {
namespace {

struct Extents {
  Dims spatial, kernel, strides, dilations;
  Dims pads;  // begins, then ends
  int64_t images = 1;
  int64_t channels = 1;
  int64_t outputs = 1;
  int64_t group = 1;
  bool has_bias = true;
  bool has_epilogue = false;
};

std::string ToString(const Extents& e) {
  return absl::StrCat(
      "images ", e.images, " channels ", e.channels, " to ", e.outputs,
      " groups ", e.group, " at ", absl::StrJoin(e.spatial, "x"), " kernel ",
      absl::StrJoin(e.kernel, "x"), " strides ", absl::StrJoin(e.strides, "x"),
      " dilations ", absl::StrJoin(e.dilations, "x"), " pads ",
      absl::StrJoin(e.pads, ","), e.has_bias ? " bias" : "",
      e.has_epilogue ? " epilogue" : "");
}

// leaky_relu(y + x1)
std::shared_ptr<const Epilogue> ResidualAndActivation() {
  constexpr int32_t kNone = ExpressionStep::kNoOperand;
  return std::make_shared<Epilogue>(Epilogue{
      .own_input_count = 3,
      .expression = {.input_count = 2,
                     .steps = {{OpKind::kAdd, {0, 1}},
                               {OpKind::kLeakyRelu, {2, kNone}, {0.25}}}}});
}

// [a, b, rest...] to [a, rest..., b] and back.
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
  std::vector<float> values(shape.element_count());
  const auto from = tensor.values<float>();
  for (int64_t n = 0; n < shape[0]; ++n) {
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t p = 0; p < pixels; ++p) {
        const int64_t first = (n * channels + c) * pixels + p;
        const int64_t last = (n * pixels + p) * channels + c;
        if (to_channels_last) {
          values[last] = from[first];
        } else {
          values[first] = from[last];
        }
      }
    }
  }
  return Tensor(Shape::Create(extents).value(), values);
}

TestNode MakeNode(const Extents& e) {
  Dims x = {e.images, e.channels};
  Dims w = {e.outputs, e.channels / e.group};
  Dims y = {e.images, e.outputs};
  const size_t rank = e.spatial.size();
  for (size_t i = 0; i < rank; ++i) {
    x.push_back(e.spatial[i]);
    w.push_back(e.kernel[i]);
    y.push_back((e.spatial[i] + e.pads[i] + e.pads[rank + i] -
                 (e.kernel[i] - 1) * e.dilations[i] - 1) /
                    e.strides[i] +
                1);
  }
  TestNode node{
      .op = OpKind::kConv,
      .inputs = {Pattern(DType::kFloat32, Shape::Create(x).value(), 1),
                 Pattern(DType::kFloat32, Shape::Create(w).value(), 2)},
      .outputs = {{DType::kFloat32, Shape::Create(y).value()}},
      .params = ConvParams{.kernel_shape = e.kernel,
                           .strides = e.strides,
                           .dilations = e.dilations,
                           .pads = e.pads,
                           .group = e.group},
      .is_constant = {false, true, true}};
  node.inputs.push_back(e.has_bias
                            ? Pattern(DType::kFloat32, Shape({e.outputs}), 3)
                            : TestTensor());
  if (e.has_epilogue) {
    node.inputs.push_back(Pattern(DType::kFloat32, node.outputs[0].shape, 4));
    node.params.epilogue = ResidualAndActivation();
  }
  return node;
}

TestNode WithChannelsLast(TestNode node) {
  std::get<ConvParams>(node.params).channels_last = true;
  node.inputs[0] = Turned(node.inputs[0], true);
  if (node.inputs.size() > 3) node.inputs[3] = Turned(node.inputs[3], true);
  const TestTensor y{
      DType::kFloat32, node.outputs[0].shape,
      std::vector<std::byte>(node.outputs[0].shape.element_count() * 4)};
  node.outputs[0].shape = Turned(y, true).shape;
  return node;
}

KernelResult RunOn(const KernelEntry& kernel, const TestNode& node,
                   WorkerPool& workers) {
  const TestDevice& device = CpuTestDevice();
  auto result = RunKernel(kernel, node, *device.device, *device.lane, workers);
  EXPECT_THAT(result, IsOk()) << kernel.name;
  return result.ok() ? *std::move(result) : KernelResult{node.inputs, {}};
}

// How many kernels took it channels-last.
int ExpectAgreement(const Extents& e) {
  const TestDevice& device = CpuTestDevice();
  const TestNode node = MakeNode(e);
  const auto kernels = KernelsFor(*device.backend, node);
  // The portable one.
  const TestTensor expected =
      RunOn(*kernels.back(), node, *device.workers).outputs[0];
  int64_t depth = e.channels / e.group;
  for (int64_t extent : e.kernel) depth *= extent;
  const Tolerance tolerance =
      ToleranceFor(DType::kFloat32, OpFamily::kContraction, depth);
  for (const KernelEntry* kernel : kernels) {
    EXPECT_THAT(RunOn(*kernel, node, *device.workers).outputs[0],
                IsNear(expected, tolerance))
        << kernel->name << ": " << ToString(e);
  }
  const TestNode turned = WithChannelsLast(node);
  const auto turned_kernels = KernelsFor(*device.backend, turned);
  for (const KernelEntry* kernel : turned_kernels) {
    EXPECT_THAT(
        Turned(RunOn(*kernel, turned, *device.workers).outputs[0], false),
        IsNear(expected, tolerance))
        << kernel->name << ", channels last: " << ToString(e);
  }
  return static_cast<int>(turned_kernels.size());
}

TEST(ConvChannelsLastTest, AgreesAtRandomExtents) {
  std::mt19937 random(11);
  const auto pick = [&](std::initializer_list<int64_t> choices) {
    return *(choices.begin() + random() % choices.size());
  };
  for (int i = 0; i < 150; ++i) {
    const size_t rank = pick({1, 2, 2, 2, 3});
    Extents e;
    e.images = pick({1, 1, 2, 3});
    e.group = pick({1, 1, 1, 2, 4});
    e.channels = e.group * pick({1, 3, 8, 16, 17});
    e.outputs = e.group * pick({1, 4, 16, 19, 32});
    if (pick({0, 0, 1}) == 1) e.group = e.channels = e.outputs;  // depthwise
    e.has_bias = pick({0, 1}) == 1;
    e.has_epilogue = pick({0, 1}) == 1;
    for (size_t axis = 0; axis < rank; ++axis) {
      e.kernel.push_back(pick({1, 2, 3, 3, 5}));
      e.strides.push_back(pick({1, 1, 2, 3}));
      e.dilations.push_back(pick({1, 1, 1, 2}));
      const int64_t span = (e.kernel.back() - 1) * e.dilations.back() + 1;
      e.spatial.push_back(span + pick({0, 1, 4, 9}));
    }
    for (size_t pad = 0; pad < 2 * rank; ++pad) {
      const int64_t span = (e.kernel[pad % rank] - 1) * e.dilations[pad % rank];
      e.pads.push_back(random() % (span + 1));
    }
    ExpectAgreement(e);
  }
}

Extents Square(int64_t extent, int64_t kernel, int64_t channels,
               int64_t outputs) {
  const int64_t pad = kernel / 2;
  return {.spatial = {extent, extent},
          .kernel = {kernel, kernel},
          .strides = {1, 1},
          .dilations = {1, 1},
          .pads = {pad, pad, pad, pad},
          .channels = channels,
          .outputs = outputs};
}

// Large enough to be cut: by rows, by output channels, by images, and with a
// shorter last part each.
std::vector<Extents> LargeCases() {
  std::vector<Extents> cases = {Square(57, 3, 32, 32),  Square(7, 3, 512, 320),
                                Square(56, 1, 64, 256), Square(57, 1, 48, 200),
                                Square(7, 1, 832, 448), Square(33, 5, 20, 70)};
  Extents many_images = Square(14, 3, 24, 40);
  many_images.images = 37;
  cases.push_back(many_images);
  Extents strided = Square(113, 7, 3, 64);
  strided.strides = {2, 2};
  cases.push_back(strided);
  Extents depthwise = Square(112, 3, 96, 96);
  depthwise.group = 96;
  cases.push_back(depthwise);
  Extents line{.spatial = {4001},
               .kernel = {9},
               .strides = {2},
               .dilations = {3},
               .pads = {5, 12},
               .channels = 32,
               .outputs = 48};
  cases.push_back(line);
  return cases;
}

TEST(ConvChannelsLastTest, AgreesWhereTheWorkIsCut) {
  for (Extents e : LargeCases()) {
    ExpectAgreement(e);
    e.has_epilogue = true;
    ExpectAgreement(e);
  }
}

TEST(ConvChannelsLastTest, PaddingAsWideAsTheKernelOrWider) {
  Extents e = Square(6, 3, 8, 8);
  for (int64_t pad : {2, 3, 7}) {
    e.pads = {pad, 0, pad, pad};
    ExpectAgreement(e);
  }
}

TEST(ConvChannelsLastTest, NoImagesGiveNoOutput) {
  Extents e = Square(6, 3, 8, 8);
  e.images = 0;
  ExpectAgreement(e);
}

TEST(ConvChannelsLastTest, NaNAndInfinityArrive) {
  Extents e = Square(6, 3, 8, 16);
  TestNode node = MakeNode(e);
  std::vector<float> x(node.inputs[0].values<float>().begin(),
                       node.inputs[0].values<float>().end());
  x[7] = NAN;
  x[40] = INFINITY;
  node.inputs[0] = Tensor(node.inputs[0].shape, x);
  const TestDevice& device = CpuTestDevice();
  const auto kernels = KernelsFor(*device.backend, node);
  const TestTensor expected =
      RunOn(*kernels.back(), node, *device.workers).outputs[0];
  const Tolerance tolerance =
      ToleranceFor(DType::kFloat32, OpFamily::kContraction, 72);
  const TestNode turned = WithChannelsLast(node);
  for (const KernelEntry* kernel : KernelsFor(*device.backend, turned)) {
    EXPECT_THAT(
        Turned(RunOn(*kernel, turned, *device.workers).outputs[0], false),
        IsNear(expected, tolerance))
        << kernel->name;
  }
}

TEST(ConvChannelsLastTest, TheNumberOfThreadsChangesNoBit) {
  const TestDevice& device = CpuTestDevice();
  for (const Extents& e : LargeCases()) {
    const TestNode first = MakeNode(e);
    for (const TestNode& node : {first, WithChannelsLast(first)}) {
      for (const KernelEntry* kernel : KernelsFor(*device.backend, node)) {
        std::vector<TestTensor> outputs;
        for (int threads : {1, 2, 3}) {
          HostWorkerPool workers(threads);
          outputs.push_back(RunOn(*kernel, node, workers).outputs[0]);
        }
        EXPECT_TRUE(outputs[0] == outputs[1] && outputs[0] == outputs[2])
            << kernel->name << ": " << ToString(e);
      }
    }
  }
}

}  // namespace
}  // namespace tensord
