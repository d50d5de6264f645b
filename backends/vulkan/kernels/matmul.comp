#version 460
// y[batch, r, c] = alpha * sum over t of a[batch, r, t] * b[batch, t, c]
//                  + beta * c[r, c], then the epilogue
#include "common.glsl"
#include "chain.glsl"
#include "product_tile.glsl"

layout(constant_id = 1) const uint DTYPE = FLOAT32;
layout(constant_id = 2) const uint HAS_EPILOGUE = 0;

const uint MOST_DIMENSIONS = 6;
struct BatchDimension {  // the innermost first
  uint extent;
  uint a;  // strides
  uint b;
};
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer
    Matrices {
  uint m, n, k;
  uint a_row, a_column, b_row, b_column;  // strides
  uint c_row, c_column;
  float alpha, beta;
  uint batch;
  uint batch_rank;
  BatchDimension dimensions[MOST_DIMENSIONS];
};

layout(push_constant, scalar) uniform Arguments {
  uint64_t a, b, c, y;
  uint64_t matrices;
  uint64_t epilogue;
  uint64_t epilogue_inputs[4];
};
#define CHAIN_INPUT(k) epilogue_inputs[k]
DEFINE_RUN_CHAIN

uint a_first, b_first, batch_index;

float RowElement(uint row, uint t) {
  Matrices of = Matrices(matrices);
  if (row >= of.m || t >= of.k) return 0.0;
  return LoadFloat(DTYPE, a, a_first + row * of.a_row + t * of.a_column);
}
float ColumnElement(uint t, uint column) {
  Matrices of = Matrices(matrices);
  if (column >= of.n || t >= of.k) return 0.0;
  return LoadFloat(DTYPE, b, b_first + t * of.b_row + column * of.b_column);
}
#define ROW_ELEMENT(row, t) RowElement(row, t)
#define PREPARE_COLUMN(column, pass)
#define COLUMN_ELEMENT(t, column, pass) ColumnElement(t, column)

void StoreSum(uint row, uint column, float sum) {
  Matrices of = Matrices(matrices);
  if (row >= of.m || column >= of.n) return;
  sum *= of.alpha;
  if (c != 0) {
    sum += of.beta * LoadFloat(DTYPE, c, row * of.c_row + column * of.c_column);
  }
  const uint at = (batch_index * of.m + row) * of.n + column;
  if (HAS_EPILOGUE != 0) sum = RunChain(DTYPE, ChainTable(epilogue), at, sum);
  StoreFloat(DTYPE, y, at, sum);
}

void main() {
  Matrices of = Matrices(matrices);
  for (uint index = gl_WorkGroupID.z; index < of.batch;
       index += gl_NumWorkGroups.z) {
    batch_index = index;
    a_first = 0;
    b_first = 0;
    uint rest = index;
    for (uint d = 0; d < of.batch_rank; ++d) {
      const uint digit = rest % of.dimensions[d].extent;
      rest /= of.dimensions[d].extent;
      a_first += digit * of.dimensions[d].a;
      b_first += digit * of.dimensions[d].b;
    }
    MULTIPLY_TILE(gl_WorkGroupID.y * ROWS, gl_WorkGroupID.x * COLUMNS, of.k)
  }
}
