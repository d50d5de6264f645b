#ifndef TENSORD_BACKENDS_CPU_CPU_IDENTITY_H_
#define TENSORD_BACKENDS_CPU_CPU_IDENTITY_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tensord {

// Which processor this is, for people and for keys of persisted tuning.
struct CpuIdentity {
  std::string description;  // "AMD EPYC 9B14, 2 threads"

  // The same on every machine with this model, these instruction sets and this
  // thread count: measurements of one hold for the other.
  std::string uuid;
};

// `root` is put before /proc, for tests. Threading: call from anywhere.
CpuIdentity ReadCpuIdentity(int thread_count, absl::string_view root = "");

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_CPU_IDENTITY_H_
