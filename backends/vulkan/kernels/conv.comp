#version 460
// Conv and ConvTranspose as products: the rows are a group's output channels,
// the columns the outputs of all images, the depth input channels by taps.
#include "common.glsl"
#include "conv.glsl"
#include "product_tile.glsl"

uint group;

float RowElement(uint row, uint t) {
  Convolution of = Convolution(convolution);
  if (row >= of.rows || t >= of.depth) return 0.0;
  return LoadFloat(DTYPE, w,
                   group * of.w_group + row * of.w_row + Terms(terms).at[t].w);
}

// Where an invocation's columns are, by pass.
bool has_column[MOST_SUMS];
uint first_input[MOST_SUMS];
ivec3 places[MOST_SUMS];

void PrepareColumn(uint column, uint pass) {
  Convolution of = Convolution(convolution);
  has_column[pass] = column < of.images * of.output_count;
  const uint image = column / of.output_count;
  first_input[pass] = image * of.x_image + group * of.channels * of.x_channel;
  places[pass] = PlaceOf(of, column % of.output_count);
}
float ColumnElement(uint t, uint pass) {
  Convolution of = Convolution(convolution);
  if (!has_column[pass] || t >= of.depth) return 0.0;
  return InputOf(of, first_input[pass], places[pass], Terms(terms).at[t]);
}
#define PREPARE_COLUMN(column, pass) PrepareColumn(column, pass);
#define COLUMN_ELEMENT(t, column, pass) ColumnElement(t, pass)
#define ROW_ELEMENT(row, t) RowElement(row, t)

void StoreSum(uint row, uint column, float sum) {
  Convolution of = Convolution(convolution);
  if (row >= of.rows || column >= of.images * of.output_count) return;
  StoreOutput(of, column / of.output_count, group * of.rows + row,
              column % of.output_count, sum);
}

void main() {
  group = gl_WorkGroupID.z;
  MULTIPLY_TILE(gl_WorkGroupID.y * ROWS, gl_WorkGroupID.x * COLUMNS,
                Convolution(convolution).depth)
}
