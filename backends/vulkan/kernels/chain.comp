#version 460
// ElementwiseChain: y[i] = f(x0[i], x1[i], ...), all broadcast to y's shape.
// y may be the buffer of an input of its own size.
#include "common.glsl"
#include "chain.glsl"

layout(constant_id = 1) const uint DTYPE = FLOAT32;

layout(push_constant, scalar) uniform Arguments {
  uint64_t y;
  uint64_t table;
  uint64_t inputs[MOST_CHAIN_INPUTS];
  uint count;
};

#define CHAIN_INPUT(k) inputs[k]
DEFINE_RUN_CHAIN

void main() {
  for (GRID_STRIDE(i, count)) {
    StoreFloat(DTYPE, y, i, RunChain(DTYPE, ChainTable(table), i, 0.0));
  }
}
