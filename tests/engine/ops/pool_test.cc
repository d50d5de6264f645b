#include "tests/engine/ops/infer_test.h"

namespace tensord {
namespace {

using PoolOpsTest = InferTest;

TEST_F(PoolOpsTest, MaxPoolsIndicesHaveItsShape) {
  SymbolTable symbols;
  const absl::StatusOr<InferredCase> inferred = InferOp(
      {.op = "MaxPool",
       .inputs = {Type({2, 3, 8})},
       .attributes = {{"kernel_shape", Ints{3}}, {"storage_order", int64_t{1}}},
       .output_count = 2},
      symbols);
  ASSERT_THAT(inferred, IsOk());
  EXPECT_EQ(inferred->outputs[1].dtype, DType::kInt64);
  EXPECT_EQ(inferred->outputs[1].shape, inferred->outputs[0].shape);
  EXPECT_THAT(Infer({.op = "MaxPool",
                     .inputs = {Type({2, 3, 8})},
                     .attributes = {{"kernel_shape", Ints{3}},
                                    {"storage_order", int64_t{2}}}}),
              IsRefusal("'storage_order' is 2"));
  EXPECT_THAT(Infer({.op = "MaxPool",
                     .inputs = {Type({2, 3, 8})},
                     .attributes = {{"kernel_shape", Ints{3}},
                                    {"storage_order", int64_t{1}}},
                     .opset = 7}),
              IsRefusal("storage_order"));
}

TEST_F(PoolOpsTest, LpPool) {
  const auto with = [&](std::vector<std::pair<std::string, Attribute>> more,
                        int64_t opset = 18) {
    more.push_back({"kernel_shape", Ints{3}});
    return Infer({.op = "LpPool",
                  .inputs = {Type({2, 3, 8})},
                  .attributes = std::move(more),
                  .opset = opset});
  };
  EXPECT_EQ(with({}), "float32 [2, 3, 6]");
  EXPECT_EQ(with({{"ceil_mode", int64_t{1}}, {"strides", Ints{2}}}),
            "float32 [2, 3, 4]");
  EXPECT_THAT(with({{"p", int64_t{0}}}), IsRefusal("'p' is 0"));
  EXPECT_THAT(with({{"p", 2.0f}}), IsRefusal("'p' has type float"));
  EXPECT_THAT(with({{"ceil_mode", int64_t{1}}}, 17), IsRefusal("ceil_mode"));
  EXPECT_THAT(with({{"dilations", Ints{1}}}, 17), IsRefusal("dilations"));
  EXPECT_THAT(with({{"count_include_pad", int64_t{1}}}),
              IsRefusal("count_include_pad"));
  EXPECT_EQ(Infer({.op = "GlobalLpPool",
                   .inputs = {Type({"N", 3, "W"})},
                   .attributes = {{"p", int64_t{3}}}}),
            "float32 [N, 3, 1]");
  EXPECT_THAT(Infer({.op = "GlobalLpPool",
                     .inputs = {Type({1, 3, 4})},
                     .attributes = {{"p", int64_t{-2}}}}),
              IsRefusal("'p' is -2"));
}

TEST_F(PoolOpsTest, MaxUnpoolTurnsMaxPoolAround) {
  const auto with = [&](TensorType indices,
                        std::vector<std::pair<std::string, Attribute>> more) {
    more.push_back({"kernel_shape", Ints{3, 2}});
    return Infer({.op = "MaxUnpool",
                  .inputs = {Type({"N", 3, 4, "W"}), std::move(indices)},
                  .attributes = std::move(more)});
  };
  const auto indices = [&] { return Type(DType::kInt64, {"N", 3, 4, "W"}); };
  EXPECT_EQ(with(indices(), {}), "float32 [N, 3, 6, (W+1)]");
  EXPECT_EQ(
      with(indices(), {{"strides", Ints{2, 2}}, {"pads", Ints{1, 0, 1, 0}}}),
      "float32 [N, 3, 7, (W*2)]");
  EXPECT_THAT(with(indices(), {{"pads", Ints{3, 0, 3, 0}}}),
              IsRefusal("leaves 0 outputs"));
  EXPECT_THAT(with(Type(DType::kInt32, {"N", 3, 4, "W"}), {}),
              IsRefusal("input 1 has dtype int32"));
  EXPECT_THAT(with(Type(DType::kInt64, {"N", 3, 5, "W"}), {}),
              IsRefusal("x vs indices: dimension 2: 4 vs 5"));
  EXPECT_THAT(with(indices(), {{"strides", Ints{2}}}),
              IsRefusal("'strides' has 1 elements, not 2"));
  EXPECT_THAT(Infer({.op = "MaxUnpool",
                     .inputs = {Type({1, 1, 2}), Type(DType::kInt64, {1, 1, 2}),
                                Int64s(3)},
                     .attributes = {{"kernel_shape", Ints{2}}}}),
              NeedsInput(2));
  EXPECT_THAT(Infer({.op = "MaxUnpool",
                     .inputs = {Type({1, 1, 2}), Type(DType::kInt64, {1, 1, 2}),
                                Int64s(2)},
                     .attributes = {{"kernel_shape", Ints{2}}}}),
              IsRefusal("extents of output_shape vs rank: 2 vs 3"));
  EXPECT_THAT(
      Infer({.op = "MaxUnpool",
             .inputs = {Type({1, 1, 2}), Type(DType::kInt64, {1, 1, 2})}}),
      IsRefusal("'kernel_shape' is missing"));
}

TEST_F(PoolOpsTest, Lrn) {
  const auto with = [&](std::vector<std::pair<std::string, Attribute>> more) {
    return Infer({.op = "LRN",
                  .inputs = {Type({"N", 3, 4})},
                  .attributes = std::move(more)});
  };
  EXPECT_EQ(with({{"size", int64_t{5}}}), "float32 [N, 3, 4]");
  EXPECT_THAT(with({}), IsRefusal("'size' is missing"));
  EXPECT_THAT(with({{"size", int64_t{0}}}), IsRefusal("'size' is 0"));
  EXPECT_THAT(with({{"size", INT64_MAX}}), IsRefusal("'size' is 9223372"));
  EXPECT_THAT(Infer({.op = "LRN",
                     .inputs = {Type({3})},
                     .attributes = {{"size", int64_t{1}}}}),
              IsRefusal("input 0 has rank 1"));
}

}  // namespace
}  // namespace tensord
