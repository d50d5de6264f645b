#ifndef TENSORD_ENGINE_PASSES_QUANTIZED_PRODUCT_H_
#define TENSORD_ENGINE_PASSES_QUANTIZED_PRODUCT_H_

#include <optional>
#include <vector>

#include "engine/passes/pass_context.h"
#include "engine/passes/quantized_value.h"

namespace tensord {

// A convolution or a matrix product of integers, and the DequantizeLinear nodes
// that it reads around.
struct QuantizedProduct {
  // Another shape of the first operand that the node reads, and of its result.
  struct Views {
    ValueId input;
    Shape input_shape;
    Shape result_shape;
  };

  Node node;  // without outputs
  std::vector<NodeId> dequantizers;
  std::optional<Views> views;
};

// The QLinearConv or QLinearMatMul that computes what a Conv, Gemm or MatMul
// would, quantized as `to` says; nothing for other nodes, and where operands
// are not dequantized integers. A Gemm, which may have a bias, is a convolution
// of images of one pixel. May add constants to the graph.
std::optional<QuantizedProduct> QuantizedProductOf(PassContext& context,
                                                   NodeId anchor,
                                                   const Quantization& to);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_QUANTIZED_PRODUCT_H_
