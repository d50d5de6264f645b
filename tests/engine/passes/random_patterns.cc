#include "tests/engine/passes/random_patterns.h"

#include <algorithm>
#include <cmath>

namespace tensord {

RandomValue RandomPatterns::Activation(const Value& x) {
  switch (Draw(14)) {
    case 0:
      return Unary("Relu", x);
    case 1:
      return Unary("Sigmoid", x);
    case 2:
      return Unary("Tanh", x);
    case 3:
      return Node("Clip",
                  {x.name, Draw(4) == 0 ? "" : Scalar(-0.5).name,
                   Draw(4) == 0 ? "" : Scalar(0.75).name},
                  x.extents);
    case 4:
      return Unary("LeakyRelu", x, {{"alpha", 0.1f}});
    case 5:
      return Unary("HardSwish", x);
    case 6:
      return Unary("HardSigmoid", x, {{"alpha", 0.25f}});
    case 7:
      return Unary("Neg", x);
    case 8:
      return Unary("Sqrt", Unary("Abs", x));
    case 9:
      return Unary("Erf", x);
    case 10:
      return Unary("Elu", x);
    case 11:
      return HardSwishSpelledOut(x);
    case 12:
      return Product(x, Unary("Sigmoid", x));
    default:
      return Unary("Softplus", x);
  }
}

RandomValue RandomPatterns::HardSwishSpelledOut(const Value& x) {
  const Value shifted = Sum(x, Scalar(3));
  const Value clipped =
      Node("Clip", {shifted.name, Scalar(0).name, Scalar(6).name}, x.extents);
  if (Draw(2) == 0) {
    return Binary("Div", Product(x, clipped), Scalar(6), x.extents);
  }
  return Product(x, Binary("Div", clipped, Scalar(6), x.extents));
}

RandomValue RandomPatterns::Arithmetic(const Value& x) {
  Value other = x;
  switch (Draw(5)) {
    case 0:
      other = Scalar(0.5 + Uniform());
      break;
    case 1:
      if (x.rank() >= 1) other = Constant({x.last()}, 0.5, 1);
      break;
    case 2:
      if (x.rank() >= 3) {
        Extents extents(x.rank() - 1, 1);
        extents[0] = x.extents[1];
        other = Constant(extents, 0.5, 1);
      }
      break;
    case 3:
      other = Constant(x.extents, 0.5, 1);
      break;
    default:
      for (const Value& value : values_) {
        if (value.extents == x.extents && Draw(2) == 0) other = value;
      }
  }
  switch (Draw(7)) {
    case 0:
      return Product(x, other);
    case 1:
      return Binary("Sub", x, other, x.extents, true);
    case 2:
      return Binary("Max", x, other, x.extents, true);
    case 3:
      return Binary("Min", x, other, x.extents, true);
    case 4:
      return Binary("Div", x, Sum(Unary("Abs", other), Scalar(0.5)), x.extents);
    case 5: {
      const std::string is_above = Fresh("b");
      Add("Greater", {x.name, other.name}, {is_above}, {});
      return Node("Where", {is_above, x.name, Scalar(0.25).name}, x.extents);
    }
    default:
      return Sum(x, other);
  }
}

RandomValue RandomPatterns::GeluByErf(const Value& x) {
  const Value scaled = Draw(2) == 0
                           ? Binary("Div", x, Scalar(std::sqrt(2.0)), x.extents)
                           : Product(x, Scalar(std::sqrt(0.5)));
  const Value sum = Sum(Unary("Erf", scaled), Scalar(1));
  switch (Draw(3)) {
    case 0:
      return Product(Product(x, sum), Scalar(0.5));
    case 1:
      return Product(x, Product(sum, Scalar(0.5)));
    default:
      return Product(Product(x, Scalar(0.5)), sum);
  }
}

RandomValue RandomPatterns::GeluByTanh(const Value& x) {
  const Value cube = Draw(2) == 0 ? Binary("Pow", x, Scalar(3), x.extents)
                                  : Product(Product(x, x), x);
  const Value inner = Sum(x, Product(cube, Scalar(0.044715)));
  const Value tanh = Unary("Tanh", Product(inner, Scalar(std::sqrt(2 / M_PI))));
  const Value sum = Sum(tanh, Scalar(1));
  return Draw(2) == 0 ? Product(Product(x, Scalar(0.5)), sum)
                      : Product(Product(x, sum), Scalar(0.5));
}

RandomValue RandomPatterns::Mean(const Value& x, int64_t axis) {
  Extents extents = x.extents;
  extents[axis < 0 ? axis + x.rank() : axis] = 1;
  return Node("ReduceMean", {x.name}, extents, {{"axes", Extents{axis}}});
}

RandomValue RandomPatterns::LayerNorm(const Value& given) {
  Value x = given;
  if (Draw(2) == 0) x = Sum(x, Constant(x.extents, 1));  // a skip
  const int64_t axis = Draw(6) == 0 && x.rank() > 1 ? x.rank() - 2 : -1;
  const Value centred = Binary("Sub", x, Mean(x, axis), x.extents);
  const Value square = Draw(2) == 0
                           ? Binary("Pow", centred, Scalar(2), x.extents)
                           : Product(centred, centred);
  const Value variance = Mean(square, axis);
  const Value root = Unary("Sqrt", Sum(variance, Scalar(1e-3)));
  Value y = Draw(3) == 0 ? Product(centred, Unary("Reciprocal", root))
                         : Binary("Div", centred, root, x.extents);
  if (Draw(4) != 0) y = Product(y, Constant({x.last()}, 0.5, 1));
  if (Draw(4) != 0) y = Sum(y, Constant({x.last()}, 0.5));
  return y;
}

RandomValue RandomPatterns::Dense(const Value& x, int64_t columns) {
  const double scale =
      1 / std::sqrt(static_cast<double>(std::max<int64_t>(x.last(), 1)));
  const Value w = Constant({x.last(), columns}, 1.5 * scale);
  Extents extents = x.extents;
  extents.back() = columns;
  return Node("MatMul", {x.name, w.name}, extents);
}

RandomValue RandomPatterns::Matrix(const Value& x) {
  const int64_t columns = Draw(2) == 0 ? x.last() : Pick<int64_t>({1, 8, 24});
  Value y;
  if (x.rank() == 2 && Draw(2) == 0) {
    const bool is_turned = Draw(2) == 0;
    const Value w = Constant(
        is_turned ? Extents{columns, x.last()} : Extents{x.last(), columns},
        0.4);
    y = Node("Gemm", {x.name, w.name, Constant({columns}, 0.5).name},
             {x.extents[0], columns},
             {{"transB", int64_t{is_turned}},
              {"alpha", Draw(2) == 0 ? 1.0f : 0.5f}});
  } else {
    y = Dense(x, columns);
    if (Draw(3) != 0) y = Sum(y, Constant({columns}, 0.5));
  }
  if (Draw(2) == 0) y = Activation(y);
  if (y.extents == x.extents && Draw(2) == 0) y = Sum(y, x);
  return y;
}

RandomValue RandomPatterns::Heads(const Value& x, int64_t heads, bool is_key) {
  const int64_t size = x.last() / heads;
  const Extents split = {x.extents[0], x.extents[1], heads, size};
  const Value parts =
      Node("Reshape", {x.name, Integers({0, 0, heads, size})}, split);
  if (is_key) {
    return Node("Transpose", {parts.name}, {split[0], heads, size, split[1]},
                {{"perm", Extents{0, 2, 3, 1}}});
  }
  return Node("Transpose", {parts.name}, {split[0], heads, split[1], size},
              {{"perm", Extents{0, 2, 1, 3}}});
}

RandomValue RandomPatterns::Attention(const Value& x) {
  const int64_t heads = x.last() % 2 == 0 && x.last() > 0 ? 2 : 1;
  const int64_t length = x.extents[1];
  std::vector<Value> projected;
  for (int i = 0; i < 3; ++i) {
    projected.push_back(Dense(x, x.last()));
    if (Draw(3) != 0) {
      projected.back() = Sum(projected.back(), Constant({x.last()}, 0.3));
    }
  }
  Value q = Heads(projected[0], heads, false);
  const Value k = Heads(projected[1], heads, true);
  const Value v = Heads(projected[2], heads, false);
  const double scale =
      std::sqrt(static_cast<double>(std::max<int64_t>(x.last() / heads, 1)));
  const bool scales_query = Draw(3) == 0;
  if (scales_query) q = Product(q, Scalar(1 / scale));
  Value scores =
      Node("MatMul", {q.name, k.name}, {x.extents[0], heads, length, length});
  if (!scales_query) {
    scores = Draw(2) == 0 ? Binary("Div", scores, Scalar(scale), scores.extents)
                          : Product(scores, Scalar(1 / scale));
  }
  if (Draw(2) == 0) {
    scores = Sum(scores, Constant({1, 1, length, length}, 2));
  }
  const Value weights = Unary("Softmax", scores, {{"axis", int64_t{-1}}});
  const Value mixed = Node("MatMul", {weights.name, v.name},
                           {x.extents[0], heads, length, x.last() / heads});
  const Value turned = Node("Transpose", {mixed.name},
                            {x.extents[0], length, heads, x.last() / heads},
                            {{"perm", Extents{0, 2, 1, 3}}});
  const Value y =
      Node("Reshape", {turned.name, Integers({0, 0, x.last()})}, x.extents);
  return Draw(2) == 0 ? Sum(y, x) : y;
}

RandomValue RandomPatterns::Reduction(const Value& x) {
  const int axis = Draw(x.rank());
  if (Draw(3) == 0) {
    return Unary("Softmax", x, {{"axis", int64_t{axis}}});
  }
  const bool keeps = Draw(2) == 0 || x.rank() == 1;
  Extents extents = x.extents;
  if (keeps) {
    extents[axis] = 1;
  } else {
    extents.erase(extents.begin() + axis);
  }
  return Node(x.extents[axis] > 0 && Draw(2) == 0 ? "ReduceMax" : "ReduceMean",
              {x.name}, extents,
              {{"axes", Extents{axis}}, {"keepdims", int64_t{keeps}}});
}

RandomValue RandomPatterns::ThroughInteger(const Value& x,
                                           const std::string& scale,
                                           const std::string& zero) {
  const std::string quantized = Fresh("q");
  Add("QuantizeLinear", {x.name, scale, zero}, {quantized}, {});
  return Node("DequantizeLinear", {quantized, scale, zero}, x.extents);
}

RandomValue RandomPatterns::Quantized(const Value& x) {
  const std::string scale = Fresh("s");
  const std::string zero = Fresh("z");
  result_.graph.Constant(scale, TensorOf(DType::kFloat32, Shape(), {kQuantum}));
  const bool is_signed = Draw(2) == 0;
  result_.graph.Constant(
      zero, TensorOf(is_signed ? DType::kInt8 : DType::kUInt8, Shape(),
                     {is_signed ? 0.0 : 128.0}));
  Value y = ThroughInteger(x, scale, zero);
  if (x.rank() >= 2 && Draw(2) == 0) {
    y = Dense(y, 8);
  } else {
    y = Draw(2) == 0 ? Unary("Relu", y) : Movement(y);
  }
  return ThroughInteger(y, scale, zero);
}

}  // namespace tensord
