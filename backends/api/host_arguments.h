#ifndef TENSORD_BACKENDS_API_HOST_ARGUMENTS_H_
#define TENSORD_BACKENDS_API_HOST_ARGUMENTS_H_

#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/api/kernel.h"

// Operands that say how an operator works rather than what on: axes, pads,
// repeats. A backend whose launches only enqueue has to know them before the
// run, since nothing waits for the device to tell.
//
// Threading and ownership: functions of their arguments alone; what they return
// refers to none of them.
namespace tensord {

// Whether the operand is there and has elements: an empty tensor stands for an
// absent one.
inline bool IsGiven(const NodeSite& site, int i) {
  return site.has_input(i) && site.input(i).shape.element_count() > 0;
}

// The values of input i, int32 or int64, which is known before the run.
inline Dims HostIntegers(const NodeSite& site, int i) {
  const int64_t count = site.input(i).shape.element_count();
  const std::byte* bytes = site.host_constant(i);
  Dims values;
  for (int64_t k = 0; k < count; ++k) {
    if (site.input_dtype(i) == DType::kInt32) {
      int32_t value;
      std::memcpy(&value, bytes + k * sizeof(value), sizeof(value));
      values.push_back(value);
    } else {
      int64_t value;
      std::memcpy(&value, bytes + k * sizeof(value), sizeof(value));
      values.push_back(value);
    }
  }
  return values;
}

// kFailedPrecondition for the first of these inputs that is given but not known
// before the run. Shapes are known.
inline absl::Status CheckKnown(const NodeSite& site,
                               std::initializer_list<int> inputs) {
  for (int i : inputs) {
    if (!IsGiven(site, i) || site.host_constant(i) != nullptr) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("input ", i, " is not known before the run"));
  }
  return absl::OkStatus();
}

// An axis that may count from the end, in [0, rank).
inline int Normalised(int64_t axis, int rank) {
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_HOST_ARGUMENTS_H_
