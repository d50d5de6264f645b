#include "engine/passes/fuse_gelu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/engine/passes/pass_test.h"

namespace tensord {
namespace {

using testing::ElementsAre;
using testing::Gt;
using testing::SizeIs;

class FuseGeluTest : public PassTest {
 protected:
  Graph Fused(const TestGraph& graph) { return After(&FuseGelu, graph); }
};

TestGraph Start(DType dtype = DType::kFloat32) {
  const auto number = [dtype](double value) {
    return TensorOf(dtype, Shape({}), {value});
  };
  return TestGraph()
      .Input("x", dtype, {"N", 8})
      .Constant("1", number(1))
      .Constant("2", number(2))
      .Constant("3", number(3))
      .Constant("0.5", number(0.5))
      .Constant("sqrt2", number(1.4142135623730951))
      .Constant("sqrt0.5", number(0.7071067811865476))
      .Constant("k", number(0.7978845608028654))
      .Constant("c", number(0.044715));
}

bool IsByTanh(const Graph& graph) {
  return std::get<GeluParams>(graph.nodes[0].params).approximates_by_tanh;
}

TEST_F(FuseGeluTest, ByErf) {
  const TestGraph divided = Start()
                                .Node("Div", {"x", "sqrt2"}, {"u"})
                                .Node("Erf", {"u"}, {"e"})
                                .Node("Add", {"e", "1"}, {"g"})
                                .Node("Mul", {"x", "g"}, {"p"})
                                .Node("Mul", {"p", "0.5"}, {"y"}, {}, "last")
                                .Output("y");
  const Graph fused = Fused(divided);
  EXPECT_THAT(Nodes(fused), ElementsAre("Gelu: x -> y"));
  EXPECT_FALSE(IsByTanh(fused));
  EXPECT_EQ(fused.nodes[0].name, "last");
  EXPECT_THAT(fused.nodes[0].fused_from, SizeIs(5));

  EXPECT_THAT(Nodes(Fused(Start()
                              .Node("Mul", {"0.5", "x"}, {"h"})
                              .Node("Mul", {"x", "sqrt0.5"}, {"u"})
                              .Node("Erf", {"u"}, {"e"})
                              .Node("Add", {"1", "e"}, {"g"})
                              .Node("Mul", {"h", "g"}, {"y"})
                              .Output("y"))),
              ElementsAre("Gelu: x -> y"));
  EXPECT_THAT(Nodes(Fused(Start()
                              .Node("Div", {"x", "sqrt2"}, {"u"})
                              .Node("Erf", {"u"}, {"e"})
                              .Node("Add", {"e", "1"}, {"g"})
                              .Node("Div", {"g", "2"}, {"h"})
                              .Node("Mul", {"h", "x"}, {"y"})
                              .Output("y"))),
              ElementsAre("Gelu: x -> y"));
}

// x may be a product itself.
TEST_F(FuseGeluTest, OfAProduct) {
  EXPECT_THAT(Nodes(Fused(Start()
                              .Node("Mul", {"x", "x"}, {"z"})
                              .Node("Div", {"z", "sqrt2"}, {"u"})
                              .Node("Erf", {"u"}, {"e"})
                              .Node("Add", {"e", "1"}, {"g"})
                              .Node("Mul", {"z", "g"}, {"p"})
                              .Node("Mul", {"p", "0.5"}, {"y"})
                              .Output("y"))),
              ElementsAre("Mul: x x -> z", "Gelu: z -> y"));
}

TEST_F(FuseGeluTest, ByTanh) {
  const Graph fused = Fused(Start()
                                .Node("Pow", {"x", "3"}, {"xxx"})
                                .Node("Mul", {"xxx", "c"}, {"t"})
                                .Node("Add", {"x", "t"}, {"s"})
                                .Node("Mul", {"s", "k"}, {"u"})
                                .Node("Tanh", {"u"}, {"e"})
                                .Node("Add", {"e", "1"}, {"g"})
                                .Node("Mul", {"x", "0.5"}, {"h"})
                                .Node("Mul", {"h", "g"}, {"y"})
                                .Output("y"));
  EXPECT_THAT(Nodes(fused), ElementsAre("Gelu: x -> y"));
  EXPECT_TRUE(IsByTanh(fused));
  // Powers as products.
  EXPECT_THAT(Nodes(Fused(Start()
                              .Node("Mul", {"x", "x"}, {"xx"})
                              .Node("Mul", {"x", "xx"}, {"xxx"})
                              .Node("Mul", {"c", "xxx"}, {"t"})
                              .Node("Add", {"t", "x"}, {"s"})
                              .Node("Mul", {"k", "s"}, {"u"})
                              .Node("Tanh", {"u"}, {"e"})
                              .Node("Add", {"1", "e"}, {"g"})
                              .Node("Mul", {"x", "g"}, {"p"})
                              .Node("Mul", {"0.5", "p"}, {"y"})
                              .Output("y"))),
              ElementsAre("Gelu: x -> y"));
  // x taken out of the sum.
  EXPECT_THAT(Nodes(Fused(Start()
                              .Node("Pow", {"x", "2"}, {"xx"})
                              .Node("Mul", {"xx", "c"}, {"t"})
                              .Node("Add", {"t", "1"}, {"s"})
                              .Node("Mul", {"x", "k"}, {"kx"})
                              .Node("Mul", {"kx", "s"}, {"u"})
                              .Node("Tanh", {"u"}, {"e"})
                              .Node("Add", {"e", "1"}, {"g"})
                              .Node("Mul", {"x", "0.5"}, {"h"})
                              .Node("Mul", {"h", "g"}, {"y"})
                              .Output("y"))),
              ElementsAre("Gelu: x -> y"));
}

// Of 16 bits the constants are rounded.
TEST_F(FuseGeluTest, NumbersAreAsNearAsTheirDType) {
  for (DType dtype : {DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    EXPECT_THAT(Nodes(Fused(Start(dtype)
                                .Node("Pow", {"x", "3"}, {"xxx"})
                                .Node("Mul", {"xxx", "c"}, {"t"})
                                .Node("Add", {"x", "t"}, {"s"})
                                .Node("Mul", {"s", "k"}, {"u"})
                                .Node("Tanh", {"u"}, {"e"})
                                .Node("Add", {"e", "1"}, {"g"})
                                .Node("Mul", {"x", "0.5"}, {"h"})
                                .Node("Mul", {"h", "g"}, {"y"})
                                .Output("y"))),
                ElementsAre("Gelu: x -> y"))
        << DTypeName(dtype);
  }
}

TEST_F(FuseGeluTest, OtherFunctionsStay) {
  // Another factor.
  EXPECT_THAT(Nodes(Fused(Start()
                              .Node("Div", {"x", "2"}, {"u"})
                              .Node("Erf", {"u"}, {"e"})
                              .Node("Add", {"e", "1"}, {"g"})
                              .Node("Mul", {"x", "g"}, {"p"})
                              .Node("Mul", {"p", "0.5"}, {"y"})
                              .Output("y"))),
              SizeIs(5));
  // Half of it.
  EXPECT_THAT(Nodes(Fused(Start()
                              .Node("Div", {"x", "sqrt2"}, {"u"})
                              .Node("Erf", {"u"}, {"e"})
                              .Node("Add", {"e", "1"}, {"g"})
                              .Node("Mul", {"x", "g"}, {"y"})
                              .Output("y"))),
              SizeIs(4));
  // Read inside.
  EXPECT_THAT(Nodes(Fused(Start()
                              .Node("Div", {"x", "sqrt2"}, {"u"})
                              .Node("Erf", {"u"}, {"e"})
                              .Node("Add", {"e", "1"}, {"g"})
                              .Node("Mul", {"x", "g"}, {"p"})
                              .Node("Mul", {"p", "0.5"}, {"y"})
                              .Output("y")
                              .Output("u"))),
              SizeIs(Gt(1)));
}

}  // namespace
}  // namespace tensord
