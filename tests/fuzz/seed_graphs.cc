#include "tests/fuzz/seed_graphs.h"

#include <cstdint>
#include <string>
#include <utility>

#include "tests/support/graph_maker.h"

namespace tensord {
namespace {

using Ints = std::vector<int64_t>;

// One operator of one input, and its attributes.
SeedGraph Unary(const std::string& op, std::vector<GraphMaker::Extent> dims,
                GraphMaker::Attrs attrs = {}) {
  return {op, GraphMaker()
                  .Input("x", dims)
                  .Node(op, {"x"}, {"y"}, std::move(attrs))
                  .Output("y")
                  .Def()};
}

}  // namespace

std::vector<SeedGraph> SeedGraphs() {
  std::vector<SeedGraph> seeds;
  for (const char* op : {"Abs", "Exp", "Relu", "Sigmoid", "Tanh", "Identity",
                         "NonZero", "GlobalAveragePool", "GlobalMaxPool"}) {
    seeds.push_back(Unary(op, {"n", 3, 4, 4}));
  }
  seeds.push_back(Unary("Softmax", {"n", 10}, {{"axis", int64_t{-1}}}));
  seeds.push_back(Unary("Flatten", {"n", 3, 4}, {{"axis", int64_t{1}}}));
  seeds.push_back(Unary("MaxPool", {1, 2, 8, 8},
                        {{"kernel_shape", Ints{3, 3}},
                         {"strides", Ints{2, 2}},
                         {"pads", Ints{1, 1, 1, 1}},
                         {"ceil_mode", int64_t{1}}}));
  seeds.push_back(Unary(
      "AveragePool", {1, 2, 8, 8},
      {{"kernel_shape", Ints{2, 2}}, {"auto_pad", std::string("SAME_UPPER")}}));
  seeds.push_back({"elementwise", GraphMaker()
                                      .Input("x", {"n", 1, 3})
                                      .Input("z", {2, 3}, DType::kFloat32)
                                      .Initializer("w", FloatTensor({3}))
                                      .Node("Add", {"x", "w"}, {"a"})
                                      .Node("Sub", {"a", "z"}, {"b"})
                                      .Node("Mul", {"b", "b"}, {"c"})
                                      .Node("Div", {"c", "w"}, {"d"})
                                      .Node("Pow", {"d", "w"}, {"y"})
                                      .Output("y")
                                      .Def()});
  seeds.push_back(
      {"conv", GraphMaker()
                   .Input("x", {"n", 2, 6, 6})
                   .Initializer("w", FloatTensor({4, 2, 3, 3}))
                   .Initializer("b", FloatTensor({4}))
                   .Initializer("s", FloatTensor({4}, 1))
                   .Node("Conv", {"x", "w", "b"}, {"c"},
                         {{"kernel_shape", Ints{3, 3}},
                          {"pads", Ints{1, 1, 1, 1}},
                          {"dilations", Ints{1, 1}},
                          {"group", int64_t{1}}})
                   .Node("BatchNormalization", {"c", "s", "b", "b", "s"}, {"y"},
                         {{"epsilon", 1e-3f}})
                   .Output("y")
                   .Def()});
  seeds.push_back(
      {"gemm", GraphMaker()
                   .Opset(9)
                   .Input("x", {"n", 3})
                   .Input("w", {4, 3})  // an initializer in older files
                   .Initializer("w", FloatTensor({4, 3}))
                   .Initializer("c", FloatTensor({4}))
                   .Node("Gemm", {"x", "w", "c"}, {"g"},
                         {{"alpha", 0.5f}, {"transB", int64_t{1}}})
                   .Node("LogSoftmax", {"g"}, {"y"})
                   .OutputAs("y", {"n", 4})
                   .Def()});
  seeds.push_back(
      {"fold",
       GraphMaker()
           .Initializer("a", FloatTensor({2, 3}))
           .Node("Constant", {}, {"c"}, {{"value", FloatTensor({3, 2})}})
           .Node("Constant", {}, {"f"}, {{"value_float", 2.0f}})
           .Node("Constant", {}, {"fs"},
                 {{"value_floats", std::vector<float>{1, 2}}})
           .Node("Constant", {}, {"is"}, {{"value_ints", Ints{1, 2}}})
           .Node("Constant", {}, {"i"}, {{"value_int", int64_t{3}}})
           .Node("MatMul", {"a", "c"}, {"m"})
           .Node("Mul", {"m", "f"}, {"s"})
           .Node("Add", {"s", "fs"}, {"y"})
           .Node("Add", {"i", "is"}, {"j"})
           .Output("y")
           .Output("j")
           .Def()});
  seeds.push_back({"concat", GraphMaker()
                                 .Input("x", {"n", 3})
                                 .Input("z", {"m", 3})
                                 .Node("Concat", {"x", "z", "x"}, {"c"},
                                       {{"axis", int64_t{0}}})
                                 .Node("NonZero", {"c"}, {"y"})
                                 .Output("y")
                                 .Output("c")
                                 .Def()});
  seeds.push_back({"empty_and_scalar", GraphMaker()
                                           .Input("e", {0, 5})
                                           .Input("s", {})
                                           .InputOfUnknownRank("u")
                                           .Node("Relu", {"e"}, {"a"})
                                           .Node("Relu", {"s"}, {"b"})
                                           .Node("Relu", {"u"}, {"c"})
                                           .Output("a")
                                           .Output("b")
                                           .Output("c")
                                           .Def()});
  GraphDef body = GraphMaker().Node("Relu", {"x"}, {"y"}).Output("y").Def();
  seeds.push_back(
      {"nested",
       GraphMaker()
           .Input("x", {3})
           .Input("c", {}, DType::kBool)
           .Node("If", {"c"}, {"y"},
                 {{"then_branch", std::make_shared<const GraphDef>(body)},
                  {"else_branch", std::make_shared<const GraphDef>(body)}})
           .Output("y")
           .Def()});
  seeds.push_back(
      {"strings", GraphMaker()
                      .Input("x", {3})
                      .Node("Relu", {"x"}, {"y"},
                            {{"names", std::vector<std::string>{"a", "b"}}})
                      .Output("y")
                      .Def()});
  return seeds;
}

}  // namespace tensord
