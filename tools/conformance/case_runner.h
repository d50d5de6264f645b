#ifndef TENSORD_TOOLS_CONFORMANCE_CASE_RUNNER_H_
#define TENSORD_TOOLS_CONFORMANCE_CASE_RUNNER_H_

#include <string>

#include "absl/time/time.h"
#include "clients/cpp/client.h"
#include "tools/conformance/case_list.h"
#include "tools/conformance/case_store.h"
#include "tools/conformance/models_in_use.h"
#include "tools/conformance/result.h"

namespace tensord::conformance {

struct RunOptions {
  // Of the whole case.
  absl::Duration timeout = absl::Seconds(10);
  // Where to run: "cuda:0"; empty: the daemon's choice.
  std::string device;
};

// Submits the model of the case, runs each of its data sets,
// compares, and deletes the graph. `in_use` is shared by all cases in flight.
//
// That the connection broke is kCrash here; whether the daemon died is the
// caller's to find out.
Result RunCase(Client& client, const CaseStore& store, const Case& to_run,
               const RunOptions& options, ModelsInUse& in_use);

}  // namespace tensord::conformance

#endif  // TENSORD_TOOLS_CONFORMANCE_CASE_RUNNER_H_
