#ifndef TENSORD_ENGINE_POOL_PRIORITY_H_
#define TENSORD_ENGINE_POOL_PRIORITY_H_

#include <cstdint>

namespace tensord {

// Who goes first when executions wait for a device; the first one does. Counted
// from 0, for tables.
enum class Priority : uint8_t { kHigh, kNormal, kLow };

inline constexpr int kPriorityCount = 3;

}  // namespace tensord

#endif  // TENSORD_ENGINE_POOL_PRIORITY_H_
