#ifndef TENSORD_TOOLS_TENSORDCTL_COMPARE_H_
#define TENSORD_TOOLS_TENSORDCTL_COMPARE_H_

#include <cstdint>
#include <string>

#include "tensord/v1/types.pb.h"

namespace tensord::ctl {

// An element is within tolerance when
//   |actual - expected| <= atol + rtol * |expected|,
// or both are the same infinity, or both are not a number.
struct Tolerance {
  double rtol = 0;
  double atol = 0;
};

struct Difference {
  // What cannot be compared: another dtype, other extents. Empty if it can.
  std::string mismatch;
  // The largest absolute difference; infinity where one side alone is not
  // finite.
  double max_abs = 0;
  int64_t element_count = 0;
  int64_t outside_count = 0;
  // Of the element that is furthest outside; meaningful if there is one.
  int64_t worst_index = 0;
  double worst_expected = 0;
  double worst_actual = 0;

  bool is_within() const { return mismatch.empty() && outside_count == 0; }
};

// Dtypes without numbers here (strings, 4 bits) are compared by their bytes: an
// inequality is a mismatch.
Difference Compare(const v1::Tensor& expected, const v1::Tensor& actual,
                   const Tolerance& tolerance);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_COMPARE_H_
