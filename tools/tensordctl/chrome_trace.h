#ifndef TENSORD_TOOLS_TENSORDCTL_CHROME_TRACE_H_
#define TENSORD_TOOLS_TENSORDCTL_CHROME_TRACE_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tensord/v1/execution_service.pb.h"

namespace tensord::ctl {

// One run, as far as its daemon told of it.
struct RunTrace {
  std::string execution_id;
  std::string graph_id;
  std::string trace_id;  // empty: not known
  std::string device;
  v1::PhaseTimings timings;
  v1::ExecutionTrace launches;  // none: the phases alone
};

// The run in the format of Chrome's tracing, which https://ui.perfetto.dev
// opens: a row for its phases, one for its launches on the host, and one for
// each device whose own times were measured. Times are microseconds since the
// request's bytes began to be read.
nlohmann::ordered_json ChromeTrace(const RunTrace& run);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_CHROME_TRACE_H_
