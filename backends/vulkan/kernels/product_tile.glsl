// One tile of a product by a work group of 256: (16 * TILE_ROWS) by (16 *
// TILE_COLUMNS) sums, TILE_ROWS by TILE_COLUMNS an invocation, over steps of
// TILE_DEPTH terms that stand in shared memory. Sums are float32.
//
// Needs ROW_ELEMENT(row, t) and COLUMN_ELEMENT(t, column, pass), 0 outside of
// the operands, and StoreSum(row, column, sum). An invocation loads of the same
// column in each pass of a step, so PREPARE_COLUMN(column, pass) comes once, and
// can note where that column is.
layout(constant_id = 10) const uint TILE_ROWS = 4;
layout(constant_id = 11) const uint TILE_COLUMNS = 4;
// Whether neighbouring invocations should load neighbours along the depth (1)
// or along the rows and columns (0): as the operand lies in memory.
layout(constant_id = 12) const uint ROWS_BY_DEPTH = 1;
layout(constant_id = 13) const uint COLUMNS_BY_DEPTH = 0;

const uint SIDE = 16;
const uint TILE_DEPTH = 16;
const uint ROWS = SIDE * TILE_ROWS;
const uint COLUMNS = SIDE * TILE_COLUMNS;
const uint MOST_SUMS = 4;

// A step's terms, by depth; one more an entry keeps columns of a bank apart.
shared float row_terms[TILE_DEPTH][SIDE * 4 + 1];
shared float column_terms[TILE_DEPTH][SIDE * 4 + 1];

#define MULTIPLY_TILE(first_row, first_column, depth)                          \
  {                                                                            \
    const uint me = gl_LocalInvocationID.x;                                    \
    const uint my_row = me / SIDE;                                             \
    const uint my_column = me % SIDE;                                          \
    float sums[MOST_SUMS][MOST_SUMS];                                          \
    for (uint i = 0; i < TILE_ROWS; ++i) {                                     \
      for (uint j = 0; j < TILE_COLUMNS; ++j) sums[i][j] = 0.0;                \
    }                                                                          \
    for (uint pass = 0; pass < TILE_COLUMNS; ++pass) {                         \
      const uint e = me + pass * SIDE * SIDE;                                  \
      PREPARE_COLUMN((first_column) + (COLUMNS_BY_DEPTH != 0                   \
                                           ? e / TILE_DEPTH                    \
                                           : e % COLUMNS),                     \
                     pass)                                                     \
    }                                                                          \
    for (uint t0 = 0; t0 < (depth); t0 += TILE_DEPTH) {                        \
      for (uint e = me; e < ROWS * TILE_DEPTH; e += SIDE * SIDE) {             \
        const uint t = ROWS_BY_DEPTH != 0 ? e % TILE_DEPTH : e / ROWS;         \
        const uint r = ROWS_BY_DEPTH != 0 ? e / TILE_DEPTH : e % ROWS;         \
        row_terms[t][r] = ROW_ELEMENT((first_row) + r, t0 + t);                \
      }                                                                        \
      for (uint pass = 0; pass < TILE_COLUMNS; ++pass) {                       \
        const uint e = me + pass * SIDE * SIDE;                                \
        const uint t = COLUMNS_BY_DEPTH != 0 ? e % TILE_DEPTH : e / COLUMNS;   \
        const uint c = COLUMNS_BY_DEPTH != 0 ? e / TILE_DEPTH : e % COLUMNS;   \
        column_terms[t][c] = COLUMN_ELEMENT(t0 + t, (first_column) + c, pass); \
      }                                                                        \
      barrier();                                                               \
      for (uint t = 0; t < TILE_DEPTH; ++t) {                                  \
        float own_rows[MOST_SUMS];                                             \
        float own_columns[MOST_SUMS];                                          \
        [[unroll]] for (uint i = 0; i < TILE_ROWS; ++i) {                      \
          own_rows[i] = row_terms[t][my_row + i * SIDE];                       \
        }                                                                      \
        [[unroll]] for (uint j = 0; j < TILE_COLUMNS; ++j) {                   \
          own_columns[j] = column_terms[t][my_column + j * SIDE];              \
        }                                                                      \
        [[unroll]] for (uint i = 0; i < TILE_ROWS; ++i) {                      \
          [[unroll]] for (uint j = 0; j < TILE_COLUMNS; ++j) {                 \
            sums[i][j] += own_rows[i] * own_columns[j];                        \
          }                                                                    \
        }                                                                      \
      }                                                                        \
      barrier();                                                               \
    }                                                                          \
    /* One StoreSum for all: an epilogue is long, and compilers unroll. Sums     \
       are chosen rather than indexed, so that they stay in registers. */      \
    [[dont_unroll]] for (uint s = 0; s < TILE_ROWS * TILE_COLUMNS; ++s) {      \
      float sum = 0.0;                                                         \
      [[unroll]] for (uint i = 0; i < TILE_ROWS; ++i) {                        \
        [[unroll]] for (uint j = 0; j < TILE_COLUMNS; ++j) {                   \
          if (s == i * TILE_COLUMNS + j) sum = sums[i][j];                     \
        }                                                                      \
      }                                                                        \
      StoreSum((first_row) + my_row + s / TILE_COLUMNS * SIDE,                 \
               (first_column) + my_column + s % TILE_COLUMNS * SIDE, sum);     \
    }                                                                          \
  }
