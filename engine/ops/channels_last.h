#ifndef TENSORD_ENGINE_OPS_CHANNELS_LAST_H_
#define TENSORD_ENGINE_OPS_CHANNELS_LAST_H_

#include <algorithm>

#include "engine/graph/dim.h"

namespace tensord {

// [N, C, D...] as [N, D..., C], and back; of rank 2 or more. The standard knows
// the former alone; nodes that a pass has marked channels_last have the latter
// (ConvParams, PoolParams), and their rules work on the standard's form.

inline SymbolicShape ToChannelsLast(SymbolicShape shape) {
  std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
  return shape;
}

inline SymbolicShape ToChannelsFirst(SymbolicShape shape) {
  std::rotate(shape.begin() + 1, shape.end() - 1, shape.end());
  return shape;
}

}  // namespace tensord

#endif  // TENSORD_ENGINE_OPS_CHANNELS_LAST_H_
