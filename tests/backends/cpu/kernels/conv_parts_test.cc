#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"
#include "tests/support/tensor.h"
#include "tests/support/tolerances.h"

namespace tensord {
namespace {

// Convolutions that are cut into parts of other extents or padding than the
// whole, as in real nets: a library may want other weights for each.
struct Case {
  int64_t channels;
  int64_t extent;
  int64_t outputs;
  int64_t kernel;
  int64_t pad;
  int64_t stride;
};

constexpr Case kCases[] = {
    {16, 55, 64, 3, 1, 1},  {32, 27, 128, 3, 1, 1}, {48, 13, 192, 3, 1, 1},
    {64, 13, 256, 3, 1, 1}, {3, 57, 64, 3, 0, 2},   {24, 28, 40, 5, 2, 2},
    {96, 14, 80, 3, 1, 1},  {20, 9, 50, 3, 1, 2},
};

TEST(ConvPartsTest, EverySiblingAgreesWithThePortableKernel) {
  for (const Case& c : kCases) {
    const auto all = RunOpOnEveryKernel(
        {.op = "Conv",
         .inputs = {Pattern(DType::kFloat32,
                            Shape({1, c.channels, c.extent, c.extent}), 1),
                    Pattern(DType::kFloat32,
                            Shape({c.outputs, c.channels, c.kernel, c.kernel}),
                            2),
                    Pattern(DType::kFloat32, Shape({c.outputs}), 3)},
         .attributes = {{"pads", std::vector<int64_t>(4, c.pad)},
                        {"strides", std::vector<int64_t>(2, c.stride)}},
         .constants = {1, 2}});
    const std::string name = absl::StrCat(c.channels, " x ", c.extent, "^2, ",
                                          c.outputs, " outputs");
    ASSERT_THAT(all, IsOk()) << name;
    for (const auto& [kernel, outputs] : *all) {
      EXPECT_THAT(outputs[0],
                  IsNear(all->back().outputs[0],
                         ToleranceFor(DType::kFloat32, OpFamily::kContraction,
                                      c.channels * c.kernel * c.kernel)))
          << kernel << " " << name;
    }
  }
}

// A depth of 1 that is all padding: the library cannot do without that
// dimension.
TEST(ConvPartsTest, PaddingInFrontOfADepthOfOneCounts) {
  const auto all = RunOpOnEveryKernel(
      {.op = "Conv",
       .inputs = {Pattern(DType::kFloat32, {2, 16, 1, 24, 24}, 1),
                  Pattern(DType::kFloat32, {32, 16, 1, 3, 3}, 2)},
       .attributes = {{"pads", std::vector<int64_t>{1, 0, 0, 0, 0, 0}},
                      {"strides", std::vector<int64_t>{2, 1, 1}}},
       .constants = {1}});
  ASSERT_THAT(all, IsOk());
  for (const auto& [kernel, outputs] : *all) {
    EXPECT_THAT(
        outputs[0],
        IsNear(all->back().outputs[0],
               ToleranceFor(DType::kFloat32, OpFamily::kContraction, 16 * 9)))
        << kernel;
  }
}

}  // namespace
}  // namespace tensord
