#include "tests/engine/ops/infer_test.h"

namespace tensord {
namespace {

class CumulativeTest : public InferTest {};

constexpr const char* kOps[] = {"CumSum", "CumProd"};

TEST_F(CumulativeTest, KeepsItsType) {
  for (const char* op : kOps) {
    TypedCase test = {.op = op,
                      .inputs = {Type(DType::kInt64, {"N", 3}), Int64s(1)},
                      .opset = 26};
    EXPECT_EQ(Infer(test), "int64 [N, 3]");
    test.constants = {HostTensor(), Known({-2})};
    EXPECT_EQ(Infer(test), "int64 [N, 3]");
  }
}

TEST_F(CumulativeTest, RefusesWhatIsNotInTheStandard) {
  for (const char* op : kOps) {
    TypedCase test = {.op = op,
                      .inputs = {Type({"N", 3}), Int64s(1)},
                      .opset = 26,
                      .constants = {HostTensor(), Known({2})}};
    EXPECT_THAT(Infer(test), IsRefusal("axis 2 is outside [-2, 2)"));
    test.constants = {};
    test.inputs[1] = Int64s(2);
    EXPECT_THAT(Infer(test), IsRefusal("input 1 has shape [2]"));
    test.inputs[1] = Type({1});
    EXPECT_THAT(Infer(test), IsRefusal("input 1 has dtype float32"));
    test.inputs[1] = Int64s(1);
    test.inputs[0] = Type(DType::kInt8, {3});
    EXPECT_THAT(Infer(test), IsRefusal("input 0 has dtype int8"));
    test.inputs[0] = Type({});
    EXPECT_THAT(Infer(test), IsRefusal("input 0 has rank 0"));
    test.inputs[0] = Type({3});
    test.attributes = {{"exclusive", int64_t{2}}};
    EXPECT_THAT(Infer(test), IsRefusal("'exclusive' is 2, not 0 or 1"));
  }
}

}  // namespace
}  // namespace tensord
