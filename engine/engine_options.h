#ifndef TENSORD_ENGINE_ENGINE_OPTIONS_H_
#define TENSORD_ENGINE_ENGINE_OPTIONS_H_

#include <cstdint>

#include "absl/time/time.h"
#include "engine/graph/limits.h"
#include "engine/tune/tuner_options.h"

namespace tensord {

// Everything of the engine that an operator may set; each is a flag of the
// daemon. Threading and ownership: a plain value, fixed at start.
struct EngineOptions {
  GraphLimits limits;
  uint64_t max_peak_bytes = uint64_t{8} << 30;    // of one execution
  int lanes_per_device = 0;                       // 0: the device's own maximum
  int64_t max_queue_length = 1024;                // executions, per device
  uint64_t max_queued_bytes = uint64_t{1} << 30;  // their inputs, per device
  int64_t max_graphs = 1024;
  uint64_t graph_cache_bytes = uint64_t{4} << 30;  // graphs and compiled graphs
  int compile_threads = 1;
  int64_t max_queued_compilations = 256;
  uint64_t max_idle_buffer_bytes = uint64_t{512} << 20;
  absl::Duration max_queue_time = absl::Minutes(5);  // until it has a lane
  absl::Duration max_execution_time = absl::Minutes(5);
  // How long a lane may stay busy after its execution was given up before its
  // device counts as hung and is quarantined.
  absl::Duration hang_timeout = absl::Seconds(30);
  // A device that has had nothing to do for so long is asked whether it still
  // answers.
  absl::Duration probe_interval = absl::Seconds(10);
  // Executions wait for a device, and none has ended there for so long: it does
  // not count as ready.
  absl::Duration max_stall_time = absl::Minutes(1);
  bool pipelined_compile = true;
  // On devices that record programs, submit what a graph launches as a whole
  // from its second run on a lane on; without it every node is launched.
  bool programs = true;
  // Measure the rates of each device when the engine is made, some 20 ms each;
  // without it estimates are made with what a device supposes of itself.
  bool calibrate_devices = false;
  // An execution that is estimated below this runs on the calling thread when a
  // synchronous lane is idle and nothing waits.
  absl::Duration inline_limit = absl::Microseconds(50);
  TunerOptions tuning;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_ENGINE_OPTIONS_H_
