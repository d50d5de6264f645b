#ifndef TENSORD_TOOLS_CONFORMANCE_SUITE_H_
#define TENSORD_TOOLS_CONFORMANCE_SUITE_H_

#include <cstddef>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/conformance/case_list.h"
#include "tools/conformance/case_runner.h"
#include "tools/conformance/case_store.h"
#include "tools/conformance/result.h"
#include "tools/conformance/target.h"

namespace tensord::conformance {

struct SuiteOptions {
  RunOptions run;
  // Cases under way at once.
  int in_flight = 4;
};

// Runs all cases, and gives their results in the same order.
//
// Several are under way at once, in rounds: a round ends early when the daemon
// dies or a case does not answer in time, and the daemon is started anew.
// Whatever was under way then is run again at the end, each alone, so that the
// blame lands where it belongs: what kills the daemon alone is kCrash, what
// does not answer alone is kHang. When a death repeats with none of them, all
// that were under way are kCrash.
//
// An error means that the daemon cannot be started again.
absl::StatusOr<std::vector<Result>> RunSuite(const std::vector<Case>& cases,
                                             const CaseStore& store,
                                             Target& target,
                                             const SuiteOptions& options);

}  // namespace tensord::conformance

#endif  // TENSORD_TOOLS_CONFORMANCE_SUITE_H_
