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
// Left as they are: products whose sums int32 might not hold, and element-wise
// operators that might make a NaN or overflow float32 (Log, Sqrt, a quotient by
// what is not known).
//
// A result of a node is within one step of the quantization of that of the
// nodes as they were, on the same integers: products are summed exactly rather
// than rounded to float32, a bias becomes an integer of the sum's scale, and
// the quotient of an element-wise chain is rounded with an odd zero point added
// already, so that a tie may go to the other side. A step off here is what the
// next node begins with. Returns how many nodes it made.
int FuseQdq(PassContext& context);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_FUSE_QDQ_H_
