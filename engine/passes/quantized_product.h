#ifndef TENSORD_ENGINE_PASSES_QUANTIZED_PRODUCT_H_
#define TENSORD_ENGINE_PASSES_QUANTIZED_PRODUCT_H_

#include <optional>
#include <vector>

#include "engine/passes/graph_editor.h"
#include "engine/passes/quantized_value.h"

namespace tensord {

// A convolution or a matrix product of integers, and the DequantizeLinear nodes
// that it reads around.
struct QuantizedProduct {
  Node node;  // without outputs
  std::vector<NodeId> dequantizers;
};

// The QLinearConv or QLinearMatMul that computes what a Conv or MatMul would,
// quantized as `to` says; nothing for other nodes, and where operands are not
// dequantized integers. May add constants to the graph.
std::optional<QuantizedProduct> QuantizedProductOf(GraphEditor& graph,
                                                   NodeId anchor,
                                                   const Quantization& to);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_QUANTIZED_PRODUCT_H_
