#include "bench/kernels/cases.h"

#include "absl/strings/str_cat.h"

namespace tensord {
namespace {

void AddProducts(std::vector<KernelCase>& cases) {
  struct Extents {
    int64_t m, k, n;
  };
  for (const auto& [m, k, n] : std::initializer_list<Extents>{
           {1, 768, 768},    {2, 768, 768},     {4, 768, 768},
           {8, 768, 768},    {16, 768, 768},    {64, 768, 768},
           {128, 768, 768},  {128, 768, 3072},  {128, 3072, 768},
           {1, 1024, 1024},  {1, 4096, 4096},   {2, 4096, 4096},
           {4, 4096, 4096},  {1, 768, 3072},    {1, 3072, 768},
           {1, 768, 50257},  {128, 384, 384},   {128, 384, 1536},
           {128, 1536, 384}, {1024, 1024, 1024}}) {
    for (bool is_constant : {true, false}) {
      cases.push_back(
          {.name = absl::StrCat("matmul_", m, "x", k, "x", n,
                                is_constant ? "" : "_dynamic"),
           .op = OpKind::kMatMul,
           .inputs = {{Shape({m, k})},
                      {.shape = Shape({k, n}), .is_constant = is_constant}},
           .outputs = {{Shape({m, n})}}});
    }
  }
  for (const auto& [m, k, n] : std::initializer_list<Extents>{
           {128, 64, 128}, {128, 128, 64}, {1, 64, 129}, {40, 32, 40}}) {
    cases.push_back({.name = absl::StrCat("matmul_12x", m, "x", k, "x", n),
                     .op = OpKind::kMatMul,
                     .inputs = {{Shape({12, m, k})}, {Shape({12, k, n})}},
                     .outputs = {{Shape({12, m, n})}}});
  }
  for (const auto& [m, k, n] : std::initializer_list<Extents>{
           {1, 2048, 1000}, {1, 1280, 1000}, {8, 2048, 1000}, {1, 96, 32}}) {
    cases.push_back(
        {.name = absl::StrCat("gemm_", m, "x", k, "x", n, "_transb"),
         .op = OpKind::kGemm,
         .params = GemmParams{.transpose_b = true},
         .inputs = {{Shape({m, k})},
                    {.shape = Shape({n, k}), .is_constant = true},
                    {.shape = Shape({n}), .is_constant = true}},
         .outputs = {{Shape({m, n})}}});
  }
}

// As they are in an encoder that is quantized while it runs.
void AddIntegerProducts(std::vector<KernelCase>& cases) {
  struct Extents {
    int64_t m, k, n;
  };
  for (const auto& [m, k, n] :
       std::initializer_list<Extents>{{1, 768, 768},
                                      {128, 768, 768},
                                      {128, 768, 3072},
                                      {128, 3072, 768}}) {
    cases.push_back({.name = absl::StrCat("matmul_integer_", m, "x", k, "x", n),
                     .op = OpKind::kMatMulInteger,
                     .inputs = {{Shape({m, k}), DType::kUInt8},
                                {Shape({k, n}), DType::kInt8, true},
                                {Shape({}), DType::kUInt8},
                                {Shape({}), DType::kInt8, true}},
                     .outputs = {{Shape({m, n}), DType::kInt32}}});
    cases.push_back({.name = absl::StrCat("qlinear_matmul_", m, "x", k, "x", n),
                     .op = OpKind::kQLinearMatMul,
                     .inputs = {{Shape({m, k}), DType::kUInt8},
                                {Shape({})},
                                {Shape({}), DType::kUInt8},
                                {Shape({k, n}), DType::kInt8, true},
                                {Shape({n})},
                                {Shape({}), DType::kInt8},
                                {Shape({})},
                                {Shape({}), DType::kUInt8}},
                     .outputs = {{Shape({m, n}), DType::kUInt8}}});
    cases.push_back({.name = absl::StrCat("dynamic_quantize_", m, "x", k),
                     .op = OpKind::kDynamicQuantizeLinear,
                     .inputs = {{Shape({m, k})}},
                     .outputs = {{Shape({m, k}), DType::kUInt8},
                                 {Shape({})},
                                 {Shape({}), DType::kUInt8}}});
  }
}

struct ConvCase {
  int64_t channels, height, width, outputs;
  int64_t kernel = 1, stride = 1;
  int64_t group = 1;
  int64_t images = 1;
};

void AddConvs(std::vector<KernelCase>& cases) {
  for (const ConvCase& c :
       std::initializer_list<ConvCase>{{64, 56, 56, 64, 3},
                                       {128, 28, 28, 128, 3},
                                       {256, 14, 14, 256, 3},
                                       {512, 7, 7, 512, 3},
                                       {3, 224, 224, 64, 7, 2},
                                       {3, 224, 224, 32, 3, 2},
                                       {16, 320, 320, 16, 3},
                                       {96, 160, 160, 24, 3},
                                       {64, 56, 56, 256},
                                       {256, 56, 56, 64},
                                       {256, 56, 56, 512, 1, 2},
                                       {512, 28, 28, 128},
                                       {1024, 14, 14, 256},
                                       {2048, 7, 7, 512},
                                       {24, 56, 56, 144},
                                       {144, 56, 56, 24},
                                       {96, 112, 112, 96, 3, 1, 96},
                                       {96, 112, 112, 96, 3, 2, 96},
                                       {144, 56, 56, 144, 3, 1, 144},
                                       {576, 14, 14, 576, 3, 1, 576},
                                       {96, 28, 28, 96, 5, 1, 96},
                                       {16, 24, 24, 32, 3},
                                       {64, 28, 28, 64, 3, 1, 8}}) {
    for (bool is_channels_last : {true, false}) {
      const int64_t pad = c.kernel / 2;
      const int64_t h = (c.height - 1) / c.stride + 1;
      const int64_t w = (c.width - 1) / c.stride + 1;
      const auto image = [&](int64_t channels, int64_t h, int64_t w) {
        return is_channels_last ? Shape({c.images, h, w, channels})
                                : Shape({c.images, channels, h, w});
      };
      cases.push_back(
          {.name = absl::StrCat(
               c.group == 1 ? "conv_" : absl::StrCat("conv_g", c.group, "_"),
               c.kernel, "x", c.kernel, "s", c.stride, "_", c.channels, "to",
               c.outputs, "_at", c.height,
               is_channels_last ? "_nhwc" : "_nchw"),
           .op = OpKind::kConv,
           .params = ConvParams{.kernel_shape = {c.kernel, c.kernel},
                                .strides = {c.stride, c.stride},
                                .pads = {pad, pad, pad, pad},
                                .group = c.group,
                                .channels_last = is_channels_last},
           .inputs = {{image(c.channels, c.height, c.width)},
                      {.shape = Shape({c.outputs, c.channels / c.group,
                                       c.kernel, c.kernel}),
                       .is_constant = true},
                      {.shape = Shape({c.outputs}), .is_constant = true}},
           .outputs = {{image(c.outputs, h, w)}}});
    }
  }
}

// Images turned around.
void AddTransposes(std::vector<KernelCase>& cases) {
  for (const Shape& x : {Shape({1, 56, 56, 256}), Shape({1, 14, 14, 1024}),
                         Shape({1, 224, 224, 3})}) {
    const Shape y({x[0], x[3], x[1], x[2]});
    cases.push_back({.name = absl::StrCat("transpose_to_first_", x[3]),
                     .op = OpKind::kTranspose,
                     .params = TransposeParams{.permutation = {0, 3, 1, 2}},
                     .inputs = {{x}},
                     .outputs = {{y}}});
    cases.push_back({.name = absl::StrCat("transpose_to_last_", x[3]),
                     .op = OpKind::kTranspose,
                     .params = TransposeParams{.permutation = {0, 2, 3, 1}},
                     .inputs = {{y}},
                     .outputs = {{x}}});
  }
}

// Operators by themselves.
void AddElementwise(std::vector<KernelCase>& cases) {
  const Shape image({1, 56, 56, 128});
  for (OpKind op : {OpKind::kExp, OpKind::kTanh, OpKind::kSigmoid, OpKind::kErf,
                    OpKind::kHardSwish}) {
    cases.push_back({.name = absl::StrCat("elementwise_", OpKindName(op)),
                     .op = op,
                     .inputs = {{image}},
                     .outputs = {{image}}});
  }
  cases.push_back({.name = "elementwise_PRelu",
                   .op = OpKind::kPRelu,
                   .inputs = {{image}, {Shape({128})}},
                   .outputs = {{image}}});
}

// Chains over an image with channels last, and over the activations of an
// encoder.
void AddChains(std::vector<KernelCase>& cases) {
  constexpr int32_t kNone = ExpressionStep::kNoOperand;
  const auto add = [&](std::string name, const Shape& shape,
                       Expression expression) {
    KernelCase test{.name = absl::StrCat("chain_", name),
                    .op = OpKind::kElementwiseChain,
                    .outputs = {{shape}}};
    // The first input is whole, and so is a second; others are rows.
    for (int i = 0; i < expression.input_count; ++i) {
      test.inputs.push_back({i < 2 ? shape : Shape({shape[shape.rank() - 1]})});
    }
    test.params = std::move(expression);
    cases.push_back(std::move(test));
  };
  for (const Shape& shape : {Shape({56, 56, 64}), Shape({128, 3072})}) {
    const std::string suffix = absl::StrCat("_", shape.element_count());
    for (OpKind op : {OpKind::kRelu, OpKind::kGelu, OpKind::kSigmoid,
                      OpKind::kTanh, OpKind::kErf, OpKind::kExp}) {
      add(absl::StrCat(OpKindName(op), suffix), shape,
          {.input_count = 1, .steps = {{op, {0, kNone}}}});
    }
    add(absl::StrCat("HardSwish", suffix), shape,
        {.input_count = 1, .steps = {{OpKind::kHardSwish, {0, kNone}}}});
    add(absl::StrCat("AddRelu", suffix), shape,
        {.input_count = 2,
         .steps = {{OpKind::kAdd, {0, 1}}, {OpKind::kRelu, {2, kNone}}}});
    add(absl::StrCat("ScaleShiftByColumn", suffix), shape,
        {.input_count = 4,
         .steps = {{OpKind::kMul, {0, 2}}, {OpKind::kAdd, {4, 3}}}});
  }
}

void AddSoftmax(std::vector<KernelCase>& cases) {
  for (const Shape& shape : {Shape({1536, 128}), Shape({40, 6625}),
                             Shape({1024, 1024}), Shape({4096, 4096})}) {
    cases.push_back({.name = absl::StrCat("softmax_", shape[0], "x", shape[1]),
                     .op = OpKind::kSoftmax,
                     .params = SoftmaxParams{.axis = -1},
                     .inputs = {{shape}},
                     .outputs = {{shape}}});
  }
}

}  // namespace

std::vector<KernelCase> KernelCases() {
  std::vector<KernelCase> cases;
  AddProducts(cases);
  AddIntegerProducts(cases);
  AddConvs(cases);
  AddTransposes(cases);
  AddElementwise(cases);
  AddChains(cases);
  AddSoftmax(cases);
  return cases;
}

}  // namespace tensord
