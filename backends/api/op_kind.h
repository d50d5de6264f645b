#ifndef TENSORD_BACKENDS_API_OP_KIND_H_
#define TENSORD_BACKENDS_API_OP_KIND_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

// Every operator of ONNX's default domain, and the optimizers of its training
// domain, by the standard's own name. An operator is here before any backend
// has a kernel for it: a graph that uses one without a kernel is refused with
// NoBackendForOp, and a metric's label set is bounded by this list.
#define TENSORD_ONNX_OP_KINDS(X) \
  X(Abs)                         \
  X(Acos)                        \
  X(Acosh)                       \
  X(Adagrad)                     \
  X(Adam)                        \
  X(Add)                         \
  X(AffineGrid)                  \
  X(And)                         \
  X(ArgMax)                      \
  X(ArgMin)                      \
  X(Asin)                        \
  X(Asinh)                       \
  X(Atan)                        \
  X(Atanh)                       \
  X(Attention)                   \
  X(AveragePool)                 \
  X(BatchNormalization)          \
  X(Bernoulli)                   \
  X(BitCast)                     \
  X(BitShift)                    \
  X(BitwiseAnd)                  \
  X(BitwiseNot)                  \
  X(BitwiseOr)                   \
  X(BitwiseXor)                  \
  X(BlackmanWindow)              \
  X(Cast)                        \
  X(CastLike)                    \
  X(CausalConvWithState)         \
  X(Ceil)                        \
  X(Celu)                        \
  X(CenterCropPad)               \
  X(Clip)                        \
  X(Col2Im)                      \
  X(Compress)                    \
  X(Concat)                      \
  X(ConcatFromSequence)          \
  X(Constant)                    \
  X(ConstantOfShape)             \
  X(Conv)                        \
  X(ConvInteger)                 \
  X(ConvTranspose)               \
  X(Cos)                         \
  X(Cosh)                        \
  X(CumProd)                     \
  X(CumSum)                      \
  X(DFT)                         \
  X(DeformConv)                  \
  X(DepthToSpace)                \
  X(DequantizeLinear)            \
  X(Det)                         \
  X(Div)                         \
  X(Dropout)                     \
  X(DynamicQuantizeLinear)       \
  X(Einsum)                      \
  X(Elu)                         \
  X(Equal)                       \
  X(Erf)                         \
  X(Exp)                         \
  X(Expand)                      \
  X(EyeLike)                     \
  X(Flatten)                     \
  X(Floor)                       \
  X(GRU)                         \
  X(Gather)                      \
  X(GatherElements)              \
  X(GatherND)                    \
  X(Gelu)                        \
  X(Gemm)                        \
  X(GlobalAveragePool)           \
  X(GlobalLpPool)                \
  X(GlobalMaxPool)               \
  X(Greater)                     \
  X(GreaterOrEqual)              \
  X(GridSample)                  \
  X(GroupNormalization)          \
  X(HammingWindow)               \
  X(HannWindow)                  \
  X(HardSigmoid)                 \
  X(HardSwish)                   \
  X(Hardmax)                     \
  X(Identity)                    \
  X(If)                          \
  X(ImageDecoder)                \
  X(InstanceNormalization)       \
  X(IsInf)                       \
  X(IsNaN)                       \
  X(LRN)                         \
  X(LSTM)                        \
  X(LayerNormalization)          \
  X(LeakyRelu)                   \
  X(Less)                        \
  X(LessOrEqual)                 \
  X(LinearAttention)             \
  X(Log)                         \
  X(LogSoftmax)                  \
  X(Loop)                        \
  X(LpNormalization)             \
  X(LpPool)                      \
  X(MatMul)                      \
  X(MatMulInteger)               \
  X(Max)                         \
  X(MaxPool)                     \
  X(MaxRoiPool)                  \
  X(MaxUnpool)                   \
  X(Mean)                        \
  X(MeanVarianceNormalization)   \
  X(MelWeightMatrix)             \
  X(Min)                         \
  X(Mish)                        \
  X(Mod)                         \
  X(Momentum)                    \
  X(Mul)                         \
  X(Multinomial)                 \
  X(Neg)                         \
  X(NegativeLogLikelihoodLoss)   \
  X(NonMaxSuppression)           \
  X(NonZero)                     \
  X(Not)                         \
  X(OneHot)                      \
  X(Optional)                    \
  X(OptionalGetElement)          \
  X(OptionalHasElement)          \
  X(Or)                          \
  X(PRelu)                       \
  X(Pad)                         \
  X(Pow)                         \
  X(QLinearConv)                 \
  X(QLinearMatMul)               \
  X(QuantizeLinear)              \
  X(RMSNormalization)            \
  X(RNN)                         \
  X(RandomNormal)                \
  X(RandomNormalLike)            \
  X(RandomUniform)               \
  X(RandomUniformLike)           \
  X(Range)                       \
  X(Reciprocal)                  \
  X(ReduceL1)                    \
  X(ReduceL2)                    \
  X(ReduceLogSum)                \
  X(ReduceLogSumExp)             \
  X(ReduceMax)                   \
  X(ReduceMean)                  \
  X(ReduceMin)                   \
  X(ReduceProd)                  \
  X(ReduceSum)                   \
  X(ReduceSumSquare)             \
  X(RegexFullMatch)              \
  X(Relu)                        \
  X(Reshape)                     \
  X(Resize)                      \
  X(ReverseSequence)             \
  X(RoiAlign)                    \
  X(RotaryEmbedding)             \
  X(Round)                       \
  X(STFT)                        \
  X(Scan)                        \
  X(Scatter)                     \
  X(ScatterElements)             \
  X(ScatterND)                   \
  X(Selu)                        \
  X(SequenceAt)                  \
  X(SequenceConstruct)           \
  X(SequenceEmpty)               \
  X(SequenceErase)               \
  X(SequenceInsert)              \
  X(SequenceLength)              \
  X(SequenceMap)                 \
  X(Shape)                       \
  X(Shrink)                      \
  X(Sigmoid)                     \
  X(Sign)                        \
  X(Sin)                         \
  X(Sinh)                        \
  X(Size)                        \
  X(Slice)                       \
  X(Softmax)                     \
  X(SoftmaxCrossEntropyLoss)     \
  X(Softplus)                    \
  X(Softsign)                    \
  X(SpaceToDepth)                \
  X(Split)                       \
  X(SplitToSequence)             \
  X(Sqrt)                        \
  X(Squeeze)                     \
  X(StringConcat)                \
  X(StringNormalizer)            \
  X(StringSplit)                 \
  X(Sub)                         \
  X(Sum)                         \
  X(Swish)                       \
  X(Tan)                         \
  X(Tanh)                        \
  X(TensorScatter)               \
  X(TfIdfVectorizer)             \
  X(ThresholdedRelu)             \
  X(Tile)                        \
  X(TopK)                        \
  X(Transpose)                   \
  X(Trilu)                       \
  X(Unique)                      \
  X(Unsqueeze)                   \
  X(Upsample)                    \
  X(Where)                       \
  X(Xor)

// What compile passes make and no client can send. A fused node with an anchor
// keeps the anchor's kind, so this list stays short.
#define TENSORD_OWN_OP_KINDS(X) X(ElementwiseChain)

namespace tensord {

// Which operator, free of dtype and device. Names and semantics are ONNX's.
// Threading and ownership: a plain value.
enum class OpKind : uint16_t {
#define TENSORD_ENUMERATOR(name) k##name,
  TENSORD_ONNX_OP_KINDS(TENSORD_ENUMERATOR)
      TENSORD_OWN_OP_KINDS(TENSORD_ENUMERATOR)
#undef TENSORD_ENUMERATOR
};

#define TENSORD_COUNT(name) +1
inline constexpr int kOnnxOpKindCount = 0 TENSORD_ONNX_OP_KINDS(TENSORD_COUNT);
inline constexpr int kOpKindCount =
    kOnnxOpKindCount TENSORD_OWN_OP_KINDS(TENSORD_COUNT);
#undef TENSORD_COUNT

// "Conv"; never empty.
absl::string_view OpKindName(OpKind op);

// The kind of an ONNX operator name; nothing for a name that the standard does
// not have, tensord's own kinds included.
std::optional<OpKind> OpKindFromName(absl::string_view name);

// The ONNX domain whose operator this is: empty for the default one.
inline constexpr absl::string_view kTrainingDomain = "ai.onnx.preview.training";
absl::string_view OpKindDomain(OpKind op);

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_OP_KIND_H_
