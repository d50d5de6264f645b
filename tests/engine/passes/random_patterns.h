#ifndef TENSORD_TESTS_ENGINE_PASSES_RANDOM_PATTERNS_H_
#define TENSORD_TESTS_ENGINE_PASSES_RANDOM_PATTERNS_H_

#include <string>

#include "tests/engine/passes/random_writer.h"

namespace tensord {

// What passes look for, in the spellings that exporters have, and what stands
// around it. Each writes its nodes and returns the last one's value; one that
// does not fit x writes something else.
//
// Threading and ownership: as RandomWriter.
class RandomPatterns : public RandomWriter {
 protected:
  using RandomWriter::RandomWriter;

  Value Activation(const Value& x);
  Value HardSwishSpelledOut(const Value& x);
  // With a constant that broadcasts, or with another value of the same extents.
  Value Arithmetic(const Value& x);
  Value GeluByErf(const Value& x);
  Value GeluByTanh(const Value& x);
  Value Mean(const Value& x, int64_t axis);
  Value LayerNorm(const Value& given);
  Value Dense(const Value& x, int64_t columns);
  Value Matrix(const Value& x);
  Value Heads(const Value& x, int64_t heads, bool is_key);
  Value Attention(const Value& x);
  Value Reduction(const Value& x);
  // x in steps of kQuantum, as float32.
  Value ThroughInteger(const Value& x, const std::string& scale,
                       const std::string& zero);
  // QDQ around a product, or around a movement.
  Value Quantized(const Value& x);
  Value Convolution(const Value& x);
  Value Image(const Value& x);
  Value Movement(const Value& x);
};

}  // namespace tensord

#endif  // TENSORD_TESTS_ENGINE_PASSES_RANDOM_PATTERNS_H_
