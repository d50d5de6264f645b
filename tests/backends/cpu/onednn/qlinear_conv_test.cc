#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "backends/cpu/onednn/library.h"
#include "backends/cpu/onednn/onednn_kernels.h"

namespace tensord::onednn {
namespace {

// A node whose shapes are not known yet; eight inputs, all but x constant.
class OpenSite {
 public:
  bool IsAccepted() const {
    return AcceptsQLinearConv({.op = OpKind::kQLinearConv,
                               .dtypes = dtypes_,
                               .input_count = kInputs,
                               .layouts = {},
                               .host_constants = constants,
                               .params = params})
        .ok();
  }

  static constexpr int kInputs = 8;
  const std::byte byte{};
  std::vector<const std::byte*> constants{nullptr, &byte, &byte, &byte,
                                          &byte,   &byte, &byte, &byte};
  OpParams params = ConvParams{};

 private:
  static constexpr DType kX = DType::kUInt8;
  static constexpr DType kScale = DType::kFloat32;
  const std::vector<DType> dtypes_{
      kX, kScale, kX, DType::kInt8, kScale, DType::kInt8, kScale, kX, kX};
};

TEST(AcceptsQLinearConvTest, WithoutShapesTheConstantsDecide) {
  OpenSite site;
  EXPECT_EQ(site.IsAccepted(), CheckExactIntegers().ok());
  for (int input = 1; input < OpenSite::kInputs; ++input) {
    OpenSite open;
    open.constants[input] = nullptr;
    EXPECT_FALSE(open.IsAccepted()) << input;
  }
}

// No other kernel would take it if this one declines the shapes.
TEST(AcceptsQLinearConvTest, WithoutShapesAnEpilogueIsDeclined) {
  OpenSite site;
  site.params.epilogue = std::make_shared<Epilogue>(
      Epilogue{.own_input_count = 9,
               .expression = {.input_count = 1,
                              .constants = {3},
                              .steps = {{OpKind::kMax, {0, 1}}}}});
  EXPECT_FALSE(site.IsAccepted());
}

}  // namespace
}  // namespace tensord::onednn
