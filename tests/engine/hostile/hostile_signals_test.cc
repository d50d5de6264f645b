#include <cmath>
#include <limits>

#include "tests/engine/hostile/hostile_node_test.h"
#include "tests/support/matchers.h"

// As hostile_nodes_test.cc: operators on signals, grids and regions, whose
// extents a client writes as plain numbers.

namespace tensord {
namespace {

const HostileNode kGiants[] = {
    {.name = "Window",
     .op = "HannWindow",
     .operands = {Scalar(kTera)},
     .code = kExhausted,
     .text = "max_elements"},
    {.name = "WindowWithinTheElements",
     .op = "BlackmanWindow",
     .operands = {Scalar(int64_t{1} << 29)},
     .code = kExhausted,
     .text = "max_peak_bytes"},
    {.name = "WindowOfNegative",
     .op = "HammingWindow",
     .operands = {Scalar(-1)},
     .text = "the window's size is -1"},
    {.name = "Mel",
     .op = "MelWeightMatrix",
     .operands = {Scalar(kTera), Scalar(16), Scalar(8000), Number(0),
                  Number(4000)},
     .code = kExhausted,
     .text = "max_elements"},
    {.name = "MelOverflowing",
     .op = "MelWeightMatrix",
     .operands = {Scalar(kTera), Scalar(kTera), Scalar(8000), Number(0),
                  Number(4000)},
     .text = "has more than"},
    {.name = "Transform",
     .op = "DFT",
     .operands = {Tensor({1, 2, 1}, {1, 2}), Scalar(kTera)},
     .code = kExhausted,
     .text = "max_elements"},
    // Its tables alone would take gigabytes.
    {.name = "TransformWithinTheElements",
     .op = "DFT",
     .operands = {Tensor({1, 2, 1}, {1, 2}), Scalar((1 << 24) + 43)},
     .code = kExhausted,
     .text = "max_peak_bytes"},
    // Within the run's memory, but for its tables.
    {.name = "TransformWithinTheMemory",
     .op = "DFT",
     .operands = {Tensor({1, 2, 1}, {1, 2}), Scalar((1 << 21) + 17)},
     .code = kExhausted,
     .text = "the transform's length 2097169 takes tables of 8388608 elements, "
             "above 4194304"},
    {.name = "TransformOverflowing",
     .op = "DFT",
     .operands = {Tensor({1, 2, 1}, {1, 2}), Scalar(kMost)},
     .text = "the transform's length is"},
    {.name = "TransformOfNothingOverflowing",
     .op = "DFT",
     .operands = {Tensor({0, 2, 1}, {}), Scalar(kMost)},
     .text = "the transform's length is"},
    {.name = "Frames",
     .op = "STFT",
     .operands = {Pattern(DType::kFloat32, {1, 1 << 17, 1}), Scalar(1), kAbsent,
                  Scalar(1 << 12)},
     .code = kExhausted,
     .text = "max_peak_bytes"},
    {.name = "FramesOfNoStep",
     .op = "STFT",
     .operands = {Tensor({1, 2, 1}, {1, 2}), Scalar(0)},
     .text = "the step between frames is 0"},
    {.name = "Grid",
     .op = "AffineGrid",
     .operands = {Pattern(DType::kFloat32, {1, 2, 3}),
                  Vector({1, 1, 1 << 20, 1 << 20})},
     .code = kExhausted,
     .text = "max_elements",
     .opset = 20},
    {.name = "GridOverflowing",
     .op = "AffineGrid",
     .operands = {Pattern(DType::kFloat32, {1, 2, 3}),
                  Vector({1, 1, kMost, kMost})},
     .text = "",
     .opset = 20},
    {.name = "Regions",
     .op = "RoiAlign",
     .operands = {Tensor({1, 1, 1, 1}, {1}), Tensor({1, 4}, {0, 0, 1, 1}),
                  Vector({0})},
     .attributes = {{"output_height", kTera}},
     .code = kExhausted,
     .text = "max_elements"},
    {.name = "RegionsOverflowing",
     .op = "RoiAlign",
     .operands = {Tensor({1, 1, 1, 1}, {1}), Tensor({1, 4}, {0, 0, 1, 1}),
                  Vector({0})},
     .attributes = {{"output_height", kTera}, {"output_width", kTera}},
     .text = "has more than"},
    {.name = "RegionsOfNothingOverflowing",
     .op = "RoiAlign",
     .operands = {Tensor({1, 1, 1, 1}, {1}), Tensor({0, 4}, {}), Vector({})},
     .attributes = {{"output_height", kTera}, {"output_width", kTera}},
     .text = "has more than"},
};
INSTANTIATE_TEST_SUITE_P(SignalGiants, HostileNodeTest,
                         testing::ValuesIn(kGiants), NameOf);

class OddSignalTest : public HostileNodeTest {};

TEST_P(OddSignalTest, IsAnswered) {
  EXPECT_THAT(ServeConstants(GetParam()), IsOk());
  EXPECT_THAT(ServeInputs(GetParam()), IsOk());
}

const HostileNode kOdd[] = {
    // A prime: by the definition some 10^11 products.
    {.name = "TransformOfAPrimeLength",
     .op = "DFT",
     .operands = {Tensor({1, 2, 1}, {1, 2}), Scalar(300007)}},
    // No elements, of which tables of terabytes could be made.
    {.name = "TransformOfNothing",
     .op = "DFT",
     .operands = {Tensor({0, 4, 1}, {}), Scalar(kTera)}},
    {.name = "TransformOfNothingToAPrime",
     .op = "DFT",
     .operands = {Tensor({0, 4, 1}, {}), Scalar((1 << 24) + 43)}},
    {.name = "FrameOfNothing",
     .op = "STFT",
     .operands = {Tensor({0, kTera, 1}, {}), Scalar(1)}},
    {.name = "FramesOfNothing",
     .op = "STFT",
     .operands = {Tensor({0, 1 << 17, 1}, {}), Scalar(1), kAbsent,
                  Scalar(1 << 12)}},
    {.name = "GridOfNothing",
     .op = "AffineGrid",
     .operands = {Tensor({0, 2, 3}, {}), Vector({0, 1, 1 << 20, 1 << 20})},
     .opset = 20},
    {.name = "RegionsOfNothing",
     .op = "RoiAlign",
     .operands = {Tensor({1, 1, 1, 1}, {1}), Tensor({0, 4}, {}), Vector({})},
     .attributes = {{"output_height", kTera}}},
    {.name = "RegionsAsLargeAsAFloat",
     .op = "RoiAlign",
     .operands = {Pattern(DType::kFloat32, {1, 1, 3, 3}),
                  Tensor({2, 4}, {-3e38f, -3e38f, 3e38f, 3e38f,  //
                                  -1e15f, 0, 1e15f, NAN}),
                  Vector({0, 0})},
     .attributes = {{"output_height", int64_t{64}},
                    {"output_width", int64_t{64}}}},
    {.name = "GridOfNoNumbers",
     .op = "GridSample",
     .operands = {Pattern(DType::kFloat32, {1, 1, 3, 3}),
                  Tensor({1, 1, 3, 2},
                         {NAN, NAN, INFINITY, -INFINITY, 3e38f, -3e38f})},
     .attributes = {{"padding_mode", std::string("reflection")}}},
};
INSTANTIATE_TEST_SUITE_P(SignalOdd, OddSignalTest, testing::ValuesIn(kOdd),
                         NameOf);

}  // namespace
}  // namespace tensord
