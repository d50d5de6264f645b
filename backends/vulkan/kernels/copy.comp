#version 460
// Nested loops that only move elements of BYTES bytes; loop 0 is the innermost.
#include "common.glsl"

layout(constant_id = 1) const uint BYTES = 4;

const uint MOST_LOOPS = 8;
struct Loop {
  uint extent;
  int from;
  int to;
};

layout(push_constant, scalar) uniform Arguments {
  uint64_t x, y;
  uint count;
  uint loop_count;
  Loop loops[MOST_LOOPS];
};

// Of elements that may lie ahead of the first one.
#define MOVE(Elements) \
  Elements(y + int64_t(to) * BYTES).at[0] = \
      Elements(x + int64_t(from) * BYTES).at[0];

void Move(int from, int to) {
  switch (BYTES) {
    case 1:
      MOVE(UInt8s)
      break;
    case 2:
      MOVE(UInt16s)
      break;
    case 4:
      MOVE(UInt32s)
      break;
    case 8:
      MOVE(UInt64s)
      break;
    default:
      MOVE(UInt128s)
  }
}

void main() {
  for (GRID_STRIDE(i, count)) {
    uint rest = i;
    int from = 0;
    int to = 0;
    for (uint d = 0; d + 1 < loop_count; ++d) {
      const uint index = rest % loops[d].extent;
      rest /= loops[d].extent;
      from += int(index) * loops[d].from;
      to += int(index) * loops[d].to;
    }
    from += int(rest) * loops[loop_count - 1].from;
    to += int(rest) * loops[loop_count - 1].to;
    Move(from, to);
  }
}
