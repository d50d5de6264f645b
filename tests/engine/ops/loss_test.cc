#include "tests/engine/ops/infer_test.h"

namespace tensord {
namespace {

class LossTest : public InferTest {
 protected:
  TypedCase Case(std::string op, std::vector<NamedDim> scores,
                 std::vector<NamedDim> targets) {
    return {.op = std::move(op),
            .inputs = {Type(std::move(scores)),
                       Type(DType::kInt64, std::move(targets))}};
  }
  TypedCase WithReduction(TypedCase test, std::string reduction) {
    test.attributes.emplace_back("reduction", std::move(reduction));
    return test;
  }
};

constexpr const char* kOps[] = {"NegativeLogLikelihoodLoss",
                                "SoftmaxCrossEntropyLoss"};

TEST_F(LossTest, IsOneElementUnlessItIsOfEverySample) {
  for (const char* op : kOps) {
    const TypedCase test = Case(op, {"N", 5, 3, "W"}, {4, "H", "V"});
    EXPECT_EQ(Infer(test), "float32 []");
    EXPECT_EQ(Infer(WithReduction(test, "mean")), "float32 []");
    EXPECT_EQ(Infer(WithReduction(test, "sum")), "float32 []");
    // A number from either input wins against a symbol.
    EXPECT_EQ(Infer(WithReduction(test, "none")), "float32 [4, 3, W]");
  }
}

TEST_F(LossTest, LogProbabilitiesHaveTheTypeOfTheScores) {
  TypedCase test = Case(kOps[1], {"N", 5, 7}, {"N", 7});
  test.inputs[0].dtype = DType::kBFloat16;
  test.output_count = 2;
  const absl::StatusOr<InferredCase> inferred = InferOp(test, symbols_);
  ASSERT_THAT(inferred, IsOk());
  EXPECT_EQ(inferred->outputs[1].dtype, DType::kBFloat16);
  EXPECT_EQ(symbols_.ToString(*inferred->outputs[1].shape), "[N, 5, 7]");
  test.op = kOps[0];
  EXPECT_THAT(Infer(test), IsRefusal("2 outputs"));
}

TEST_F(LossTest, EveryOperatorSetSinceItsFirstIsRead) {
  for (const char* op : kOps) {
    for (int64_t opset : {12, 13, 15, 22}) {
      TypedCase test = WithReduction(Case(op, {2, 5}, {2}), "none");
      test.attributes.emplace_back("ignore_index", int64_t{-100});
      test.inputs.push_back(Type({5}));
      test.opset = opset;
      EXPECT_EQ(Infer(test), "float32 [2]");
    }
  }
}

TEST_F(LossTest, RefusesAttributesThatItDoesNotKnow) {
  for (const char* op : kOps) {
    const TypedCase test = Case(op, {2, 5}, {2});
    EXPECT_THAT(Infer(WithReduction(test, "Mean\n")),
                IsRefusal("'reduction' is 'Mean\\n', not none, mean or sum"));
    TypedCase other = test;
    other.attributes.emplace_back("ignore_index", 1.0f);
    EXPECT_THAT(Infer(other), IsRefusal("ignore_index"));
    other.attributes = {{"size_average", int64_t{1}}};
    EXPECT_THAT(Infer(other), IsRefusal("size_average"));
  }
}

TEST_F(LossTest, RefusesInputsThatDoNotFit) {
  for (const char* op : kOps) {
    EXPECT_THAT(Infer(Case(op, {5}, {})),
                IsRefusal("input 0 has rank 1, not 2 or more"));
    EXPECT_THAT(Infer(Case(op, {2, 5}, {2, 1})),
                IsRefusal("input 1 has rank 2, not 1"));
    EXPECT_THAT(Infer(Case(op, {2, 5}, {3})),
                IsRefusal("dimension 0 of the targets should be 2 vs 3"));
    EXPECT_THAT(Infer(Case(op, {2, 5, 7}, {2, 5})),
                IsRefusal("dimension 1 of the targets should be 7 vs 5"));
    TypedCase test = Case(op, {2, 5}, {2});
    test.inputs[0].dtype = DType::kInt32;
    EXPECT_THAT(Infer(test), IsRefusal("input 0 has dtype int32"));
    test = Case(op, {2, 5}, {2});
    test.inputs[1].dtype = DType::kUInt8;
    EXPECT_THAT(Infer(test), IsRefusal("input 1 has dtype uint8"));
  }
}

TEST_F(LossTest, RefusesWeightsThatAreNotOneForEachClass) {
  for (const char* op : kOps) {
    TypedCase test = Case(op, {2, 5}, {2});
    test.inputs.push_back(Type({4}));
    EXPECT_THAT(Infer(test),
                IsRefusal("classes of the scores vs of the weights: 5 vs 4"));
    test.inputs[2] = Type({1, 5});
    EXPECT_THAT(Infer(test), IsRefusal("input 2 has rank 2, not 1"));
    test.inputs[2] = Type({5}, DType::kFloat64);
    EXPECT_THAT(Infer(test),
                IsRefusal("inputs 0 and 2 have dtypes float32 vs float64"));
  }
}

}  // namespace
}  // namespace tensord
