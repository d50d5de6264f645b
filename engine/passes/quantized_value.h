#ifndef TENSORD_ENGINE_PASSES_QUANTIZED_VALUE_H_
#define TENSORD_ENGINE_PASSES_QUANTIZED_VALUE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/passes/graph_editor.h"

namespace tensord {

// How 8-bit integers stand for float32 numbers: (q - zero_point) * scale, one
// of each for the whole tensor, both known.
// Threading and ownership: a plain value.
struct Quantization {
  DType dtype = DType::kUndefined;  // int8 or uint8
  float scale = 0;                  // finite, above 0
  int32_t zero_point = 0;
  // The operands that say so; without a zero point it is 0.
  ValueId scale_value = kNoValue;
  ValueId zero_point_value = kNoValue;

  // The integer of a number, which may be infinite.
  int32_t IntegerOf(double number) const;
  int32_t least() const { return dtype == DType::kInt8 ? -128 : 0; }
  int32_t most() const { return dtype == DType::kInt8 ? 127 : 255; }

  bool IsAs(const Quantization& other) const {
    return dtype == other.dtype && scale == other.scale &&
           zero_point == other.zero_point;
  }
};

// What a QuantizeLinear makes, or a DequantizeLinear takes; nothing where it is
// not as above.
std::optional<Quantization> QuantizationOf(const GraphEditor& graph,
                                           const Node& node);

// A float32 value that a DequantizeLinear makes of integers.
struct QuantizedValue {
  ValueId integers;
  NodeId node;
  Quantization quantization;
};
std::optional<QuantizedValue> QuantizedValueOf(const GraphEditor& graph,
                                               ValueId value);

// Integers that a DequantizeLinear multiplies by one scale, or by one for each
// index of a dimension; of weights and biases. Scales and zero points are
// known.
struct ScaledLines {
  ValueId integers;
  NodeId node;
  ValueId scale_value, zero_point_value;  // the latter may be absent
  std::vector<float> scales;              // one, or one a line; above 0
  std::vector<int32_t> zero_points;       // as many; or none, which are 0

  float scale(size_t line) const {
    return scales[scales.size() == 1 ? 0 : line];
  }
  int32_t zero_point(size_t line) const {
    if (zero_points.empty()) return 0;
    return zero_points[zero_points.size() == 1 ? 0 : line];
  }
};
// `dimension` may be negative, counting from the end.
std::optional<ScaledLines> ScaledLinesOf(const GraphEditor& graph,
                                         ValueId value, int dimension);

// The elements of a tensor of int8, uint8 or int32 that is known; nothing for
// others.
std::optional<std::vector<int32_t>> KnownIntegers(const GraphEditor& graph,
                                                  ValueId value);

// A zero point of 0.
ValueId AddZeroPoint(GraphEditor& graph, DType dtype, ValueId origin);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_QUANTIZED_VALUE_H_
