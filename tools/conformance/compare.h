#ifndef TENSORD_TOOLS_CONFORMANCE_COMPARE_H_
#define TENSORD_TOOLS_CONFORMANCE_COMPARE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "tensord/v1/execution_service.pb.h"
#include "tools/conformance/comparison_rule.h"

namespace tensord::conformance {

struct Comparison {
  // What differs, with the output, the place, and both numbers: "output 0 'y':
  // element [1,2] is 0.5, expected 0.25 (3 of 60 differ)". Empty: nothing.
  std::string difference;
  // Nothing but numbers differs: kinds, dtypes and shapes are right.
  bool is_of_values = false;
  // The elements that only the rule's wider tolerance lets pass.
  int64_t wider_count = 0;
  // Those that differ where the rule says that anything may be.
  int64_t undefined_count = 0;

  bool is_equal() const { return difference.empty(); }
};

// Compares all outputs of a run, in their order, by the rule. `inputs` are the
// run's.
Comparison CompareOutputs(absl::Span<const v1::ExecuteOutput> expected,
                          absl::Span<const v1::ExecuteOutput> got,
                          absl::Span<const v1::ExecuteInput> inputs,
                          const ComparisonRule& rule);

}  // namespace tensord::conformance

#endif  // TENSORD_TOOLS_CONFORMANCE_COMPARE_H_
