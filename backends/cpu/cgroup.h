#ifndef TENSORD_BACKENDS_CPU_CGROUP_H_
#define TENSORD_BACKENDS_CPU_CGROUP_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace tensord {

// The limits of the control group that this process is in, version 1 or 2.
//
// A limit holds for a group and everything below it, so what counts is the
// smallest from the process's own group up to the top that is visible. In a
// container the group's own path often does not exist (the mount shows the
// container's group as its top); the folders that are not there are passed
// over, which ends at the right one.
//
// `root` is put before every path, so that tests lay out files of their own.
// Threading: call from anywhere. Errors: what cannot be read or parsed is no
//   limit; a machine without control groups has none.

// CPUs' worth of time per period, such as 2.5.
std::optional<double> CgroupCpuQuota(absl::string_view root = "");

std::optional<uint64_t> CgroupMemoryLimitBytes(absl::string_view root = "");

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_CGROUP_H_
