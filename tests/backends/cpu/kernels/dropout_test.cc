#include <gtest/gtest.h>

#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

TEST(DropoutTest, DropsNothingAndItsMaskIsTrue) {
  for (const Shape& shape : {Shape({}), Shape({0}), Shape({32769})}) {
    for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                        DType::kBFloat16}) {
      const TestTensor x = Pattern(dtype, shape);
      const auto outputs =
          RunOp({.op = "Dropout", .inputs = {x}, .output_count = 2});
      ASSERT_THAT(outputs, IsOk());
      EXPECT_EQ((*outputs)[0], x);
      EXPECT_EQ((*outputs)[1],
                TensorOf(DType::kBool, shape,
                         std::vector<double>(shape.element_count(), 1)));
    }
  }
}

}  // namespace
}  // namespace tensord
