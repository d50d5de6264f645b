#include "tests/engine/batch/row_cases.h"

#include <utility>

namespace tensord {
namespace {

class Drawer {
 public:
  explicit Drawer(std::mt19937& draw) : draw_(draw) {}
  int64_t operator()(int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(draw_);
  }

 private:
  std::mt19937& draw_;
};

using Ints = std::vector<int64_t>;

TestTensor Weights(Shape shape, uint64_t seed = 5) {
  return Pattern(DType::kFloat32, std::move(shape), seed);
}

// Positive ones, such as variances.
TestTensor Positive(int64_t count) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(0.5 + i % 3);
  return TensorOf(DType::kFloat32, {count}, values);
}

void AddElementwise(Drawer& draw, std::vector<RowCase>& cases) {
  const int64_t a = draw(1, 3), b = draw(1, 5);
  for (const char* op :
       {"Abs",       "Acos",        "Acosh",     "Asin",  "Asinh",
        "Atan",      "Atanh",       "Ceil",      "Celu",  "Cos",
        "Cosh",      "Elu",         "Erf",       "Exp",   "Floor",
        "HardSwish", "HardSigmoid", "LeakyRelu", "Log",   "Mish",
        "Neg",       "Reciprocal",  "Relu",      "Round", "Selu",
        "Sigmoid",   "Sign",        "Sin",       "Sinh",  "Softplus",
        "Softsign",  "Sqrt",        "Tan",       "Tanh",  "ThresholdedRelu",
        "IsInf",     "IsNaN",       "Identity"}) {
    cases.push_back(RowCase(op).Floats("x", {a, b}).Node(op, {"x"}).Out());
  }
  for (const char* op : {"Gelu", "Swish"}) {
    cases.push_back(
        RowCase(op).Opset(24).Floats("x", {a, b}).Node(op, {"x"}).Out());
  }
  cases.push_back(RowCase("Cast")
                      .Floats("x", {b})
                      .Node("Cast", {"x"}, {"y"}, {{"to", int64_t{7}}})
                      .Out());
  cases.push_back(RowCase("CastLike")
                      .Floats("x", {b})
                      .In("i", {DType::kInt32, {}, 9})
                      .Node("CastLike", {"x", "i"})
                      .Out());
  for (const char* op :
       {"Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Mean", "Sum", "Equal",
        "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "PRelu"}) {
    cases.push_back(RowCase(std::string(op) + " of rows")
                        .Floats("x", {a, b})
                        .Floats("z", {a, b})
                        .Node(op, {"x", "z"})
                        .Out());
    cases.push_back(RowCase(std::string(op) + " with a constant")
                        .Floats("x", {a, b})
                        .Constant("c", Weights({1, a, b}))
                        .Node(op, {"x", "c"})
                        .Out());
    cases.push_back(RowCase(std::string(op) + " with a line")
                        .Floats("x", {a, b})
                        .Constant("c", Weights({b}))
                        .Node(op, {"x", "c"})
                        .Out());
  }
  for (const char* op : {"And", "Or", "Xor"}) {
    cases.push_back(RowCase(op)
                        .In("x", {DType::kBool, {a}, 2})
                        .In("z", {DType::kBool, {a}, 2})
                        .Node(op, {"x", "z"})
                        .Out());
  }
  cases.push_back(
      RowCase("Not").In("x", {DType::kBool, {a}, 2}).Node("Not", {"x"}).Out());
  for (const char* op : {"BitwiseAnd", "BitwiseOr", "BitwiseXor", "Mod"}) {
    cases.push_back(RowCase(op)
                        .Opset(18)
                        .In("x", {DType::kInt32, {a}, 99, 1})
                        .In("z", {DType::kInt32, {a}, 99, 1})
                        .Node(op, {"x", "z"})
                        .Out());
  }
  cases.push_back(RowCase("BitwiseNot")
                      .Opset(18)
                      .In("x", {DType::kInt32, {a}, 99})
                      .Node("BitwiseNot", {"x"})
                      .Out());
  cases.push_back(
      RowCase("BitShift")
          .In("x", {DType::kUInt32, {a}, 99})
          .In("z", {DType::kUInt32, {a}, 9})
          .Node("BitShift", {"x", "z"}, {"y"}, {{"direction", "LEFT"}})
          .Out());
  cases.push_back(RowCase("Where")
                      .In("c", {DType::kBool, {a, 1}, 2})
                      .Floats("x", {a, b})
                      .Constant("z", Weights({a, b}))
                      .Node("Where", {"c", "x", "z"})
                      .Out());
  cases.push_back(RowCase("Clip")
                      .Floats("x", {b})
                      .Constant("low", Tensor({}, {-0.5f}))
                      .Constant("high", Tensor({}, {0.75f}))
                      .Node("Clip", {"x", "low", "high"})
                      .Out());
}

void AddProducts(Drawer& draw, std::vector<RowCase>& cases) {
  const int64_t m = draw(1, 4), k = draw(1, 6), n = draw(1, 5);
  cases.push_back(RowCase("a layer")
                      .Floats("x", {k})
                      .Constant("w", Weights({k, n}))
                      .Node("MatMul", {"x", "w"})
                      .Out());
  cases.push_back(RowCase("MatMul of many")
                      .Floats("x", {m, k})
                      .Constant("w", Weights({1, k, n}))
                      .Node("MatMul", {"x", "w"})
                      .Out());
  cases.push_back(RowCase("MatMul of rows' own")
                      .Floats("x", {m, k})
                      .Floats("w", {k, n})
                      .Node("MatMul", {"x", "w"})
                      .Out());
  cases.push_back(RowCase("MatMul with rows behind")
                      .Constant("w", Weights({m, k}))
                      .Floats("x", {k, n})
                      .Node("MatMul", {"w", "x"})
                      .Out());
  cases.push_back(
      RowCase("Gemm")
          .Floats("x", {k})
          .Constant("w", Weights({n, k}))
          .Constant("b", Weights({n}))
          .Node("Gemm", {"x", "w", "b"}, {"y"}, {{"transB", int64_t{1}}})
          .Out());
  cases.push_back(RowCase("Gemm with rows of its own")
                      .Floats("x", {k})
                      .Constant("w", Weights({k, n}))
                      .Floats("b", {n})
                      .Node("Gemm", {"x", "w", "b"})
                      .Out());
  cases.push_back(RowCase("MatMulInteger")
                      .In("x", {DType::kUInt8, {k}, 200})
                      .Constant("w", Pattern(DType::kUInt8, {k, n}))
                      .Constant("zero", Tensor<uint8_t>({}, {7}))
                      .Node("MatMulInteger", {"x", "w", "zero"})
                      .Out());
  const auto scale = [](float value) { return Tensor({}, {value}); };
  const TestTensor zero = Tensor<uint8_t>({}, {3});
  cases.push_back(
      RowCase("QLinearMatMul")
          .In("x", {DType::kUInt8, {k}, 200})
          .Constant("w", Pattern(DType::kUInt8, {k, n}))
          .Constant("xs", scale(0.1f))
          .Constant("ws", scale(0.2f))
          .Constant("ys", scale(0.3f))
          .Constant("z", zero)
          .Node("QLinearMatMul", {"x", "xs", "z", "w", "ws", "z", "ys", "z"})
          .Out());
  const int64_t size = draw(4, 6);
  cases.push_back(
      RowCase("Conv")
          .Floats("x", {2, size, size})
          .Constant("w", Weights({3, 2, 3, 3}))
          .Constant("b", Weights({3}))
          .Node("Conv", {"x", "w", "b"}, {"y"}, {{"pads", Ints{1, 1, 1, 1}}})
          .Out());
  cases.push_back(RowCase("ConvTranspose")
                      .Floats("x", {2, size})
                      .Constant("w", Weights({2, 3, 3}))
                      .Node("ConvTranspose", {"x", "w"})
                      .Out());
  cases.push_back(RowCase("ConvInteger")
                      .In("x", {DType::kUInt8, {2, size, size}, 200})
                      .Constant("w", Pattern(DType::kUInt8, {3, 2, 3, 3}))
                      .Constant("zero", zero)
                      .Node("ConvInteger", {"x", "w", "zero"})
                      .Out());
  cases.push_back(
      RowCase("QLinearConv")
          .In("x", {DType::kUInt8, {2, size, size}, 200})
          .Constant("w", Pattern(DType::kUInt8, {3, 2, 3, 3}))
          .Constant("xs", scale(0.1f))
          .Constant("ws", scale(0.2f))
          .Constant("ys", scale(0.9f))
          .Constant("z", zero)
          .Node("QLinearConv", {"x", "xs", "z", "w", "ws", "z", "ys", "z"})
          .Out());
  cases.push_back(RowCase("DeformConv")
                      .Opset(19)
                      .Floats("x", {1, 4, 4})
                      .Constant("w", Weights({1, 1, 2, 2}))
                      .Floats("offset", {8, 3, 3})
                      .Node("DeformConv", {"x", "w", "offset"})
                      .Out());
  cases.push_back(
      RowCase("Einsum")
          .Floats("x", {m, k})
          .Floats("z", {k, n})
          .Node("Einsum", {"x", "z"}, {"y"}, {{"equation", "bmk,bkn->bmn"}})
          .Out());
}

void AddNormalizations(Drawer& draw, std::vector<RowCase>& cases) {
  const int64_t a = draw(1, 4), b = draw(2, 7);
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) {
    cases.push_back(RowCase(op).Floats("x", {a, b}).Node(op, {"x"}).Out());
    cases.push_back(RowCase(std::string(op) + " of old")
                        .Opset(11)
                        .Floats("x", {a, b})
                        .Node(op, {"x"}, {"y"}, {{"axis", int64_t{1}}})
                        .Out());
  }
  for (const char* op : {"ArgMax", "ArgMin"}) {
    cases.push_back(RowCase(op)
                        .Floats("x", {a, b})
                        .Node(op, {"x"}, {"y"}, {{"axis", int64_t{-1}}})
                        .Out());
  }
  cases.push_back(RowCase("TopK")
                      .Floats("x", {b})
                      .Ints("k", {2})
                      .Node("TopK", {"x", "k"}, {"y", "i"})
                      .Out()
                      .Out("i"));
  cases.push_back(RowCase("LpNormalization")
                      .Floats("x", {b})
                      .Node("LpNormalization", {"x"})
                      .Out());
  cases.push_back(RowCase("LayerNormalization")
                      .Floats("x", {a, b})
                      .Constant("s", Weights({b}))
                      .Constant("c", Weights({b}, 9))
                      .Node("LayerNormalization", {"x", "s", "c"})
                      .Out());
  cases.push_back(RowCase("RMSNormalization")
                      .Opset(23)
                      .Floats("x", {a, b})
                      .Constant("s", Weights({b}))
                      .Node("RMSNormalization", {"x", "s"})
                      .Out());
  for (const char* op :
       {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
        "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum",
        "ReduceSumSquare"}) {
    cases.push_back(
        RowCase(op)
            .Opset(18)
            .Floats("x", {a, b})
            .Ints("axes", {-1})
            .Node(op, {"x", "axes"}, {"y"}, {{"keepdims", int64_t{draw(0, 1)}}})
            .Out());
  }
  for (const char* op : {"CumSum", "CumProd"}) {
    cases.push_back(RowCase(op)
                        .Opset(26)
                        .Floats("x", {a, b})
                        .Ints("axis", {2})
                        .Node(op, {"x", "axis"})
                        .Out());
  }
  cases.push_back(RowCase("MeanVarianceNormalization")
                      .Floats("x", {2, a, b})
                      .Node("MeanVarianceNormalization", {"x"}, {"y"},
                            {{"axes", Ints{2, 3}}})
                      .Out());
  cases.push_back(RowCase("BatchNormalization")
                      .Floats("x", {2, a, b})
                      .Constant("s", Weights({2}))
                      .Constant("c", Weights({2}, 7))
                      .Constant("m", Weights({2}, 8))
                      .Constant("v", Positive(2))
                      .Node("BatchNormalization", {"x", "s", "c", "m", "v"})
                      .Out());
  cases.push_back(RowCase("InstanceNormalization")
                      .Floats("x", {2, b})
                      .Constant("s", Weights({2}))
                      .Constant("c", Weights({2}, 7))
                      .Node("InstanceNormalization", {"x", "s", "c"})
                      .Out());
  cases.push_back(RowCase("GroupNormalization")
                      .Opset(21)
                      .Floats("x", {4, b})
                      .Constant("s", Weights({4}))
                      .Constant("c", Weights({4}, 7))
                      .Node("GroupNormalization", {"x", "s", "c"}, {"y"},
                            {{"num_groups", int64_t{2}}})
                      .Out());
  cases.push_back(RowCase("LRN")
                      .Floats("x", {4, a, b})
                      .Node("LRN", {"x"}, {"y"}, {{"size", int64_t{3}}})
                      .Out());
  for (const char* op : {"MaxPool", "AveragePool", "LpPool"}) {
    cases.push_back(RowCase(op)
                        .Floats("x", {2, 5, 5})
                        .Node(op, {"x"}, {"y"}, {{"kernel_shape", Ints{2, 2}}})
                        .Out());
  }
  for (const char* op :
       {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"}) {
    cases.push_back(RowCase(op).Floats("x", {2, a, b}).Node(op, {"x"}).Out());
  }
  cases.push_back(RowCase("quantizing by channel")
                      .Floats("x", {3, b})
                      .Constant("s", Positive(3))
                      .Constant("z", Tensor<uint8_t>({3}, {1, 2, 3}))
                      .Node("QuantizeLinear", {"x", "s", "z"}, {"q"})
                      .Node("DequantizeLinear", {"q", "s", "z"})
                      .Out());
}

void AddMovements(Drawer& draw, std::vector<RowCase>& cases) {
  const int64_t a = draw(2, 4), b = draw(2, 5);
  cases.push_back(RowCase("Reshape to more rows and back")
                      .Floats("x", {a, b})
                      .Ints("flat", {-1, b})
                      .Ints("back", {-1, a, b})
                      .Node("Reshape", {"x", "flat"}, {"t"})
                      .Node("Reshape", {"t", "back"})
                      .Out("t")
                      .Out());
  cases.push_back(
      RowCase("Reshape as the input's shape says")
          .Floats("x", {a, b})
          .Ints("first", {0})
          .Ints("rest", {-1})
          .Node("Shape", {"x"}, {"shape"})
          .Node("Gather", {"shape", "first"}, {"batch"})
          .Node("Concat", {"batch", "rest"}, {"to"}, {{"axis", int64_t{0}}})
          .Node("Reshape", {"x", "to"})
          .Out());
  cases.push_back(
      RowCase("Flatten").Floats("x", {a, b}).Node("Flatten", {"x"}).Out());
  cases.push_back(RowCase("Unsqueeze and Squeeze")
                      .Floats("x", {b})
                      .Ints("axes", {1})
                      .Node("Unsqueeze", {"x", "axes"}, {"t"})
                      .Node("Squeeze", {"t", "axes"})
                      .Out("t")
                      .Out());
  cases.push_back(
      RowCase("Dropout").Floats("x", {b}).Node("Dropout", {"x"}).Out());
  cases.push_back(
      RowCase("Transpose")
          .Floats("x", {a, b})
          .Node("Transpose", {"x"}, {"y"}, {{"perm", Ints{0, 2, 1}}})
          .Out());
  cases.push_back(
      RowCase("Concat")
          .Floats("x", {a, b})
          .Floats("z", {a, 3})
          .Node("Concat", {"x", "z"}, {"y"}, {{"axis", int64_t{-1}}})
          .Out());
  cases.push_back(
      RowCase("Split")
          .Floats("x", {4})
          .Ints("parts", {1, 3})
          .Node("Split", {"x", "parts"}, {"y", "z"}, {{"axis", int64_t{1}}})
          .Out()
          .Out("z"));
  cases.push_back(RowCase("Gather from rows")
                      .Floats("x", {a, b})
                      .Ints("i", {1, 0})
                      .Node("Gather", {"x", "i"}, {"y"}, {{"axis", int64_t{1}}})
                      .Out());
  cases.push_back(RowCase("Gather from a table")
                      .Constant("t", Weights({7, b}))
                      .In("i", {DType::kInt64, {a}, 7})
                      .Node("Gather", {"t", "i"})
                      .Out());
  cases.push_back(
      RowCase("GatherElements")
          .Floats("x", {a})
          .In("i", {DType::kInt64, {b}, 2})
          .Node("GatherElements", {"x", "i"}, {"y"}, {{"axis", int64_t{1}}})
          .Out());
  cases.push_back(
      RowCase("GatherND of rows")
          .Floats("x", {a, b})
          .In("i", {DType::kInt64, {1}, 2})
          .Node("GatherND", {"x", "i"}, {"y"}, {{"batch_dims", int64_t{1}}})
          .Out());
  cases.push_back(RowCase("GatherND of a table")
                      .Constant("t", Weights({3, b}))
                      .In("i", {DType::kInt64, {1}, 3})
                      .Node("GatherND", {"t", "i"})
                      .Out());
  cases.push_back(RowCase("ScatterElements")
                      .Floats("x", {4})
                      .In("i", {DType::kInt64, {1}, 4})
                      .Floats("u", {1})
                      .Node("ScatterElements", {"x", "i", "u"}, {"y"},
                            {{"axis", int64_t{1}}})
                      .Out());
  cases.push_back(RowCase("Slice behind the batch")
                      .Floats("x", {5, b})
                      .Ints("starts", {3})
                      .Ints("ends", {-9})
                      .Ints("axes", {1})
                      .Ints("steps", {-2})
                      .Node("Slice", {"x", "starts", "ends", "axes", "steps"})
                      .Out());
  cases.push_back(RowCase("Slice of the whole batch")
                      .Floats("x", {5, b})
                      .Ints("starts", {0, 1})
                      .Ints("ends", {1 << 20, 3})
                      .Node("Slice", {"x", "starts", "ends"})
                      .Out());
  cases.push_back(RowCase("Pad")
                      .Floats("x", {a, b})
                      .Ints("pads", {0, 1, 0, 0, 0, 1})
                      .Node("Pad", {"x", "pads"}, {"y"}, {{"mode", "reflect"}})
                      .Out());
  cases.push_back(RowCase("Expand of rows")
                      .Floats("x", {1, b})
                      .Ints("shape", {1, a, b})
                      .Node("Expand", {"x", "shape"})
                      .Out());
  cases.push_back(RowCase("Expand to rows")
                      .Floats("x", {b})
                      .Constant("c", Weights({1, b}))
                      .Node("Shape", {"x"}, {"shape"})
                      .Node("Expand", {"c", "shape"}, {"t"})
                      .Node("Add", {"x", "t"})
                      .Out()
                      .Out("t"));
  cases.push_back(RowCase("Tile")
                      .Floats("x", {b})
                      .Ints("repeats", {1, 3})
                      .Node("Tile", {"x", "repeats"})
                      .Out());
  cases.push_back(
      RowCase("ConstantOfShape")
          .Floats("x", {b})
          .Node("Shape", {"x"}, {"shape"})
          .Node("ConstantOfShape", {"shape"}, {"t"},
                {{"value", HostTensor::Make(DType::kFloat32, {1},
                                            [](auto bytes) {
                                              const float value = 3;
                                              std::memcpy(bytes.data(), &value,
                                                          sizeof(value));
                                            })}})
          .Node("Mul", {"x", "t"})
          .Out());
  cases.push_back(
      RowCase("Resize")
          .Floats("x", {2, 3, 4})
          .Constant("scales", Tensor({4}, {1, 1, 2, 1.5f}))
          .Node("Resize", {"x", "", "scales"}, {"y"}, {{"mode", "linear"}})
          .Out());
  cases.push_back(
      RowCase("Resize to sizes beside the batch's")
          .Floats("x", {2, 3, 4})
          .Ints("first", {0})
          .Ints("rest", {2, 5, 7})
          .Node("Shape", {"x"}, {"shape"})
          .Node("Gather", {"shape", "first"}, {"batch"})
          .Node("Concat", {"batch", "rest"}, {"to"}, {{"axis", int64_t{0}}})
          .Node("Resize", {"x", "", "", "to"}, {"y"}, {{"mode", "linear"}})
          .Out());
  cases.push_back(RowCase("Upsample")
                      .Opset(9)
                      .Floats("x", {2, 3, 4})
                      .Constant("scales", Tensor({4}, {1, 1, 2, 2}))
                      .Node("Upsample", {"x", "scales"})
                      .Out());
  cases.push_back(
      RowCase("blocks")
          .Floats("x", {4, a, b})
          .Node("DepthToSpace", {"x"}, {"t"}, {{"blocksize", int64_t{2}}})
          .Node("SpaceToDepth", {"t"}, {"y"}, {{"blocksize", int64_t{2}}})
          .Out("t")
          .Out());
  cases.push_back(RowCase("OneHot")
                      .In("x", {DType::kInt64, {a}, 5})
                      .Ints("depth", {5})
                      .Constant("values", Tensor({2}, {0, 1}))
                      .Node("OneHot", {"x", "depth", "values"})
                      .Out());
  cases.push_back(
      RowCase("Trilu").Floats("x", {a, b}).Node("Trilu", {"x"}).Out());
}

void AddSequences(Drawer& draw, std::vector<RowCase>& cases) {
  const int64_t length = draw(2, 5);
  cases.push_back(RowCase("Attention")
                      .Opset(23)
                      .Floats("q", {2, length, 4})
                      .Floats("k", {2, length, 4})
                      .Floats("v", {2, length, 4})
                      .Floats("mask", {1, length, length})
                      .Node("Attention", {"q", "k", "v", "mask"})
                      .Out());
  cases.push_back(RowCase("Attention with a past")
                      .Opset(23)
                      .Floats("q", {2, 1, 4})
                      .Floats("k", {2, 1, 4})
                      .Floats("v", {2, 1, 4})
                      .Floats("pk", {2, length, 4})
                      .Floats("pv", {2, length, 4})
                      .Constant("mask", Weights({1, length + 1}))
                      .Node("Attention", {"q", "k", "v", "mask", "pk", "pv"},
                            {"y", "nk", "nv"})
                      .Out()
                      .Out("nk")
                      .Out("nv"));
  cases.push_back(RowCase("RotaryEmbedding")
                      .Opset(23)
                      .Floats("x", {2, length, 4})
                      .Constant("cos", Weights({9, 2}))
                      .Constant("sin", Weights({9, 2}, 6))
                      .In("p", {DType::kInt64, {length}, 9})
                      .Node("RotaryEmbedding", {"x", "cos", "sin", "p"})
                      .Out());
  for (const auto& [op, gates] :
       {std::pair("LSTM", 4), {"GRU", 3}, {"RNN", 1}}) {
    cases.push_back(
        RowCase(op)
            .Floats("x", {length, 3})
            .Constant("w", Weights({1, gates * 2, 3}))
            .Constant("r", Weights({1, gates * 2, 2}))
            .Node(op, {"x", "w", "r"}, {"y", "h"},
                  {{"hidden_size", int64_t{2}}, {"layout", int64_t{1}}})
            .Out()
            .Out("h"));
  }
  cases.push_back(
      RowCase("ReverseSequence")
          .Floats("x", {length})
          .In("lengths", {DType::kInt64, {}, length + 1, 1})
          .Node("ReverseSequence", {"x", "lengths"}, {"y"},
                {{"batch_axis", int64_t{0}}, {"time_axis", int64_t{1}}})
          .Out());
  cases.push_back(RowCase("GridSample")
                      .Floats("x", {2, 3, 4})
                      .Floats("g", {2, 2, 2})
                      .Node("GridSample", {"x", "g"})
                      .Out());
}

}  // namespace

RowCase& RowCase::In(const std::string& name, RowInput input) {
  std::vector<TestGraph::Extent> extents = {"batch"};
  for (int64_t extent : input.extents) extents.emplace_back(extent);
  graph_.Input(name, input.dtype, std::move(extents));
  inputs_.push_back(std::move(input));
  return *this;
}

RowCase& RowCase::Node(
    std::string op, std::vector<std::string> inputs,
    std::vector<std::string> outputs,
    std::vector<std::pair<std::string, Attribute>> attributes) {
  ops_.push_back(op);
  graph_.Node(std::move(op), std::move(inputs), std::move(outputs),
              std::move(attributes));
  return *this;
}

std::vector<RowCase> ProvenCases(std::mt19937& draw) {
  Drawer drawer(draw);
  std::vector<RowCase> cases;
  AddElementwise(drawer, cases);
  AddProducts(drawer, cases);
  AddNormalizations(drawer, cases);
  AddMovements(drawer, cases);
  AddSequences(drawer, cases);
  return cases;
}

TestTensor RowsOf(const RowInput& input, int64_t rows, std::mt19937& draw) {
  Dims extents = {rows};
  extents.insert(extents.end(), input.extents.begin(), input.extents.end());
  const Shape shape = *Shape::Create(extents);
  if (input.limit == 0) return Pattern(input.dtype, shape, draw());
  std::vector<double> values;
  std::uniform_int_distribution<int64_t> any(input.lowest, input.limit - 1);
  for (int64_t i = 0; i < shape.element_count(); ++i) {
    values.push_back(static_cast<double>(any(draw)));
  }
  return TensorOf(input.dtype, shape, values);
}

}  // namespace tensord
