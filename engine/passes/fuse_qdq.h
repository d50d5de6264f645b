#ifndef TENSORD_ENGINE_PASSES_FUSE_QDQ_H_
#define TENSORD_ENGINE_PASSES_FUSE_QDQ_H_

#include "engine/passes/pass_context.h"

namespace tensord {

// Computes on integers what stands between DequantizeLinear and QuantizeLinear:
//
//   Conv, Gemm, with a bias      QLinearConv
//   MatMul                       QLinearMatMul
//   MaxPool, Concat, Reshape,    the same, where both quantizations are the
//   Transpose and their like     same
//   element-wise operators       ElementwiseChain of integers
//
// A Relu or Clip behind a product is a bound of its integers: nothing where
// saturating does it, else a chain of Max and Min, which FuseEpilogue may take
// in. Scales and zero points are known, any zero point will do; weights may
// have one for each output channel. A DequantizeLinear that others read stays
// for them.
//
// Results are within one step of the quantization of those of the nodes as they
// were: sums are exact rather than rounded to float32, a bias becomes an
// integer of the sum's scale. Returns how many nodes it made.
int FuseQdq(PassContext& context);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_FUSE_QDQ_H_
