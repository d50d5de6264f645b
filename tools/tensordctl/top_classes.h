#ifndef TENSORD_TOOLS_TENSORDCTL_TOP_CLASSES_H_
#define TENSORD_TOOLS_TENSORDCTL_TOP_CLASSES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "tensord/v1/types.pb.h"

namespace tensord::ctl {

struct ScoredClass {
  int64_t index = 0;
  double score = 0;
};

// For each row of the last axis, the `count` largest elements, largest first;
// equal ones in the order of their index, and what is not a number last. A
// scalar is one row of one. kUnimplemented for dtypes without numbers here.
absl::StatusOr<std::vector<std::vector<ScoredClass>>> TopClasses(
    const v1::Tensor& tensor, int64_t count);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_TOP_CLASSES_H_
