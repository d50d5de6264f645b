#ifndef TENSORD_TOOLS_TENSORDCTL_LOAD_H_
#define TENSORD_TOOLS_TENSORDCTL_LOAD_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "clients/cpp/client.h"
#include "tools/tensordctl/latency_histogram.h"

// Many calls of Execute, and how long they took.
namespace tensord::ctl {

struct LoadOptions {
  // Calls that are always open: a closed loop, which slows down with what it
  // measures. The next begins when one ends.
  int concurrency = 1;

  // Calls a second, begun at their times whether earlier ones have ended or
  // not: an open loop. 0: the closed one.
  double rate = 0;

  // Of an open loop: a call that would be one more than so many open ones is
  // not made, and counts as an error.
  int max_open = 4096;

  // Before what is measured.
  absl::Duration warm_up = absl::Seconds(1);
  absl::Duration duration = absl::Seconds(10);

  // One ExecuteStream for each client rather than unary calls.
  bool uses_streams = false;

  // Of one call. Streams have none.
  absl::Duration timeout = absl::Seconds(60);
};

// What came of the calls of one kind. Calls that began (an open loop: were due)
// while it was measured.
struct LoadCounts {
  LatencyHistogram latency;  // of those that succeeded
  int64_t done_count = 0;    // that succeeded and ended while it was measured
  std::map<std::string, int64_t> errors;  // by the code's name
  absl::Status first_error;

  int64_t error_count() const;
};

struct LoadResult {
  LoadCounts total;
  std::vector<LoadCounts> by_request;  // as they were given
  absl::Duration measured;
  int64_t not_made_count = 0;               // above max_open
  int64_t refused_without_delay_count = 0;  // RESOURCE_EXHAUSTED, no RetryInfo

  double rate() const;  // successes a second
};

// How far it is.
struct LoadProgress {
  absl::Duration elapsed;  // warm-up included
  absl::Duration whole;
  int64_t done_count = 0;
  int64_t error_count = 0;
  int64_t open_count = 0;
};

// Makes calls until the time is over, then waits for those that are open.
// `requests` take turns, and so do `clients`. The latency of a call in an open
// loop is counted from when it was due, so that one that had to be begun late,
// because the machine or the daemon was busy, shows that wait as its caller
// would feel it.
//
// Threading: `progress` is called on this thread, five times a second.
// Errors: what calls return is counted.
LoadResult RunLoad(
    absl::Span<Client> clients,
    const std::vector<std::shared_ptr<const v1::ExecuteRequest>>& requests,
    const LoadOptions& options,
    const std::function<void(const LoadProgress&)>& progress);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_LOAD_H_
