#include <cmath>

#include "tests/engine/ops/infer_test.h"

namespace tensord {
namespace {

using Strings = std::vector<std::string>;
using Floats = std::vector<float>;

class RecurrentTest : public InferTest {
 protected:
  // All outputs, as text.
  std::string InferAll(const TypedCase& test) {
    const absl::StatusOr<InferredCase> inferred = InferOp(test, symbols_);
    if (!inferred.ok()) return inferred.status().ToString();
    std::string text;
    for (const TensorType& type : inferred->outputs) {
      absl::StrAppend(&text, text.empty() ? "" : "; ",
                      symbols_.ToString(*type.shape));
    }
    return text;
  }

  // An LSTM of 5 inputs and 3 hidden units.
  TypedCase Lstm(std::vector<std::pair<std::string, Attribute>> attributes = {},
                 int directions = 1) {
    return {.op = "LSTM",
            .inputs = {Type({7, 2, 5}), Type({directions, 12, 5}),
                       Type({directions, 12, 3})},
            .attributes = std::move(attributes),
            .output_count = 3};
  }
  TypedCase With(TypedCase test, int input, TensorType type) {
    if (static_cast<int>(test.inputs.size()) <= input) {
      test.inputs.resize(input + 1);
    }
    test.inputs[input] = std::move(type);
    return test;
  }
};

TEST_F(RecurrentTest, ShapesInBothLayouts) {
  EXPECT_EQ(InferAll(Lstm()), "[7, 1, 2, 3]; [1, 2, 3]; [1, 2, 3]");
  EXPECT_EQ(InferAll(Lstm({{"layout", int64_t{1}}})),
            "[7, 2, 1, 3]; [7, 1, 3]; [7, 1, 3]");
  EXPECT_EQ(InferAll(Lstm({{"direction", std::string("bidirectional")}}, 2)),
            "[7, 2, 2, 3]; [2, 2, 3]; [2, 2, 3]");
  EXPECT_EQ(InferAll({.op = "GRU",
                      .inputs = {Type({"T", "N", 5}), Type({1, 9, 5}),
                                 Type({1, 9, 3})},
                      .output_count = 2}),
            "[T, 1, N, 3]; [1, N, 3]");
  EXPECT_EQ(InferAll({.op = "RNN",
                      .inputs = {Type({"T", "N", "I"}), Type({1, "W", 5}),
                                 Type({1, "W", "H"})},
                      .attributes = {{"hidden_size", int64_t{3}}}}),
            "[T, 1, N, 3]");
}

TEST_F(RecurrentTest, LayoutIsOfOperatorSet14) {
  TypedCase test = Lstm({{"layout", int64_t{1}}});
  test.opset = 13;
  EXPECT_THAT(Infer(test), IsRefusal("layout"));
  test.opset = 14;
  EXPECT_EQ(Infer(test), "float32 [7, 2, 1, 3]");
}

TEST_F(RecurrentTest, OperandsMustFitEachOther) {
  EXPECT_EQ(Infer(With(Lstm(), 3, Type({1, 24}))), "float32 [7, 1, 2, 3]");
  EXPECT_THAT(Infer(With(Lstm(), 3, Type({1, 12}))),
              IsRefusal("bias: dimension 1: 12 vs 24"));
  EXPECT_THAT(Infer(With(Lstm(), 0, Type({7, 2, 4}))),
              IsRefusal("weights: dimension 2: 5 vs 4"));
  EXPECT_THAT(Infer(With(Lstm(), 1, Type({2, 12, 5}))),
              IsRefusal("weights: dimension 0: 2 vs 1"));
  EXPECT_THAT(Infer(With(Lstm(), 2, Type({1, 12, 4}))),
              IsRefusal("weights: dimension 1: 12 vs 16"));
  EXPECT_THAT(Infer(With(Lstm(), 2, Type({1, 12}))),
              IsRefusal("input 2 has rank 2, not 3"));
  EXPECT_THAT(Infer(With(Lstm(), 4, Type(DType::kInt32, {3}))),
              IsRefusal("sequence_lens: dimension 0: 3 vs 2"));
  EXPECT_THAT(Infer(With(Lstm(), 4, Type(DType::kInt64, {2}))),
              IsRefusal("input 4 has dtype int64"));
  EXPECT_THAT(Infer(With(Lstm(), 5, Type({2, 1, 3}))),
              IsRefusal("initial_h: dimension 0: 2 vs 1"));
  EXPECT_THAT(Infer(With(Lstm(), 6, Type({1, 2, 4}))),
              IsRefusal("initial_c: dimension 2: 4 vs 3"));
  EXPECT_THAT(Infer(With(Lstm(), 7, Type({1, 12}))),
              IsRefusal("peepholes: dimension 1: 12 vs 9"));
  EXPECT_THAT(Infer(With(Lstm(), 6, Type(DType::kFloat64, {1, 2, 3}))),
              IsRefusal("float32 vs float64"));
  EXPECT_THAT(Infer(With(Lstm(), 0, Type(DType::kInt32, {7, 2, 5}))),
              IsRefusal("input 0 has dtype int32"));
}

TEST_F(RecurrentTest, AttributesMustMakeSense) {
  EXPECT_THAT(Infer(Lstm({{"direction", std::string("backward")}})),
              IsRefusal("'direction'"));
  EXPECT_THAT(Infer(Lstm({{"hidden_size", int64_t{4}}})),
              IsRefusal("hidden_size vs weights: 4 vs 3"));
  EXPECT_THAT(Infer(Lstm({{"hidden_size", int64_t{0}}})),
              IsRefusal("'hidden_size' is 0"));
  EXPECT_THAT(Infer(Lstm({{"clip", 0.0f}})), IsRefusal("'clip' is 0"));
  EXPECT_THAT(Infer(Lstm({{"clip", NAN}})), IsRefusal("'clip' is nan"));
  EXPECT_THAT(Infer(Lstm({{"linear_before_reset", int64_t{1}}})),
              IsRefusal("linear_before_reset"));
  EXPECT_THAT(Infer(Lstm({{"activations", Strings{"Tanh"}}})),
              IsRefusal("has 1 functions, not 3"));
  EXPECT_THAT(Infer(Lstm({{"activations", Strings{"Tanh", "Sin", "Tanh"}}})),
              IsRefusal("'Sin', which is no function"));
  EXPECT_THAT(Infer(Lstm({{"activations", std::string("Tanh")}})),
              IsRefusal("'activations' has type string"));
}

TEST_F(RecurrentTest, FactorsBelongToTheFunctionsThatTakeThem) {
  const auto with = [&](Floats alpha, Floats beta) {
    return Infer(Lstm({{"activations", Strings{"Affine", "Tanh", "LeakyRelu"}},
                       {"activation_alpha", alpha},
                       {"activation_beta", beta}}));
  };
  EXPECT_EQ(with({2}, {1}), "float32 [7, 1, 2, 3]");
  EXPECT_EQ(with({2, 0.5f}, {1}), "float32 [7, 1, 2, 3]");
  EXPECT_THAT(with({}, {1}), IsRefusal("none for Affine"));
  EXPECT_THAT(with({2}, {}), IsRefusal("none for Affine"));
  EXPECT_THAT(with({2, 3, 4}, {1}),
              IsRefusal("has 3 values, and the activations take 2"));
  EXPECT_THAT(Infer(Lstm({{"activation_alpha", Floats{1}}})),
              IsRefusal("the activations take 0"));
}

TEST_F(RecurrentTest, AProductPastEverySizeIsRefused) {
  EXPECT_THAT(Infer({.op = "LSTM",
                     .inputs = {Type({1 << 30, 1 << 10, 0}), Type({1, 4096, 0}),
                                Type({1, 4096, 1024})}}),
              IsRefusal("more than"));
}

}  // namespace
}  // namespace tensord
