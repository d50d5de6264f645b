#include "engine/onnx/older_ops.h"

#include <algorithm>
#include <iterator>

namespace tensord {
namespace {

struct OlderOp {
  OpKind op;
  OlderChange change = OlderChange::kNone;
};

// Operators that are not listed had another meaning (Upsample), attributes that
// change what comes out (LSTM), or did not exist.
constexpr OlderOp kOlderOps[] = {
    {OpKind::kAbs},
    {OpKind::kAdd, OlderChange::kBroadcast},
    {OpKind::kAnd, OlderChange::kBroadcast},
    {OpKind::kArgMax},
    {OpKind::kArgMin},
    {OpKind::kAveragePool},
    {OpKind::kBatchNormalization, OlderChange::kInference},
    {OpKind::kCast, OlderChange::kCastByName},
    {OpKind::kCeil},
    {OpKind::kClip},
    {OpKind::kConcat, OlderChange::kConcat},
    {OpKind::kConstant},
    {OpKind::kConv},
    {OpKind::kConvTranspose},
    {OpKind::kDepthToSpace},
    {OpKind::kDiv, OlderChange::kBroadcast},
    {OpKind::kDropout, OlderChange::kInference},
    {OpKind::kElu},
    {OpKind::kEqual, OlderChange::kBroadcast},
    {OpKind::kExp},
    {OpKind::kFlatten},
    {OpKind::kFloor},
    {OpKind::kGather},
    {OpKind::kGemm, OlderChange::kGemm},
    {OpKind::kGlobalAveragePool},
    {OpKind::kGlobalMaxPool},
    {OpKind::kGreater, OlderChange::kBroadcast},
    {OpKind::kHardSigmoid},
    {OpKind::kHardmax},
    {OpKind::kIdentity},
    {OpKind::kIf},
    {OpKind::kInstanceNormalization},
    {OpKind::kLRN},
    {OpKind::kLeakyRelu},
    {OpKind::kLess, OlderChange::kBroadcast},
    {OpKind::kLog},
    {OpKind::kLogSoftmax},
    {OpKind::kLoop},
    {OpKind::kLpNormalization},
    {OpKind::kMatMul},
    {OpKind::kMax},
    {OpKind::kMaxPool},
    {OpKind::kMean},
    {OpKind::kMin},
    {OpKind::kMul, OlderChange::kBroadcast},
    {OpKind::kNeg},
    {OpKind::kNot},
    {OpKind::kOr, OlderChange::kBroadcast},
    {OpKind::kPRelu, OlderChange::kChannels},
    {OpKind::kPad, OlderChange::kPad},
    {OpKind::kPow, OlderChange::kBroadcast},
    {OpKind::kReciprocal},
    {OpKind::kReduceL1},
    {OpKind::kReduceL2},
    {OpKind::kReduceLogSum},
    {OpKind::kReduceLogSumExp},
    {OpKind::kReduceMax},
    {OpKind::kReduceMean},
    {OpKind::kReduceMin},
    {OpKind::kReduceProd},
    {OpKind::kReduceSum},
    {OpKind::kReduceSumSquare},
    {OpKind::kRelu},
    {OpKind::kReshape, OlderChange::kReshape},
    {OpKind::kSelu, OlderChange::kSelu},
    {OpKind::kShape},
    {OpKind::kSigmoid},
    {OpKind::kSize},
    {OpKind::kSlice},
    {OpKind::kSoftmax},
    {OpKind::kSoftplus},
    {OpKind::kSoftsign},
    {OpKind::kSpaceToDepth},
    {OpKind::kSplit, OlderChange::kSplit},
    {OpKind::kSqrt},
    {OpKind::kSqueeze},
    {OpKind::kSub, OlderChange::kBroadcast},
    {OpKind::kSum},
    {OpKind::kTanh},
    {OpKind::kTile, OlderChange::kTile},
    {OpKind::kTopK},
    {OpKind::kTranspose},
    {OpKind::kUnsqueeze},
    {OpKind::kXor, OlderChange::kBroadcast},
};

}  // namespace

std::optional<OlderChange> FindOlderChange(OpKind op) {
  const auto* found =
      std::find_if(std::begin(kOlderOps), std::end(kOlderOps),
                   [op](const OlderOp& entry) { return entry.op == op; });
  if (found == std::end(kOlderOps)) return std::nullopt;
  return found->change;
}

}  // namespace tensord
