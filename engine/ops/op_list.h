#ifndef TENSORD_ENGINE_OPS_OP_LIST_H_
#define TENSORD_ENGINE_OPS_OP_LIST_H_

#include "engine/ops/op_def.h"

// Every operator that the engine knows, in the order of OpKind (the compiler
// checks it). X(Conv) stands for a function OpDef ConvDef(), which a file in
// engine/ops defines; a new operator is that file and its line here. Those files
// do not include this one: each would be compiled anew with every operator.
// clang-format off
#define TENSORD_OPS(X) \
  X(Abs) \
  X(Acos) \
  X(Acosh) \
  X(Add) \
  X(And) \
  X(ArgMax) \
  X(ArgMin) \
  X(Asin) \
  X(Asinh) \
  X(Atan) \
  X(Atanh) \
  X(Attention) \
  X(AveragePool) \
  X(BatchNormalization) \
  X(BitCast) \
  X(BitShift) \
  X(BitwiseAnd) \
  X(BitwiseNot) \
  X(BitwiseOr) \
  X(BitwiseXor) \
  X(Cast) \
  X(CastLike) \
  X(Ceil) \
  X(Celu) \
  X(CenterCropPad) \
  X(Clip) \
  X(Col2Im) \
  X(Compress) \
  X(Concat) \
  X(ConcatFromSequence) \
  X(ConstantOfShape) \
  X(Conv) \
  X(ConvInteger) \
  X(ConvTranspose) \
  X(Cos) \
  X(Cosh) \
  X(CumSum) \
  X(DepthToSpace) \
  X(DequantizeLinear) \
  X(Div) \
  X(Dropout) \
  X(DynamicQuantizeLinear) \
  X(Einsum) \
  X(Elu) \
  X(Equal) \
  X(Erf) \
  X(Exp) \
  X(Expand) \
  X(EyeLike) \
  X(Flatten) \
  X(Floor) \
  X(GRU) \
  X(Gather) \
  X(GatherElements) \
  X(GatherND) \
  X(Gelu) \
  X(Gemm) \
  X(GlobalAveragePool) \
  X(GlobalLpPool) \
  X(GlobalMaxPool) \
  X(Greater) \
  X(GreaterOrEqual) \
  X(GridSample) \
  X(GroupNormalization) \
  X(HardSigmoid) \
  X(HardSwish) \
  X(Hardmax) \
  X(Identity) \
  X(If) \
  X(InstanceNormalization) \
  X(IsInf) \
  X(IsNaN) \
  X(LRN) \
  X(LSTM) \
  X(LayerNormalization) \
  X(LeakyRelu) \
  X(Less) \
  X(LessOrEqual) \
  X(Log) \
  X(LogSoftmax) \
  X(Loop) \
  X(LpNormalization) \
  X(LpPool) \
  X(MatMul) \
  X(MatMulInteger) \
  X(Max) \
  X(MaxPool) \
  X(MaxUnpool) \
  X(Mean) \
  X(MeanVarianceNormalization) \
  X(Min) \
  X(Mish) \
  X(Mod) \
  X(Mul) \
  X(Neg) \
  X(NonMaxSuppression) \
  X(NonZero) \
  X(Not) \
  X(OneHot) \
  X(Optional) \
  X(OptionalGetElement) \
  X(OptionalHasElement) \
  X(Or) \
  X(PRelu) \
  X(Pad) \
  X(Pow) \
  X(QLinearConv) \
  X(QLinearMatMul) \
  X(QuantizeLinear) \
  X(RMSNormalization) \
  X(RNN) \
  X(Range) \
  X(Reciprocal) \
  X(ReduceL1) \
  X(ReduceL2) \
  X(ReduceLogSum) \
  X(ReduceLogSumExp) \
  X(ReduceMax) \
  X(ReduceMean) \
  X(ReduceMin) \
  X(ReduceProd) \
  X(ReduceSum) \
  X(ReduceSumSquare) \
  X(Relu) \
  X(Reshape) \
  X(Resize) \
  X(ReverseSequence) \
  X(RoiAlign) \
  X(RotaryEmbedding) \
  X(Round) \
  X(Scan) \
  X(Scatter) \
  X(ScatterElements) \
  X(ScatterND) \
  X(Selu) \
  X(SequenceAt) \
  X(SequenceConstruct) \
  X(SequenceEmpty) \
  X(SequenceErase) \
  X(SequenceInsert) \
  X(SequenceLength) \
  X(Shape) \
  X(Sigmoid) \
  X(Sign) \
  X(Sin) \
  X(Sinh) \
  X(Size) \
  X(Slice) \
  X(Softmax) \
  X(Softplus) \
  X(Softsign) \
  X(SpaceToDepth) \
  X(Split) \
  X(SplitToSequence) \
  X(Sqrt) \
  X(Squeeze) \
  X(Sub) \
  X(Sum) \
  X(Swish) \
  X(Tan) \
  X(Tanh) \
  X(ThresholdedRelu) \
  X(Tile) \
  X(TopK) \
  X(Transpose) \
  X(Trilu) \
  X(Unique) \
  X(Unsqueeze) \
  X(Upsample) \
  X(Where) \
  X(Xor) \
  X(ElementwiseChain)
// clang-format on

namespace tensord {

#define TENSORD_DECLARE(name) OpDef name##Def();
TENSORD_OPS(TENSORD_DECLARE)
#undef TENSORD_DECLARE

}  // namespace tensord

#endif  // TENSORD_ENGINE_OPS_OP_LIST_H_
