#ifndef TENSORD_ENGINE_PASSES_QUANTIZED_CHAIN_H_
#define TENSORD_ENGINE_PASSES_QUANTIZED_CHAIN_H_

#include <optional>
#include <vector>

#include "backends/api/expression.h"
#include "engine/passes/graph_editor.h"
#include "engine/passes/quantized_value.h"

namespace tensord {

// What element-wise nodes between DequantizeLinear and QuantizeLinear compute,
// as an expression of the integers: x - zero point, times the scale; the nodes'
// own steps; divided by the result's scale, plus its zero point. A chain of
// integers rounds and saturates by itself.
struct QuantizedChain {
  Expression expression;
  std::vector<ValueId> inputs;
  // The nodes that nobody else needs, the QuantizeLinear among them.
  std::vector<NodeId> nodes;
};

// The chain that ends in a QuantizeLinear that makes `to`; nothing where what
// it reads is not made so, of integers of the same dtype, known numbers and
// steps alone.
std::optional<QuantizedChain> QuantizedChainOf(GraphEditor& graph,
                                               NodeId quantize,
                                               const Quantization& to);

// max(x, least) and min(x, most), either left out where all integers are
// within; of one input.
Expression BoundsExpression(const Quantization& quantization, int32_t least,
                            int32_t most);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_QUANTIZED_CHAIN_H_
