#include "engine/tune/site_tolerance.h"

#include <algorithm>

namespace tensord {
namespace {

int64_t LastExtent(const Shape& shape) {
  return shape.rank() == 0 ? 1 : shape[shape.rank() - 1];
}

// Elements of a weight for one of its outermost extents (dimension 0), or for
// one of dimension 1.
int64_t ElementsPer(const Shape& weight, int dimension) {
  if (weight.rank() <= dimension || weight[dimension] == 0) return 1;
  return weight.element_count() / weight[dimension];
}

// How many terms one output sums up; roughly where a node has several sums.
int64_t DepthOf(const NodeSite& site) {
  const Shape& x = site.input(0).shape;
  switch (site.op) {
    case OpKind::kConv:
    case OpKind::kCausalConvWithState:
    case OpKind::kDeformConv:
      return ElementsPer(site.input(1).shape, 0);
    case OpKind::kConvTranspose:
      return ElementsPer(site.input(1).shape, 1);
    case OpKind::kGemm: {
      const int64_t rows = site.output(0).shape[0];
      return rows == 0 ? 1 : x.element_count() / rows;
    }
    case OpKind::kAttention:
      return std::max(LastExtent(x), x.rank() < 2 ? 1 : x[x.rank() - 2]);
    case OpKind::kInstanceNormalization:
      return x.rank() < 2
                 ? 1
                 : x.element_count() / std::max<int64_t>(x[0] * x[1], 1);
    case OpKind::kMatMul:
    case OpKind::kSoftmax:
    case OpKind::kLogSoftmax:
    case OpKind::kLayerNormalization:
    case OpKind::kRMSNormalization:
      return LastExtent(x);
    default:
      return x.element_count() /
             std::max<int64_t>(site.output(0).shape.element_count(), 1);
  }
}

// The row of the table for sums of products of float32 whose factors a client
// allows to be rounded: float16 has TF32's 11 bits of significand.
Tolerance RoundedTolerance(const NodeSite& site) {
  const int64_t depth = DepthOf(site);
  switch (site.precision) {
    case Precision::kStrict:
      break;
    case Precision::kAllowTf32:
      return ToleranceFor(DType::kFloat16, OpFamily::kContraction, depth);
    case Precision::kAllowBf16:
      return ToleranceFor(DType::kFloat32, OpFamily::kRoundedContraction,
                          depth);
  }
  return ToleranceFor(DType::kFloat32, OpFamily::kContraction, depth);
}

}  // namespace

OpFamily FamilyOf(OpKind op) {
  switch (op) {
    case OpKind::kAttention:
    case OpKind::kCausalConvWithState:
    case OpKind::kConv:
    case OpKind::kConvTranspose:
    case OpKind::kDeformConv:
    case OpKind::kEinsum:
    case OpKind::kGRU:
    case OpKind::kGemm:
    case OpKind::kLSTM:
    case OpKind::kLinearAttention:
    case OpKind::kMatMul:
    case OpKind::kRNN:
      return OpFamily::kContraction;
    case OpKind::kAveragePool:
    case OpKind::kCumSum:
    case OpKind::kDFT:
    case OpKind::kGlobalAveragePool:
    case OpKind::kGroupNormalization:
    case OpKind::kInstanceNormalization:
    case OpKind::kLRN:
    case OpKind::kLayerNormalization:
    case OpKind::kLogSoftmax:
    case OpKind::kLpNormalization:
    case OpKind::kLpPool:
    case OpKind::kMean:
    case OpKind::kMeanVarianceNormalization:
    case OpKind::kRMSNormalization:
    case OpKind::kReduceL1:
    case OpKind::kReduceL2:
    case OpKind::kReduceLogSum:
    case OpKind::kReduceLogSumExp:
    case OpKind::kReduceMean:
    case OpKind::kReduceProd:
    case OpKind::kReduceSum:
    case OpKind::kReduceSumSquare:
    case OpKind::kSTFT:
    case OpKind::kSoftmax:
    case OpKind::kSum:
      return OpFamily::kReduction;
    case OpKind::kAcos:
    case OpKind::kAcosh:
    case OpKind::kAsin:
    case OpKind::kAsinh:
    case OpKind::kAtan:
    case OpKind::kAtanh:
    case OpKind::kCelu:
    case OpKind::kCos:
    case OpKind::kCosh:
    case OpKind::kElementwiseChain:
    case OpKind::kElu:
    case OpKind::kErf:
    case OpKind::kExp:
    case OpKind::kGelu:
    case OpKind::kLog:
    case OpKind::kMish:
    case OpKind::kPow:
    case OpKind::kSelu:
    case OpKind::kSigmoid:
    case OpKind::kSin:
    case OpKind::kSinh:
    case OpKind::kSoftplus:
    case OpKind::kSwish:
    case OpKind::kTan:
    case OpKind::kTanh:
      return OpFamily::kTranscendental;
    case OpKind::kAdd:
    case OpKind::kBatchNormalization:
    case OpKind::kDequantizeLinear:
    case OpKind::kDiv:
    case OpKind::kGridSample:
    case OpKind::kHardSigmoid:
    case OpKind::kHardSwish:
    case OpKind::kLeakyRelu:
    case OpKind::kMul:
    case OpKind::kPRelu:
    case OpKind::kReciprocal:
    case OpKind::kResize:
    case OpKind::kRoiAlign:
    case OpKind::kRotaryEmbedding:
    case OpKind::kSoftsign:
    case OpKind::kSqrt:
    case OpKind::kSub:
      return OpFamily::kArithmetic;
    case OpKind::kDynamicQuantizeLinear:
    case OpKind::kQLinearConv:
    case OpKind::kQLinearMatMul:
    case OpKind::kQuantizeLinear:
      return OpFamily::kQuantized;
    default:
      return OpFamily::kMovement;
  }
}

bool HasKnownDepth(OpKind op) {
  switch (op) {
    case OpKind::kCumSum:
    case OpKind::kDFT:
    case OpKind::kEinsum:
    case OpKind::kGRU:
    case OpKind::kGroupNormalization:
    case OpKind::kLRN:
    case OpKind::kLSTM:
    case OpKind::kLinearAttention:
    case OpKind::kLpNormalization:
    case OpKind::kMeanVarianceNormalization:
    case OpKind::kRNN:
    case OpKind::kSTFT:
      return false;
    default:
      return true;
  }
}

Tolerance SiteTolerance(const NodeSite& site, DType output_dtype) {
  const OpFamily family = FamilyOf(site.op);
  Tolerance tolerance =
      output_dtype == DType::kFloat32 && family == OpFamily::kContraction
          ? RoundedTolerance(site)
          : ToleranceFor(output_dtype, family, DepthOf(site));
  if (site.params.epilogue != nullptr) {
    const Tolerance epilogue =
        ToleranceFor(output_dtype, OpFamily::kTranscendental);
    tolerance.relative = std::max(tolerance.relative, epilogue.relative);
    tolerance.absolute = std::max(tolerance.absolute, epilogue.absolute);
  }
  return tolerance;
}

}  // namespace tensord
