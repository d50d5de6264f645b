#include "engine/graph/dim.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace tensord {
namespace {

constexpr int64_t kClamp = int64_t{1} << 62;

TEST(DimTest, AKnownDimIsItsExtentAndASymbolIsNot) {
  EXPECT_TRUE(Dim::Known(3).is_known());
  EXPECT_FALSE(Dim::Symbol(0).is_known());
  EXPECT_NE(Dim::Known(0), Dim::Symbol(0));
  EXPECT_EQ(Dim(), Dim::Known(0));
}

TEST(SymbolTableTest, OneNameIsOneSymbol) {
  SymbolTable symbols;
  EXPECT_EQ(symbols.Named("batch"), symbols.Named("batch"));
  EXPECT_NE(symbols.Named("batch"), symbols.Named("width"));
  EXPECT_NE(symbols.Unnamed(), symbols.Unnamed());
  EXPECT_EQ(symbols.ToString(symbols.Named("batch")), "batch");
  EXPECT_EQ(symbols.ToString(symbols.Named("a\nb")), "a\\nb");
}

TEST(SymbolTableTest, EqualExpressionsAreEqualSymbols) {
  SymbolTable symbols;
  const Dim n = symbols.Named("n");
  const Dim c = symbols.Named("c");
  const Dim two = Dim::Known(2);
  EXPECT_EQ(symbols.Add(n, c), symbols.Add(c, n));
  EXPECT_EQ(symbols.Add(n, n), symbols.Multiply(two, n));
  EXPECT_EQ(symbols.Multiply(symbols.Multiply(n, two), c),
            symbols.Multiply(symbols.Multiply(c, n), two));
  EXPECT_NE(symbols.Multiply(n, two), symbols.Multiply(c, two));
  EXPECT_NE(symbols.Subtract(n, c), symbols.Subtract(c, n));
}

TEST(SymbolTableTest, NeutralOperandsChangeNothing) {
  SymbolTable symbols;
  const Dim n = symbols.Named("n");
  EXPECT_EQ(symbols.Add(n, Dim::Known(0)), n);
  EXPECT_EQ(symbols.Multiply(Dim::Known(1), n), n);
  EXPECT_EQ(symbols.Multiply(n, Dim::Known(0)), Dim::Known(0));
  EXPECT_EQ(symbols.FloorDivide(n, Dim::Known(1)), n);
  EXPECT_EQ(symbols.FloorDivide(n, n), Dim::Known(1));
  EXPECT_EQ(symbols.Subtract(n, n), Dim::Known(0));
}

TEST(SymbolTableTest, APaddedWindowOfStrideOneKeepsTheSymbol) {
  SymbolTable symbols;
  const Dim width = symbols.Named("width");
  const Dim padded = symbols.Add(width, Dim::Known(2));
  EXPECT_NE(padded, width);
  EXPECT_EQ(symbols.Add(symbols.Subtract(padded, Dim::Known(3)), Dim::Known(1)),
            width);
}

TEST(SymbolTableTest, CommonFactorsCancel) {
  SymbolTable symbols;
  const Dim n = symbols.Named("n");
  const Dim c = symbols.Named("c");
  const Dim elements = symbols.Multiply(symbols.Multiply(n, c), Dim::Known(8));
  EXPECT_EQ(symbols.FloorDivide(elements, symbols.Multiply(c, Dim::Known(8))),
            n);
  EXPECT_EQ(symbols.FloorDivide(elements, Dim::Known(4)),
            symbols.Multiply(symbols.Multiply(n, c), Dim::Known(2)));
  // 8 is not a multiple of 3, so nothing may cancel.
  EXPECT_EQ(symbols.ToString(symbols.FloorDivide(n, Dim::Known(3))), "(n/3)");
}

TEST(SymbolTableTest, KnownResultsStayWithin62Bits) {
  SymbolTable symbols;
  const Dim big = Dim::Known(int64_t{1} << 61);
  EXPECT_EQ(symbols.Multiply(big, big), Dim::Known(kClamp));
  EXPECT_EQ(symbols.Add(Dim::Known(kClamp), Dim::Known(kClamp)),
            Dim::Known(kClamp));
  EXPECT_EQ(symbols.Subtract(Dim::Known(2), Dim::Known(5)), Dim::Known(-3));
  EXPECT_EQ(symbols.FloorDivide(Dim::Known(-3), Dim::Known(2)), Dim::Known(-2));
  EXPECT_EQ(symbols.FloorDivide(Dim::Known(3), Dim::Known(0)), Dim::Known(0));
}

TEST(SymbolTableTest, BoundsFollowTheArithmetic) {
  SymbolTable symbols;
  const Dim found = symbols.DataDependent(100);
  const auto bound = [&](Dim dim) { return symbols.upper_bound(dim.symbol()); };
  EXPECT_EQ(bound(found), 100);
  EXPECT_EQ(bound(symbols.Multiply(found, Dim::Known(4))), 400);
  EXPECT_EQ(bound(symbols.Add(found, Dim::Known(1))), 101);
  EXPECT_EQ(bound(symbols.Subtract(found, Dim::Known(30))), 70);
  EXPECT_EQ(bound(symbols.FloorDivide(found, Dim::Known(3))), 33);
  EXPECT_EQ(bound(symbols.Add(found, symbols.Named("n"))),
            SymbolTable::kUnbounded);
  const Dim twice = symbols.Add(found, Dim::Known(1));
  EXPECT_TRUE(symbols.is_data_dependent(twice.symbol()));
  EXPECT_FALSE(symbols.is_data_dependent(symbols.Named("n").symbol()));
}

TEST(SymbolTableTest, AChainOfSquaringsCostsAConstantAStep) {
  SymbolTable symbols;
  Dim x = symbols.Named("x");
  for (int i = 0; i < 10'000; ++i) x = symbols.Multiply(x, x);
  EXPECT_LT(symbols.symbol_count(), 10'100);
  EXPECT_LT(symbols.ToString(x).size(), 64u);
}

TEST(SymbolicShapeTest, OnlyAKnownShapeBecomesConcrete) {
  SymbolTable symbols;
  const SymbolicShape open = {symbols.Named("n"), Dim::Known(3)};
  EXPECT_FALSE(IsKnown(open));
  EXPECT_EQ(ToConcrete(open).status().message(),
            "dimension 0 of 2 is not known");
  EXPECT_EQ(symbols.ToString(open), "[n, 3]");
  const absl::StatusOr<Shape> shape = ToConcrete(ToSymbolic(Shape({2, 3})));
  ASSERT_TRUE(shape.ok()) << shape.status();
  EXPECT_EQ(*shape, Shape({2, 3}));
  EXPECT_FALSE(ToConcrete({Dim::Known(-1)}).ok());
}

}  // namespace
}  // namespace tensord
