// A convolution's operands, for the shaders that go through them in tiles or
// output by output. Spatial dimensions are always three, the missing ones in
// front.
#include "chain.glsl"

layout(constant_id = 1) const uint DTYPE = FLOAT32;
layout(constant_id = 2) const uint HAS_EPILOGUE = 0;
// Output o gets the inputs that spread to it, rather than those that it sees.
layout(constant_id = 3) const uint IS_TRANSPOSED = 0;

layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer
    Convolution {
  uint images, groups, channels, rows;  // channels and rows of one group
  int inputs[3];
  uint outputs[3];
  int strides[3];
  uint output_count;  // of one channel
  uint depth;         // terms of one output's sum
  // Of x and y: elements from an image, a channel, a place to the next.
  uint x_image, x_channel, x_place;
  uint y_image, y_channel, y_place;
  uint w_group, w_row;
};

// A term of every output's sum.
struct Term {
  uint x;    // its channel's first element in the group's
  uint w;    // its weight in the row's
  int taps[3];  // the input's place less the output's share; or of a transposed
                // one, what is added to the output's place
};
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer
    Terms {
  Term at[];
};

layout(push_constant, scalar) uniform Arguments {
  uint64_t x, w, bias, y;
  uint64_t convolution;
  uint64_t terms;
  uint64_t epilogue;
  uint64_t epilogue_inputs[4];
};
#define CHAIN_INPUT(k) epilogue_inputs[k]
DEFINE_RUN_CHAIN

// The input along one axis, or -1.
int InputAt(Convolution of, uint d, int at_output, int tap) {
  if (IS_TRANSPOSED == 0) {
    const int i = at_output * of.strides[d] + tap;
    return i < of.inputs[d] ? i : -1;
  }
  const int scaled = at_output + tap;
  if (scaled < 0 || scaled % of.strides[d] != 0) return -1;
  const int i = scaled / of.strides[d];
  return i < of.inputs[d] ? i : -1;
}

// The element of x that the term has for an output of the image and group
// whose elements begin at `first`; 0 where it is padding.
float InputOf(Convolution of, uint first, ivec3 at_output, Term term) {
  const int i = InputAt(of, 0, at_output.x, term.taps[0]);
  const int j = InputAt(of, 1, at_output.y, term.taps[1]);
  const int k = InputAt(of, 2, at_output.z, term.taps[2]);
  if (i < 0 || j < 0 || k < 0) return 0.0;
  const uint place = uint((i * of.inputs[1] + j) * of.inputs[2] + k);
  return LoadFloat(DTYPE, x, first + term.x + place * of.x_place);
}

ivec3 PlaceOf(Convolution of, uint at_output) {
  const uint k = at_output % of.outputs[2];
  const uint rest = at_output / of.outputs[2];
  return ivec3(int(rest / of.outputs[1]), int(rest % of.outputs[1]), int(k));
}

// `channel` counts those of all groups.
void StoreOutput(Convolution of, uint image, uint channel, uint at_output,
                 float sum) {
  if (bias != 0) sum += LoadFloat(DTYPE, bias, channel);
  const uint at =
      image * of.y_image + channel * of.y_channel + at_output * of.y_place;
  if (HAS_EPILOGUE != 0) sum = RunChain(DTYPE, ChainTable(epilogue), at, sum);
  StoreFloat(DTYPE, y, at, sum);
}
