#include "tests/engine/ops/infer_test.h"

namespace tensord {
namespace {

class EinsumTest : public InferTest {
 protected:
  std::string Einsum(const std::string& equation,
                     std::vector<TensorType> inputs) {
    return Infer({.op = "Einsum",
                  .inputs = std::move(inputs),
                  .attributes = {{"equation", equation}}});
  }
};

TEST_F(EinsumTest, TheOutputHasItsLabelsExtents) {
  EXPECT_EQ(Einsum("bij,bjk->bik", {Type({"B", 2, "J"}), Type({"B", "J", 4})}),
            "float32 [B, 2, 4]");
  EXPECT_EQ(Einsum("ij,jk->ki", {Type({2, "J"}), Type({3, "K"})}),
            "float32 [K, 2]");
  EXPECT_EQ(Einsum("ij,ij->ij", {Type({"N", 2}), Type({3, "M"})}),
            "float32 [3, 2]");
  EXPECT_EQ(Einsum("ii", {Type({"N", "N"})}), "float32 []");
  EXPECT_EQ(Einsum("...ij,...jk", {Type({"N", 1, 2, 3}), Type({1, 5, 3, 4})}),
            "float32 [N, 5, 2, 4]");
  EXPECT_EQ(Einsum("...i->i...", {Type({2, "N", 4})}), "float32 [4, 2, N]");
}

TEST_F(EinsumTest, WithoutAnArrowLabelsThatAreThereOnceComeOutInOrder) {
  EXPECT_EQ(Einsum("bAa", {Type({2, 3, 4})}), "float32 [3, 4, 2]");
  EXPECT_EQ(Einsum("kj,ji", {Type({2, 3}), Type({3, 4})}), "float32 [4, 2]");
  EXPECT_EQ(Einsum("i...", {Type({2, 3})}), "float32 [3, 2]");
}

TEST_F(EinsumTest, RefusesWhatIsNoEquation) {
  const std::vector<TensorType> two = {Type({2, 2}), Type({2, 2})};
  EXPECT_THAT(Einsum("ij,j1->i", two), IsRefusal("'1' is no letter"));
  EXPECT_THAT(Einsum("ij,j.->i", two), IsRefusal("'.' is no letter"));
  EXPECT_THAT(Einsum("ij,jk->ik->k", two), IsRefusal("'-' is no letter"));
  EXPECT_THAT(Einsum("......,ij", two), IsRefusal("two ellipses"));
  EXPECT_THAT(Einsum("ij->i", two), IsRefusal("1 terms for 2 inputs"));
  EXPECT_THAT(Einsum("ij,jk,k->i", two), IsRefusal("3 terms for 2 inputs"));
  EXPECT_THAT(Einsum("ij,jk->iz", two),
              IsRefusal("no input has the output's label 'z'"));
  EXPECT_THAT(Einsum("ij,jk->ii", two),
              IsRefusal("the output has the label 'i' twice"));
  EXPECT_THAT(Einsum("abcdefghijklmnopqr,a", two),
              IsRefusal("more than 16 labels"));
  EXPECT_THAT(Infer({.op = "Einsum", .inputs = two}),
              IsRefusal("'equation' is missing"));
}

TEST_F(EinsumTest, RefusesShapesThatDoNotFit) {
  EXPECT_THAT(Einsum("ij,jk->ik", {Type({2, 3}), Type({4, 5})}),
              IsRefusal("extents of the label 'j': 3 vs 4"));
  EXPECT_THAT(Einsum("ij,jk->ik", {Type({2, 3}), Type({1, 5})}),
              IsRefusal("extents of the label 'j': 3 vs 1"));
  EXPECT_THAT(Einsum("ii->i", {Type({2, 3})}),
              IsRefusal("extents of the label 'i': 2 vs 3"));
  EXPECT_THAT(Einsum("ij->i", {Type({2, 3, 4})}),
              IsRefusal("input 0 has rank 3, its term 2 labels"));
  EXPECT_THAT(Einsum("ijk...->i", {Type({2, 3})}),
              IsRefusal("input 0 has rank 2, its term 3 labels"));
  EXPECT_THAT(Einsum("...i,...i->...", {Type({2, 3, 4}), Type({3, 4})}),
              IsRefusal("ellipses stand for 2 and for 1 dimensions"));
  EXPECT_THAT(Einsum("...i,...i->...", {Type({2, 4}), Type({3, 4})}),
              IsRefusal("2 vs 3"));
  EXPECT_THAT(Einsum("...i->i", {Type({2, 4})}),
              IsRefusal("no ellipsis for the inputs' 1 dimensions"));
  EXPECT_EQ(Einsum("...i->i", {Type({4})}), "float32 [4]");
  EXPECT_THAT(Einsum("i->i", {Type(DType::kBool, {4})}),
              IsRefusal("input 0 has dtype bool"));
  EXPECT_THAT(Einsum("i,i->i", {Type({4}), Type(DType::kFloat64, {4})}),
              IsRefusal("float32 vs float64"));
}

// The output is small, what is in between is not.
TEST_F(EinsumTest, RefusesGiantsOnTheWay) {
  const int64_t n = 1 << 20;
  const TensorType x = Type({static_cast<int>(n)});
  EXPECT_EQ(Einsum("i,j->", {x, x}), "float32 []");
  EXPECT_EQ(Einsum("i,i,i->", {x, x, x}), "float32 []");
  EXPECT_THAT(Einsum("i,j,k,i,j,k->", {x, x, x, x, x, x}),
              IsRefusal("a product on the way: shape [1048576, 1048576, "
                        "1048576] has more than"));
  const TensorType wide = Type(std::vector<NamedDim>(9, 1));
  EXPECT_THAT(Einsum("abcdefghi,jklmnopqr,abcdefghi,jklmnopqr->",
                     {wide, wide, wide, wide}),
              IsRefusal("rank 18 is above the limit of 16"));
  EXPECT_THAT(Einsum("abcdefghi,jklmnopqr", {wide, wide}),
              IsRefusal("rank 18"));
}

}  // namespace
}  // namespace tensord
