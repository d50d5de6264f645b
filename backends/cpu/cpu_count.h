#ifndef TENSORD_BACKENDS_CPU_CPU_COUNT_H_
#define TENSORD_BACKENDS_CPU_CPU_COUNT_H_

#include <optional>

#include "absl/strings/string_view.h"

namespace tensord {

// How many threads can run at once: the CPUs that the process may use (its
// affinity, which a cpuset narrows too), but no more than its control group has
// time for. At least 1. Read anew at each call.
//
// `root` is put before the control group's paths, for tests.
// Threading: call from anywhere.
int CpuCount(absl::string_view root = "");

// The rule behind it. A quota is rounded down: with one thread too many the
// group runs out of time within each period, and all of its threads then stop
// together for the rest of it, which costs the tail latency far more than a
// fraction of a CPU is worth.
int CpuCountFrom(int allowed_cpu_count, std::optional<double> quota_cpus);

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_CPU_COUNT_H_
