#ifndef TENSORD_ENGINE_CACHE_BACKEND_SET_H_
#define TENSORD_ENGINE_CACHE_BACKEND_SET_H_

#include <bitset>

#include "backends/api/device_id.h"

namespace tensord {

// Backends that can run some graph, by BackendId.
using BackendSet = std::bitset<kBackendCount>;

}  // namespace tensord

#endif  // TENSORD_ENGINE_CACHE_BACKEND_SET_H_
