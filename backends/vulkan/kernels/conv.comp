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
float ColumnElement(uint t, uint column) {
  Convolution of = Convolution(convolution);
  if (column >= of.images * of.output_count || t >= of.depth) return 0.0;
  const uint image = column / of.output_count;
  const uint first =
      image * of.x_image + group * of.channels * of.x_channel;
  return InputOf(of, first, PlaceOf(of, column % of.output_count),
                 Terms(terms).at[t]);
}
#define ROW_ELEMENT(row, t) RowElement(row, t)
#define COLUMN_ELEMENT(t, column) ColumnElement(t, column)

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
