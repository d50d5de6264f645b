#ifndef TENSORD_BACKENDS_CPU_KERNELS_KERNELS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_KERNELS_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/api/kernel.h"

// The functions that the rows of kernel_table.cc point to, by file. What each
// computes stands above it in its file; templates are instantiated there for
// the dtypes that the table lists.
//
// Kernel files do not include this header: a kernel's revision covers all that
// it includes, and would change with every operator that is added here.
namespace tensord {

// activations.cc
template <typename T>
absl::Status RunCelu(const KernelCall& call);
template <typename T>
absl::Status RunElu(const KernelCall& call);
template <typename T>
absl::Status RunGelu(const KernelCall& call);
template <typename T>
absl::Status RunHardSigmoid(const KernelCall& call);
template <typename T>
absl::Status RunHardSwish(const KernelCall& call);
template <typename T>
absl::Status RunLeakyRelu(const KernelCall& call);
template <typename T>
absl::Status RunMish(const KernelCall& call);
template <typename T>
absl::Status RunRelu(const KernelCall& call);
template <typename T>
absl::Status RunSelu(const KernelCall& call);
template <typename T>
absl::Status RunSigmoid(const KernelCall& call);
template <typename T>
absl::Status RunSoftplus(const KernelCall& call);
template <typename T>
absl::Status RunSoftsign(const KernelCall& call);
template <typename T>
absl::Status RunSwish(const KernelCall& call);
template <typename T>
absl::Status RunThresholdedRelu(const KernelCall& call);

// arg_reduce.cc
template <typename T>
absl::Status RunArgMax(const KernelCall& call);
template <typename T>
absl::Status RunArgMin(const KernelCall& call);

// attention.cc
uint64_t AttentionWorkspaceBytes(const NodeSite& site);
absl::StatusOr<std::unique_ptr<KernelState>> PrepareAttention(
    const NodeSite& site, Device& device);
KernelCost AttentionCost(const NodeSite& site);
template <typename T>
absl::Status RunAttention(const KernelCall& call);

// batch_normalization.cc
template <typename T>
absl::StatusOr<std::unique_ptr<KernelState>> PrepareBatchNormalization(
    const NodeSite& site, Device& device);
KernelCost BatchNormalizationCost(const NodeSite& site);
template <typename T>
absl::Status RunBatchNormalization(const KernelCall& call);

// binary.cc
template <typename T>
absl::Status RunAdd(const KernelCall& call);
template <typename T>
absl::Status RunDiv(const KernelCall& call);
template <typename T>
absl::Status RunMul(const KernelCall& call);
template <typename T>
absl::Status RunSub(const KernelCall& call);

// bitwise.cc
template <typename T>
absl::Status RunBitShift(const KernelCall& call);
template <typename T>
absl::Status RunBitwiseAnd(const KernelCall& call);
template <typename T>
absl::Status RunBitwiseOr(const KernelCall& call);
template <typename T>
absl::Status RunBitwiseXor(const KernelCall& call);

// cast.cc
absl::Status RunBitCast(const KernelCall& call);
template <typename From, typename To>
absl::Status RunCast(const KernelCall& call);

// cast_small.cc
absl::StatusOr<std::unique_ptr<KernelState>> PrepareCastSmall(
    const NodeSite& site, Device& device);
absl::Status RunCastSmall(const KernelCall& call);

// center_crop_pad.cc
template <int kElementBytes>
absl::Status RunCenterCropPad(const KernelCall& call);

// classification.cc
template <typename T>
absl::Status RunIsInf(const KernelCall& call);
template <DType kFloat8>
absl::Status RunIsInfFloat8(const KernelCall& call);
template <typename T>
absl::Status RunIsNaN(const KernelCall& call);
template <DType kFloat8>
absl::Status RunIsNaNFloat8(const KernelCall& call);

// clip.cc
template <typename T>
absl::Status RunClip(const KernelCall& call);

// col2im.cc
uint64_t Col2ImWorkspaceBytes(const NodeSite& site);
template <typename T>
absl::Status RunCol2Im(const KernelCall& call);

// comparison.cc
template <typename T>
absl::Status RunEqual(const KernelCall& call);
template <typename T>
absl::Status RunGreater(const KernelCall& call);
template <typename T>
absl::Status RunGreaterOrEqual(const KernelCall& call);
template <typename T>
absl::Status RunLess(const KernelCall& call);
template <typename T>
absl::Status RunLessOrEqual(const KernelCall& call);

// compress.cc
template <int kElementBytes>
absl::Status RunCompress(const KernelCall& call);

// concat.cc
template <int kElementBytes>
absl::Status RunConcat(const KernelCall& call);

// constant_of_shape.cc
template <int kElementBytes>
absl::Status RunConstantOfShape(const KernelCall& call);

// conv.cc
absl::Status AcceptsConv1x1(const NodeSite& site);
absl::Status AcceptsConvIm2col(const NodeSite& site);
absl::Status AcceptsConvDirect(const NodeSite& site);
uint64_t ConvWorkspaceBytes(const NodeSite& site);
absl::StatusOr<std::unique_ptr<KernelState>> PrepareConv(const NodeSite& site,
                                                         Device& device);
KernelCost ConvCost(const NodeSite& site);
absl::Status RunConv1x1(const KernelCall& call);
absl::Status RunConvIm2col(const KernelCall& call);
template <typename T>
absl::Status RunConvDirect(const KernelCall& call);

// conv_half.cc
absl::Status AcceptsConvHalf(const NodeSite& site);
template <typename T>
absl::Status RunConvHalf(const KernelCall& call);

// conv_integer.cc
absl::Status AcceptsConvInteger(const NodeSite& site);
KernelCost ConvIntegerCost(const NodeSite& site);
template <typename X, typename W>
absl::Status RunConvInteger(const KernelCall& call);

// conv_transpose.cc
absl::Status AcceptsConvTransposeCol2im(const NodeSite& site);
uint64_t ConvTransposeWorkspaceBytes(const NodeSite& site);
absl::StatusOr<std::unique_ptr<KernelState>> PrepareConvTranspose(
    const NodeSite& site, Device& device);
KernelCost ConvTransposeCost(const NodeSite& site);
absl::Status RunConvTransposeCol2im(const KernelCall& call);

// conv_transpose_direct.cc
absl::Status AcceptsConvTransposeDirect(const NodeSite& site);
template <typename T>
absl::Status RunConvTransposeDirect(const KernelCall& call);

// cumsum.cc
template <typename T, typename Index>
absl::Status RunCumProd(const KernelCall& call);
template <typename T, typename Index>
absl::Status RunCumSum(const KernelCall& call);

// depth_space.cc
template <int kElementBytes>
absl::Status RunDepthToSpace(const KernelCall& call);
template <int kElementBytes>
absl::Status RunSpaceToDepth(const KernelCall& call);

// dropout.cc
template <int kElementBytes>
absl::Status RunDropout(const KernelCall& call);

// einsum.cc
template <typename T>
uint64_t EinsumWorkspaceBytes(const NodeSite& site);
template <typename T>
absl::StatusOr<std::unique_ptr<KernelState>> PrepareEinsum(const NodeSite& site,
                                                           Device& device);
KernelCost EinsumCost(const NodeSite& site);
template <typename T>
absl::Status RunEinsum(const KernelCall& call);

// dequantize_linear.cc
template <typename Q, typename S>
absl::Status RunDequantizeLinear(const KernelCall& call);

// dynamic_quantize_linear.cc
absl::Status RunDynamicQuantizeLinear(const KernelCall& call);

// expand.cc
template <int kElementBytes>
absl::Status RunExpand(const KernelCall& call);

// eye_like.cc
template <typename T>
absl::Status RunEyeLike(const KernelCall& call);

// gather.cc
template <int kElementBytes, typename Index>
absl::Status RunGather(const KernelCall& call);

// gather_elements.cc
template <int kElementBytes, typename Index>
absl::Status RunGatherElements(const KernelCall& call);

// gather_nd.cc
template <int kElementBytes>
absl::Status RunGatherND(const KernelCall& call);

// gemm.cc
absl::Status AcceptsGemmFewRows(const NodeSite& site);
absl::Status AcceptsGemm(const NodeSite& site);
absl::Status AcceptsGemmAny(const NodeSite& site);
uint64_t GemmWorkspaceBytes(const NodeSite& site);
KernelCost GemmCost(const NodeSite& site);
absl::Status RunGemmFewRows(const KernelCall& call);
template <typename T>
absl::Status RunGemmBlocked(const KernelCall& call);
template <typename T>
absl::Status RunGemmAny(const KernelCall& call);

// group_normalization.cc
KernelCost GroupNormalizationCost(const NodeSite& site);
template <typename T>
absl::Status RunGroupNormalization(const KernelCall& call);
template <typename T>
absl::Status RunInstanceNormalization(const KernelCall& call);

// global_pool.cc
template <typename T>
absl::Status RunGlobalAveragePool(const KernelCall& call);
template <typename T>
absl::Status RunGlobalLpPool(const KernelCall& call);
template <typename T>
absl::Status RunGlobalMaxPool(const KernelCall& call);

// gru.cc
template <typename T>
uint64_t GruWorkspaceBytes(const NodeSite& site);
KernelCost GruCost(const NodeSite& site);
template <typename T>
absl::Status RunGRU(const KernelCall& call);

// hardmax.cc
template <typename T>
absl::Status RunHardmax(const KernelCall& call);

// identity.cc
absl::Status AcceptsIdentity(const NodeSite& site);
absl::Status RunIdentity(const KernelCall& call);

// layer_normalization.cc
KernelCost LayerNormalizationCost(const NodeSite& site);
template <typename T, typename U>
absl::Status RunLayerNormalization(const KernelCall& call);
template <typename T, typename V>
absl::Status RunRMSNormalization(const KernelCall& call);

// logic.cc
absl::Status RunAnd(const KernelCall& call);
absl::Status RunOr(const KernelCall& call);
absl::Status RunXor(const KernelCall& call);

// lp_normalization.cc
template <typename T>
absl::Status RunLpNormalization(const KernelCall& call);

// lrn.cc
KernelCost LrnCost(const NodeSite& site);
template <typename T>
absl::Status RunLrn(const KernelCall& call);

// lstm.cc
template <typename T>
uint64_t LstmWorkspaceBytes(const NodeSite& site);
KernelCost LstmCost(const NodeSite& site);
template <typename T>
absl::Status RunLSTM(const KernelCall& call);

// matmul.cc
absl::Status AcceptsMatMul(const NodeSite& site);
absl::Status AcceptsMatMulFewRows(const NodeSite& site);
uint64_t MatMulWorkspaceBytes(const NodeSite& site);
KernelCost MatMulCost(const NodeSite& site);
absl::Status RunMatMulFewRows(const KernelCall& call);
template <typename T>
absl::Status RunMatMulBlocked(const KernelCall& call);
template <typename T>
absl::Status RunMatMulAny(const KernelCall& call);

// matmul_integer.cc
KernelCost MatMulIntegerCost(const NodeSite& site);
template <typename A, typename B>
absl::Status RunMatMulInteger(const KernelCall& call);

// max_pool_indices.cc
template <typename T>
absl::Status RunMaxPoolIndices(const KernelCall& call);

// max_unpool.cc
template <int kElementBytes>
absl::Status RunMaxUnpool(const KernelCall& call);

// mean_variance_normalization.cc
template <typename T>
absl::Status RunMeanVarianceNormalization(const KernelCall& call);

// mod.cc
template <typename T>
absl::Status RunMod(const KernelCall& call);

// non_max_suppression.cc
uint64_t NonMaxSuppressionWorkspaceBytes(const NodeSite& site);
absl::Status RunNonMaxSuppression(const KernelCall& call);

// nonzero.cc
template <typename T>
absl::Status RunNonZero(const KernelCall& call);

// one_hot.cc
template <int kElementBytes, typename Index>
absl::Status RunOneHot(const KernelCall& call);

// pad.cc
absl::Status AcceptsPad(const NodeSite& site);
absl::StatusOr<std::unique_ptr<KernelState>> PreparePad(const NodeSite& site,
                                                        Device& device);
template <int kElementBytes>
absl::Status RunPad(const KernelCall& call);

// pool.cc
absl::Status AcceptsPool(const NodeSite& site);
absl::Status AcceptsMaxPoolIndices(const NodeSite& site);
KernelCost PoolCost(const NodeSite& site);
template <typename T>
absl::Status RunAveragePool(const KernelCall& call);
template <typename T>
absl::Status RunLpPool(const KernelCall& call);
template <typename T>
absl::Status RunMaxPool(const KernelCall& call);

// pow.cc
template <typename T, typename Exponent>
absl::Status RunPow(const KernelCall& call);

// prelu.cc
template <typename T>
absl::Status RunPRelu(const KernelCall& call);

// qlinear_conv.cc
absl::Status AcceptsQLinearConv(const NodeSite& site);
KernelCost QLinearConvCost(const NodeSite& site);
template <typename X, typename W, typename Y>
absl::Status RunQLinearConv(const KernelCall& call);

// qlinear_matmul.cc
KernelCost QLinearMatMulCost(const NodeSite& site);
template <typename A, typename B, typename Y, typename S>
absl::Status RunQLinearMatMul(const KernelCall& call);

// quantize_linear.cc
template <typename X, typename S, typename Q>
absl::Status RunQuantizeLinear(const KernelCall& call);

// quantize_small.cc
absl::Status AcceptsQuantizeSmall(const NodeSite& site);
absl::Status AcceptsDequantizeSmall(const NodeSite& site);
absl::StatusOr<std::unique_ptr<KernelState>> PrepareQuantizeSmall(
    const NodeSite& site, Device& device);
absl::StatusOr<std::unique_ptr<KernelState>> PrepareDequantizeSmall(
    const NodeSite& site, Device& device);
template <typename X, typename S>
absl::Status RunQuantizeSmall(const KernelCall& call);
template <typename S>
absl::Status RunDequantizeSmall(const KernelCall& call);

// range.cc
template <typename T>
absl::Status RunRange(const KernelCall& call);

// reduce_extreme.cc
template <typename T>
absl::Status RunReduceMax(const KernelCall& call);
template <typename T>
absl::Status RunReduceMin(const KernelCall& call);

// reduce_log.cc
template <typename T>
absl::Status RunReduceLogSum(const KernelCall& call);
template <typename T>
absl::Status RunReduceLogSumExp(const KernelCall& call);

// reduce_sum.cc
KernelCost ReduceCost(const NodeSite& site);
template <typename T>
absl::Status RunReduceL1(const KernelCall& call);
template <typename T>
absl::Status RunReduceL2(const KernelCall& call);
template <typename T>
absl::Status RunReduceMean(const KernelCall& call);
template <typename T>
absl::Status RunReduceProd(const KernelCall& call);
template <typename T>
absl::Status RunReduceSum(const KernelCall& call);
template <typename T>
absl::Status RunReduceSumSquare(const KernelCall& call);

// resize.cc
absl::Status AcceptsResizeNearest(const NodeSite& site);
absl::Status AcceptsResizeWeighted(const NodeSite& site);
uint64_t ResizeWorkspaceBytes(const NodeSite& site);
absl::StatusOr<std::unique_ptr<KernelState>> PrepareResize(const NodeSite& site,
                                                           Device& device);
KernelCost ResizeCost(const NodeSite& site);
template <int kElementBytes>
absl::Status RunResizeNearest(const KernelCall& call);
template <typename T>
absl::Status RunResizeWeighted(const KernelCall& call);

// reverse_sequence.cc
template <int kElementBytes>
absl::Status RunReverseSequence(const KernelCall& call);

// rotary_embedding.cc
template <typename T>
absl::Status RunRotaryEmbedding(const KernelCall& call);

// rounding.cc
template <typename T>
absl::Status RunCeil(const KernelCall& call);
template <typename T>
absl::Status RunFloor(const KernelCall& call);
template <typename T>
absl::Status RunRound(const KernelCall& call);
template <typename T>
absl::Status RunSign(const KernelCall& call);

// rnn.cc
template <typename T>
uint64_t RnnWorkspaceBytes(const NodeSite& site);
KernelCost RnnCost(const NodeSite& site);
template <typename T>
absl::Status RunRNN(const KernelCall& call);
// scatter.cc
absl::Status AcceptsScatterBytes(const NodeSite& site);
template <int kElementBytes, typename Index>
absl::Status RunScatterElementsBytes(const KernelCall& call);
template <typename T, typename Index>
absl::Status RunScatterElementsReduce(const KernelCall& call);
template <int kElementBytes>
absl::Status RunScatterNDBytes(const KernelCall& call);
template <typename T>
absl::Status RunScatterNDReduce(const KernelCall& call);

// shape.cc
absl::Status RunShape(const KernelCall& call);

// size.cc
absl::Status RunSize(const KernelCall& call);

// slice.cc
template <int kElementBytes, typename Index>
absl::Status RunSlice(const KernelCall& call);

// softmax.cc
absl::Status AcceptsSoftmaxRows(const NodeSite& site);
KernelCost SoftmaxCost(const NodeSite& site);
template <typename T>
absl::Status RunLogSoftmaxRows(const KernelCall& call);
template <typename T>
absl::Status RunLogSoftmaxStrips(const KernelCall& call);
template <typename T>
absl::Status RunSoftmaxRows(const KernelCall& call);
template <typename T>
absl::Status RunSoftmaxStrips(const KernelCall& call);

// split.cc
template <int kElementBytes>
absl::Status RunSplit(const KernelCall& call);

// tile.cc
template <int kElementBytes>
absl::Status RunTile(const KernelCall& call);

// top_k.cc
uint64_t TopKWorkspaceBytes(const NodeSite& site);
template <typename T>
absl::Status RunTopK(const KernelCall& call);

// transpose.cc
template <int kElementBytes>
absl::Status RunTranspose(const KernelCall& call);

// trigonometry.cc
template <typename T>
absl::Status RunAcos(const KernelCall& call);
template <typename T>
absl::Status RunAcosh(const KernelCall& call);
template <typename T>
absl::Status RunAsin(const KernelCall& call);
template <typename T>
absl::Status RunAsinh(const KernelCall& call);
template <typename T>
absl::Status RunAtan(const KernelCall& call);
template <typename T>
absl::Status RunAtanh(const KernelCall& call);
template <typename T>
absl::Status RunCos(const KernelCall& call);
template <typename T>
absl::Status RunCosh(const KernelCall& call);
template <typename T>
absl::Status RunSin(const KernelCall& call);
template <typename T>
absl::Status RunSinh(const KernelCall& call);
template <typename T>
absl::Status RunTan(const KernelCall& call);
template <typename T>
absl::Status RunTanh(const KernelCall& call);

// trilu.cc
template <int kElementBytes>
absl::Status RunTrilu(const KernelCall& call);

// unary.cc
template <typename T>
absl::Status RunAbs(const KernelCall& call);
template <typename T>
absl::Status RunBitwiseNot(const KernelCall& call);
template <typename T>
absl::Status RunErf(const KernelCall& call);
template <typename T>
absl::Status RunExp(const KernelCall& call);
template <typename T>
absl::Status RunLog(const KernelCall& call);
template <typename T>
absl::Status RunNeg(const KernelCall& call);
absl::Status RunNot(const KernelCall& call);
template <typename T>
absl::Status RunReciprocal(const KernelCall& call);
template <typename T>
absl::Status RunSqrt(const KernelCall& call);

// unique.cc
uint64_t UniqueWorkspaceBytes(const NodeSite& site);
template <typename T>
absl::Status RunUnique(const KernelCall& call);

// variadic.cc
template <typename T>
absl::Status RunMax(const KernelCall& call);
template <typename T>
absl::Status RunMean(const KernelCall& call);
template <typename T>
absl::Status RunMin(const KernelCall& call);
template <typename T>
absl::Status RunSum(const KernelCall& call);

// where.cc
template <int kElementBytes>
absl::Status RunWhere(const KernelCall& call);

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_KERNELS_H_
