#ifndef TENSORD_ENGINE_MEMORY_ARENA_PLANNER_H_
#define TENSORD_ENGINE_MEMORY_ARENA_PLANNER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace tensord {

// A temporary of a compiled graph: how big, and while which steps it is alive.
// A workspace is alive for one step.
struct LiveRange {
  uint64_t size_bytes = 0;
  int32_t first_step = 0;  // the step that writes it
  int32_t last_step = 0;   // the last step that reads it, at least first_step
};

struct ArenaPlan {
  std::vector<uint64_t> offsets;  // parallel to the ranges; aligned
  uint64_t arena_bytes = 0;       // the end of the highest slot
};

// Gives every range a fixed offset in one arena, so that two ranges that are
// alive at the same step never overlap. Larger ranges are placed first, each in
// the lowest gap that holds it (greedy by size, Pisarchyk and Lee 2020,
// arXiv:2001.03288); offsets are multiples of kStorageAlignment.
//
// A search looks at all that is placed, so a graph of very many values has only
// its largest placed like this. The rest, small beside them, goes above, in the
// order of the steps and each in the smallest hole that holds it.
//
// Threading: pure. Cost: O(n * n) for some 8,000 ranges, O(n * log n) beyond.
// Precondition: sizes were checked, their sum is below 2^63.
ArenaPlan PlanArena(absl::Span<const LiveRange> ranges);

// The most bytes that are alive at any one step, each range rounded up to the
// alignment: no plan can be smaller.
uint64_t ArenaLowerBound(absl::Span<const LiveRange> ranges);

}  // namespace tensord

#endif  // TENSORD_ENGINE_MEMORY_ARENA_PLANNER_H_
