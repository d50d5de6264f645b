#include "tests/engine/ops/infer_test.h"

// Operators on signals and their spectra, and those beside them that make
// grids and determinants.
namespace tensord {
namespace {

using SignalTest = InferTest;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

HostTensor ScalarInt(int64_t value) {
  return HostTensor::Int64s({value}).Reshaped(Shape());
}

struct DftArguments {
  Ints length = {};  // one element, or none
  Ints axis = {};
  int64_t inverse = 0;
  int64_t onesided = 0;
};

class DftTest : public InferTest {
 protected:
  std::string Dft(TensorType x, const DftArguments& a) {
    TypedCase test = {
        .op = "DFT",
        .inputs = {std::move(x), {}, {}},
        .attributes = {{"inverse", a.inverse}, {"onesided", a.onesided}},
        .opset = 20,
        .constants = {{}, {}, {}}};
    const Ints* values[] = {nullptr, &a.length, &a.axis};
    for (int i : {1, 2}) {
      if (values[i]->empty()) continue;
      test.inputs[i] = Type(DType::kInt64, std::vector<NamedDim>{});
      test.constants[i] = ScalarInt((*values[i])[0]);
    }
    return Infer(test);
  }
};

TEST_F(DftTest, TheAxisHasTheLengthOrHalf) {
  EXPECT_EQ(Dft(Type({"N", 10, 1}), {}), "float32 [N, 10, 2]");
  EXPECT_EQ(Dft(Type({"N", "L", 1}), {.axis = {1}}), "float32 [N, L, 2]");
  EXPECT_EQ(Dft(Type({3, 10, 2}), {.length = {7}, .axis = {0}}),
            "float32 [7, 10, 2]");
  EXPECT_EQ(Dft(Type({3, 10, 1}), {.onesided = 1}), "float32 [3, 6, 2]");
  EXPECT_EQ(Dft(Type({3, "L", 1}), {.onesided = 1}),
            "float32 [3, ((L/2)+1), 2]");
  EXPECT_EQ(Dft(Type({3, 6, 2}), {.inverse = 1, .onesided = 1}),
            "float32 [3, 10, 1]");
  EXPECT_EQ(Dft(Type({3, 6, 2}), {.length = {11}, .inverse = 1, .onesided = 1}),
            "float32 [3, 11, 1]");
}

TEST_F(DftTest, RefusesWhatIsNoTransform) {
  EXPECT_THAT(Dft(Type({3, 10, 3}), {}),
              IsRefusal("last extent is 3, not 1 (real numbers) or 2"));
  EXPECT_THAT(Dft(Type({3}), {}), IsRefusal("input 0 has rank 1, not 2"));
  EXPECT_THAT(Dft(Type(DType::kInt32, {3, 10, 1}), {}),
              IsRefusal("input 0 has dtype int32"));
  EXPECT_THAT(Dft(Type({3, 10, 1}), {.axis = {2}}),
              IsRefusal("axis 2 is that of the numbers' parts"));
  EXPECT_THAT(Dft(Type({3, 10, 1}), {.axis = {-1}}),
              IsRefusal("axis -1 is that of the numbers' parts"));
  EXPECT_THAT(Dft(Type({3, 10, 1}), {.axis = {kLeast}}),
              IsRefusal("is outside [-3, 3)"));
  EXPECT_THAT(Dft(Type({3, 10, 1}), {.length = {0}}),
              IsRefusal("the transform's length is 0, outside [1, "));
  EXPECT_THAT(Dft(Type({3, 10, 1}), {.length = {kMost}}),
              IsRefusal("the transform's length is 9223372036854775807"));
  EXPECT_THAT(Dft(Type({3, 0, 1}), {}),
              IsRefusal("the transform's length is 0, below 1"));
  EXPECT_THAT(Dft(Type({3, 1, 2}), {.inverse = 1, .onesided = 1}),
              IsRefusal("the transform's length is 0, below 1"));
  EXPECT_THAT(Dft(Type({3, 10, 2}), {.onesided = 1}),
              IsRefusal("a one-sided transform is of real numbers"));
  EXPECT_THAT(Dft(Type({3, 10, 1}), {.inverse = 1, .onesided = 1}),
              IsRefusal("is of complex numbers"));
  EXPECT_THAT(Dft(Type({3, 10, 1}), {.inverse = 2}), IsRefusal("'inverse'"));
}

TEST_F(DftTest, AsksForLengthAndAxis) {
  const auto scalar = [this] {
    return Type(DType::kInt64, std::vector<NamedDim>{});
  };
  EXPECT_THAT(
      Infer({.op = "DFT", .inputs = {Type({3, 10, 1}), scalar()}, .opset = 20}),
      NeedsInput(1));
  EXPECT_THAT(Infer({.op = "DFT",
                     .inputs = {Type({3, 10, 1}), {}, scalar()},
                     .opset = 20}),
              NeedsInput(2));
  EXPECT_THAT(Infer({.op = "DFT",
                     .inputs = {Type({3, 10, 1}), {}, scalar()},
                     .opset = 17,
                     .constants = {{}, {}, ScalarInt(1)}}),
              IsRefusal("input 2 (axis) is allowed from operator set 20"));
  EXPECT_THAT(Infer({.op = "DFT",
                     .inputs = {Type({3, 10, 1})},
                     .attributes = {{"axis", int64_t{1}}},
                     .opset = 20}),
              IsRefusal("axis"));
}

class StftTest : public InferTest {
 protected:
  // A window or length of 0 is left out.
  std::string Stft(TensorType signal, int64_t step, int window, int64_t length,
                   int64_t onesided = 1) {
    const auto scalar = [this] {
      return Type(DType::kInt64, std::vector<NamedDim>{});
    };
    TypedCase test = {.op = "STFT",
                      .inputs = {std::move(signal), scalar(), {}, {}},
                      .attributes = {{"onesided", onesided}},
                      .constants = {{}, ScalarInt(step), {}, {}}};
    if (window != 0) test.inputs[2] = Type({window});
    if (length != 0) {
      test.inputs[3] = scalar();
      test.constants[3] = ScalarInt(length);
    }
    return Infer(test);
  }
};

TEST_F(StftTest, AFrameForEachStep) {
  EXPECT_EQ(Stft(Type({"N", 128, 1}), 8, 16, 0), "float32 [N, 15, 9, 2]");
  EXPECT_EQ(Stft(Type({2, 128, 1}), 8, 0, 16, 0), "float32 [2, 15, 16, 2]");
  EXPECT_EQ(Stft(Type({2, 128, 2}), 100, 16, 16, 0), "float32 [2, 2, 16, 2]");
  EXPECT_EQ(Stft(Type({2, 128, 1}), 5, 0, 0), "float32 [2, 1, 65, 2]");
  EXPECT_EQ(Stft(Type({2, "L", 1}), 8, 16, 0),
            "float32 [2, (((L+-16)/8)+1), 9, 2]");
}

TEST_F(StftTest, RefusesFramesThatDoNotFit) {
  EXPECT_THAT(Stft(Type({2, 128, 1}), 0, 16, 0),
              IsRefusal("the step between frames is 0"));
  EXPECT_THAT(Stft(Type({2, 128, 1}), kLeast, 16, 0),
              IsRefusal("the step between frames is -9223372036854775808"));
  EXPECT_THAT(Stft(Type({2, 128, 1}), 8, 0, -5),
              IsRefusal("a frame's length is -5"));
  EXPECT_THAT(Stft(Type({2, 128, 1}), 8, 16, 17),
              IsRefusal("a frame's length and the window's: 17 vs 16"));
  EXPECT_THAT(Stft(Type({2, 8, 1}), 8, 16, 0),
              IsRefusal("a frame of 16 elements is longer than the signal of "
                        "8"));
  EXPECT_THAT(Stft(Type({2, 0, 1}), 8, 0, 0),
              IsRefusal("a frame's length is 0"));
  EXPECT_THAT(Stft(Type({2, 128, 2}), 8, 16, 0),
              IsRefusal("a one-sided transform is of real numbers"));
  EXPECT_THAT(Stft(Type({2, 128}), 8, 16, 0),
              IsRefusal("input 0 has rank 2, not 3"));
}

TEST_F(SignalTest, WindowsAreAsLongAsTheySay) {
  const auto window = [this](int64_t size, int64_t dtype) {
    return Infer({.op = "HannWindow",
                  .inputs = {Type(DType::kInt64, std::vector<NamedDim>{})},
                  .attributes = {{"output_datatype", dtype}},
                  .constants = {ScalarInt(size)}});
  };
  EXPECT_EQ(window(10, 1), "float32 [10]");
  EXPECT_EQ(window(0, 11), "float64 [0]");
  EXPECT_EQ(window(7, 3), "int8 [7]");
  EXPECT_THAT(window(-1, 1), IsRefusal("the window's size is -1"));
  EXPECT_THAT(window(kMost, 1), IsRefusal("the window's size is 92233720"));
  EXPECT_THAT(window(4, 9), IsRefusal("'output_datatype' is 9, which is no"));
  EXPECT_THAT(window(4, kMost), IsRefusal("'output_datatype' is 92233720"));
  EXPECT_THAT(Infer({.op = "BlackmanWindow", .inputs = {Int64s(1)}}),
              NeedsInput(0));
  EXPECT_THAT(Infer({.op = "HammingWindow", .inputs = {Type({1})}}),
              IsRefusal("input 0 has dtype float32"));
  EXPECT_THAT(Infer({.op = "HammingWindow", .inputs = {Int64s(2)}}),
              IsRefusal("not one element"));
}

TEST_F(SignalTest, MelWeightsAreBinsByBands) {
  const auto mel = [this](int64_t bands, int64_t length) {
    const TensorType integer = Int64s(1);
    const TensorType edge = Type({1});
    return Infer({.op = "MelWeightMatrix",
                  .inputs = {integer, integer, integer, edge, edge},
                  .constants = {Known({bands}), Known({length})}});
  };
  EXPECT_EQ(mel(8, 16), "float32 [9, 8]");
  EXPECT_EQ(mel(1, 1), "float32 [1, 1]");
  EXPECT_THAT(mel(0, 16), IsRefusal("the number of bands is 0"));
  EXPECT_THAT(mel(8, -2), IsRefusal("the transform's length is -2"));
  EXPECT_THAT(mel(kMost, 16), IsRefusal("the number of bands is 92233720"));
}

TEST_F(SignalTest, AffineGridsHaveTheSizesPlaces) {
  const auto grid = [this](TensorType theta, Ints size) {
    return Infer(
        {.op = "AffineGrid",
         .inputs = {std::move(theta), Int64s(static_cast<int>(size.size()))},
         .opset = 20,
         .constants = {{}, Known(size)}});
  };
  EXPECT_EQ(grid(Type({2, 2, 3}), {2, 3, 5, 6}), "float32 [2, 5, 6, 2]");
  EXPECT_EQ(grid(Type({"N", 3, 4}), {2, 3, 4, 5, 6}),
            "float32 [2, 4, 5, 6, 3]");
  EXPECT_THAT(grid(Type({2, 2, 3}), {1, 3, 5, 6}),
              IsRefusal("batches of theta and of the size: 2 vs 1"));
  EXPECT_THAT(grid(Type({2, 2, 3}), {2, 3, 4, 5, 6}),
              IsRefusal("vs rows of theta: 3 vs 2"));
  EXPECT_THAT(grid(Type({2, 2, 2}), {2, 3, 5, 6}),
              IsRefusal("columns of theta should be 3 vs 2"));
  EXPECT_THAT(grid(Type({2, 2, 3}), {2, 3, 5}),
              IsRefusal("the size has 3 extents, not 4 or 5"));
  EXPECT_THAT(grid(Type({2, 2, 3}), {2, 3, -5, 6}), IsRefusal("-5, below 0"));
  EXPECT_THAT(Infer({.op = "AffineGrid",
                     .inputs = {Type({2, 2, 3}), Int64s(4)},
                     .opset = 20}),
              NeedsInput(1));
}

TEST_F(SignalTest, DeterminantsLoseTheMatrix) {
  EXPECT_EQ(Infer({.op = "Det", .inputs = {Type({"N", 3, 3})}}), "float32 [N]");
  EXPECT_EQ(Infer({.op = "Det", .inputs = {Type({"M", "M"})}}), "float32 []");
  EXPECT_THAT(Infer({.op = "Det", .inputs = {Type({2, 3, 4})}}),
              IsRefusal("rows and columns of a matrix: 3 vs 4"));
  EXPECT_THAT(Infer({.op = "Det", .inputs = {Type({3})}}),
              IsRefusal("input 0 has rank 1, not 2"));
  EXPECT_THAT(Infer({.op = "Det", .inputs = {Type(DType::kInt32, {3, 3})}}),
              IsRefusal("input 0 has dtype int32"));
}

}  // namespace
}  // namespace tensord
