#version 460
// Conv and ConvTranspose, an invocation an output: for groups of few channels,
// a depthwise convolution's among them.
#include "common.glsl"
#include "conv.glsl"

void main() {
  Convolution of = Convolution(convolution);
  const uint channels = of.groups * of.rows;
  const uint count = of.images * channels * of.output_count;
  for (GRID_STRIDE(i, count)) {
    // In the order of y's memory.
    const bool is_last = of.y_channel == 1 && of.y_place != 1;
    const uint channel =
        is_last ? i % channels : i / of.output_count % channels;
    const uint at_output =
        is_last ? i / channels % of.output_count : i % of.output_count;
    const uint image = i / (channels * of.output_count);
    const uint group = channel / of.rows;
    const uint first = image * of.x_image + group * of.channels * of.x_channel;
    const uint own = group * of.w_group + channel % of.rows * of.w_row;
    const ivec3 place = PlaceOf(of, at_output);
    float sum = 0.0;
    for (uint t = 0; t < of.depth; ++t) {
      const Term term = Terms(terms).at[t];
      sum += LoadFloat(DTYPE, w, own + term.w) * InputOf(of, first, place, term);
    }
    StoreOutput(of, image, channel, at_output, sum);
  }
}
