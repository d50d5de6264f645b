#ifndef TENSORD_SERVER_CONFIG_MEMORY_PLAN_H_
#define TENSORD_SERVER_CONFIG_MEMORY_PLAN_H_

#include <cstdint>
#include <set>
#include <string>

#include "server/config/server_config.h"

namespace tensord {

// Lowers the byte limits of `config` that nobody has set (`given` has the names
// of the others) to what a process may have that is killed above
// `memory_bytes`: the machine's memory, or its control group's limit. Never
// raises one, so that on a large machine the defaults stay.
//
// Returns the bytes that are left for all large things together (arenas of
// the CPU, tensors, graphs that are being read; HostMemoryBudget), beside what
// has a limit of its own: messages that arrive, uploads, graphs, and the
// process itself.
uint64_t FitToMemory(uint64_t memory_bytes, const std::set<std::string>& given,
                     ServerConfig& config);

}  // namespace tensord

#endif  // TENSORD_SERVER_CONFIG_MEMORY_PLAN_H_
