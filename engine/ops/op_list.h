#ifndef TENSORD_ENGINE_OPS_OP_LIST_H_
#define TENSORD_ENGINE_OPS_OP_LIST_H_

#include "engine/ops/op_def.h"

// Every operator that the engine knows, in the order of OpKind (the compiler
// checks it). X(Conv) stands for a function OpDef ConvDef(), which a file in
// engine/ops defines; a new operator is that file and its line here.
#define TENSORD_OPS(X)  \
  X(Abs)                \
  X(Add)                \
  X(ArgMax)             \
  X(ArgMin)             \
  X(AveragePool)        \
  X(BatchNormalization) \
  X(Concat)             \
  X(ConstantOfShape)    \
  X(Conv)               \
  X(CumSum)             \
  X(DepthToSpace)       \
  X(Div)                \
  X(Exp)                \
  X(Expand)             \
  X(Flatten)            \
  X(GatherElements)     \
  X(GatherND)           \
  X(Gemm)               \
  X(GlobalAveragePool)  \
  X(GlobalMaxPool)      \
  X(Identity)           \
  X(LogSoftmax)         \
  X(MatMul)             \
  X(MaxPool)            \
  X(Mul)                \
  X(Neg)                \
  X(NonZero)            \
  X(Pow)                \
  X(Range)              \
  X(ReduceL1)           \
  X(ReduceL2)           \
  X(ReduceLogSum)       \
  X(ReduceLogSumExp)    \
  X(ReduceMax)          \
  X(ReduceMean)         \
  X(ReduceMin)          \
  X(ReduceProd)         \
  X(ReduceSum)          \
  X(ReduceSumSquare)    \
  X(Relu)               \
  X(Scatter)            \
  X(ScatterElements)    \
  X(ScatterND)          \
  X(Sigmoid)            \
  X(Size)               \
  X(Slice)              \
  X(Softmax)            \
  X(SpaceToDepth)       \
  X(Split)              \
  X(Sqrt)               \
  X(Sub)                \
  X(Tanh)               \
  X(Tile)               \
  X(Trilu)

namespace tensord {

#define TENSORD_DECLARE(name) OpDef name##Def();
TENSORD_OPS(TENSORD_DECLARE)
#undef TENSORD_DECLARE

}  // namespace tensord

#endif  // TENSORD_ENGINE_OPS_OP_LIST_H_
