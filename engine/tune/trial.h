#ifndef TENSORD_ENGINE_TUNE_TRIAL_H_
#define TENSORD_ENGINE_TUNE_TRIAL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/compiled/compiled_graph.h"
#include "engine/compiled/kernel_binding_table.h"
#include "engine/compiled/kernel_choice.h"
#include "engine/tune/trial_lane.h"
#include "engine/tune/tuner_options.h"

namespace tensord {

// What a trial found out.
struct TrialResult {
  MeasuredSite site;
  // Siblings whose result was beyond the tolerance: the kernel, and where.
  std::vector<std::string> disagreements;
};

// Measures the siblings of one step of a compiled graph against each other: on
// its own weights and on made-up inputs, each sibling's result checked against
// the portable one's (the last that accepts), launches interleaved, medians
// compared. The first sibling that accepts stays the choice unless another is
// clearly faster and agrees; if the first itself disagrees, nothing changes.
//
// Threading: the tuner's thread. Ownership: shares the graph; borrows the rest.
// Errors: kUnimplemented for what cannot be measured (one sibling alone,
// extents
//   that the data tells, inputs that cannot be made up, too large, too long);
//   kAborted when the device is too busy or too full now; kCancelled when the
//   tuner stops; else the device's or a kernel's.
absl::StatusOr<TrialResult> RunTrial(
    const std::shared_ptr<const CompiledGraph>& graph, const Step& step,
    const KernelBindingTable& table, TrialLane& lane,
    const TrialLimits& limits);

}  // namespace tensord

#endif  // TENSORD_ENGINE_TUNE_TRIAL_H_
