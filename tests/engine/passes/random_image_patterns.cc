#include <numeric>
#include <utility>

#include "tests/engine/passes/random_patterns.h"

namespace tensord {

RandomValue RandomPatterns::Convolution(const Value& x) {
  const int64_t channels = x.extents[1];
  const bool is_depthwise = Draw(3) == 0 && channels > 0;
  const int64_t kernel = Draw(2) == 0 || x.extents[2] < 3 ? 1 : 3;
  if (x.extents[3] < kernel) return Activation(x);
  const int64_t stride = Draw(3) == 0 ? 2 : 1;
  const int64_t pad = kernel == 3 ? Draw(2) : 0;
  const int64_t outputs =
      is_depthwise || Draw(2) == 0 ? channels : Pick<int64_t>({4, 16});
  const auto extent = [&](int64_t in) {
    return (in + 2 * pad - kernel) / stride + 1;
  };
  std::vector<std::string> inputs = {
      x.name,
      Constant({outputs, is_depthwise ? 1 : channels, kernel, kernel}, 0.4)
          .name};
  if (Draw(2) == 0) inputs.push_back(Constant({outputs}, 0.5).name);
  Value y =
      Node("Conv", inputs,
           {x.extents[0], outputs, extent(x.extents[2]), extent(x.extents[3])},
           {{"pads", Extents{pad, pad, pad, pad}},
            {"strides", Extents{stride, stride}},
            {"group", is_depthwise ? channels : int64_t{1}}});
  if (Draw(2) == 0) {
    y = Node("BatchNormalization",
             {y.name, Constant({outputs}, 0.5, 1).name,
              Constant({outputs}, 0.5).name, Constant({outputs}, 0.5).name,
              Constant({outputs}, 0.25, 1).name},
             y.extents);
  }
  const bool adds_first = Draw(2) == 0;
  if (adds_first && y.extents == x.extents) y = Sum(y, x);
  if (Draw(3) != 0) y = Activation(y);
  if (!adds_first && y.extents == x.extents) y = Sum(y, x);
  return y;
}

RandomValue RandomPatterns::Image(const Value& x) {
  const int64_t channels = x.extents[1];
  switch (Draw(5)) {
    case 0: {  // squeeze and excite
      if (x.extents[2] * x.extents[3] == 0) break;
      const Value mean =
          Node("GlobalAveragePool", {x.name}, {x.extents[0], channels, 1, 1});
      const Value w = Constant({channels, channels, 1, 1}, 0.3);
      const Value gate = Unary(Draw(2) == 0 ? "Sigmoid" : "HardSigmoid",
                               Node("Conv", {mean.name, w.name}, mean.extents));
      return Product(x, gate);
    }
    case 1: {
      if (x.extents[2] < 2 || x.extents[3] < 2) break;
      return Node(
          Draw(2) == 0 ? "MaxPool" : "AveragePool", {x.name},
          {x.extents[0], channels, x.extents[2] / 2, x.extents[3] / 2},
          {{"kernel_shape", Extents{2, 2}}, {"strides", Extents{2, 2}}});
    }
    case 2: {  // a shuffle of channels
      if (channels % 2 != 0) break;
      const int64_t h = x.extents[2];
      const int64_t w = x.extents[3];
      const Value parts = Node(
          "Reshape", {x.name, Integers({0, 2, channels / 2, h, w})},
          {x.extents[0], 2, channels / 2, h, w}, {{"allowzero", int64_t{0}}});
      const Value turned =
          Node("Transpose", {parts.name}, {x.extents[0], channels / 2, 2, h, w},
               {{"perm", Extents{0, 2, 1, 3, 4}}});
      return Node("Reshape", {turned.name, Integers({0, channels, h, w})},
                  x.extents);
    }
    case 3:
      return Node("Resize",
                  {x.name, "", "",
                   Integers({x.extents[0], channels, x.extents[2] * 2,
                             x.extents[3] * 2})},
                  {x.extents[0], channels, x.extents[2] * 2, x.extents[3] * 2},
                  {{"mode", std::string("nearest")}});
  }
  return Convolution(x);
}

RandomValue RandomPatterns::Movement(const Value& x) {
  if (x.rank() == 0) return Activation(x);
  switch (Draw(7)) {
    case 0: {
      Extents perm(x.rank());
      std::iota(perm.begin(), perm.end(), 0);
      for (size_t i = perm.size(); i > 1; --i) {
        std::swap(perm[i - 1], perm[Draw(static_cast<int>(i))]);
      }
      Extents extents;
      for (int64_t d : perm) extents.push_back(x.extents[d]);
      const Value turned =
          Node("Transpose", {x.name}, extents, {{"perm", perm}});
      return Draw(2) == 0 ? Activation(turned) : turned;
    }
    case 1:
      if (x.count() == 0) break;
      return Node("Reshape", {x.name, Integers({x.extents[0], -1})},
                  {x.extents[0], x.count() / x.extents[0]});
    case 2: {
      const int axis = Draw(x.rank());
      if (x.extents[axis] < 2) break;
      Extents extents = x.extents;
      extents[axis] -= 1;
      return Node("Slice",
                  {x.name, Integers({1}), Integers({x.extents[axis]}),
                   Integers({axis})},
                  extents);
    }
    case 3: {
      const int axis = Draw(x.rank());
      Extents extents = x.extents;
      extents[axis] *= 2;
      const Value other = Activation(x);
      return Node("Concat", {x.name, other.name}, extents,
                  {{"axis", int64_t{axis}}});
    }
    case 4: {
      Extents extents = x.extents;
      const int axis = Draw(x.rank() + 1);
      if (extents.size() >= 5) break;
      extents.insert(extents.begin() + axis, 1);
      const Value wider =
          Node("Unsqueeze", {x.name, Integers({axis})}, extents);
      return Node("Squeeze", {Activation(wider).name, Integers({axis})},
                  x.extents);
    }
    case 5: {
      const int axis = Draw(x.rank());
      if (x.extents[axis] < 2 || x.extents[axis] % 2 != 0) break;
      Extents extents = x.extents;
      extents[axis] /= 2;
      const Value a{Fresh("v"), extents};
      const Value b{Fresh("v"), extents};
      Add("Split", {x.name}, {a.name, b.name}, {{"axis", int64_t{axis}}});
      return Draw(2) == 0 ? Sum(a, b) : Product(a, Unary("Sigmoid", b));
    }
    default: {
      Extents pads(2 * x.rank(), 0);
      Extents extents = x.extents;
      pads[x.rank() - 1] = 1;
      extents.back() += 1;
      return Node("Pad", {x.name, Integers(pads)}, extents);
    }
  }
  return Unary("Identity", x);
}

}  // namespace tensord
