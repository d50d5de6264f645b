// An expression's steps (chain.h), interpreted for one element: those of
// ElementwiseChain, and those behind a kernel's own result.
#include "steps.glsl"

const uint MOST_STEPS = 32, MOST_CHAIN_INPUTS = 8, MOST_PLACES = 8,
           MOST_DIGITS = 6;
// Where a step finds an operand; places and inputs are counted from theirs.
const uint FROM_PREVIOUS = 0, FROM_OWN = 1, FROM_CONSTANT = 2, FROM_PLACE = 8,
           FROM_INPUT = 16;
const uint NO_PLACE = 255;

struct ChainStep {
  uint op;
  uint operands[2];
  uint place;
  float constants[2];
  float parameters[2];
};

// Which element of an input meets element i of the output, whose number is
// written with mixed digits: the sum of i / divisor % extent * stride.
struct ChainDigit {
  uint divisor;
  uint extent;
  uint stride;
};
struct ChainInput {
  uint digit_count;
  ChainDigit digits[MOST_DIGITS];
};

layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer
    ChainTable {
  uint step_count;
  ChainStep steps[MOST_STEPS];
  ChainInput inputs[MOST_CHAIN_INPUTS];
};

uint ChainIndex(ChainTable chain, uint input_number, uint i) {
  uint index = 0;
  const uint count = chain.inputs[input_number].digit_count;
  for (uint d = 0; d < count; ++d) {
    const ChainDigit digit = chain.inputs[input_number].digits[d];
    index += i / digit.divisor % digit.extent * digit.stride;
  }
  return index;
}

// Needs CHAIN_INPUT(k), the address of the chain's input k.
#define DEFINE_RUN_CHAIN                                                      \
  float RunChain(uint dtype, ChainTable chain, uint i, float own) {           \
    float places[MOST_PLACES];                                                \
    float previous = own;                                                     \
    const uint count = chain.step_count;                                      \
    for (uint s = 0; s < count; ++s) {                                        \
      const ChainStep at = chain.steps[s];                                    \
      float values[2];                                                        \
      for (uint side = 0; side < 2; ++side) {                                 \
        const uint from = at.operands[side];                                  \
        if (from >= FROM_INPUT) {                                             \
          const uint k = from - FROM_INPUT;                                   \
          values[side] = LoadFloat(dtype, CHAIN_INPUT(k),                     \
                                   ChainIndex(chain, k, i));                  \
        } else if (from >= FROM_PLACE) {                                      \
          values[side] = places[from - FROM_PLACE];                           \
        } else {                                                              \
          values[side] = from == FROM_PREVIOUS ? previous                     \
                         : from == FROM_OWN    ? own                          \
                                               : at.constants[side];          \
        }                                                                     \
      }                                                                       \
      previous = EvaluateStep(at.op, values[0], values[1], at.parameters[0],  \
                              at.parameters[1]);                              \
      if (at.place != NO_PLACE) places[at.place] = previous;                  \
    }                                                                         \
    return previous;                                                          \
  }
