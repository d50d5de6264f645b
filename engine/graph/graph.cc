#include "engine/graph/graph.h"

#include "absl/container/flat_hash_set.h"

namespace tensord {

uint64_t Graph::constant_bytes() const {
  absl::flat_hash_set<const void*> counted;
  uint64_t bytes = 0;
  for (const Value& value : values) {
    if (!value.constant.is_present()) continue;
    if (!counted.insert(value.constant.owner().get()).second) continue;
    bytes += value.constant.size_bytes();
  }
  return bytes;
}

}  // namespace tensord
