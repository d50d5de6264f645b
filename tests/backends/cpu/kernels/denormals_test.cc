#include "backends/cpu/kernels/denormals.h"

#include <gtest/gtest.h>

namespace tensord {
namespace {

#if defined(__x86_64__)

// At run time, of what the compiler does not know.
float Product(float a, float b) {
  volatile float left = a;
  volatile float right = b;
  return left * right;
}

TEST(DenormalsTest, OperandsAndResultsAreZeroWhileTheGuardLives) {
  {
    const DenormalsAreZero denormals_are_zero;
    EXPECT_EQ(Product(1e-40f, 1e10f), 0);
    EXPECT_EQ(Product(1e-30f, 1e-10f), 0);
    EXPECT_EQ(Product(2e-38f, 1), 2e-38f);
  }
  EXPECT_GT(Product(1e-40f, 1e10f), 0);
  EXPECT_GT(Product(1e-30f, 1e-10f), 0);
}

#endif

}  // namespace
}  // namespace tensord
