#include "engine/passes/is_elementwise.h"

namespace tensord {

bool IsElementwise(OpKind op) {
  switch (op) {
    case OpKind::kAbs:
    case OpKind::kAcos:
    case OpKind::kAcosh:
    case OpKind::kAdd:
    case OpKind::kAnd:
    case OpKind::kAsin:
    case OpKind::kAsinh:
    case OpKind::kAtan:
    case OpKind::kAtanh:
    case OpKind::kBitShift:
    case OpKind::kBitwiseAnd:
    case OpKind::kBitwiseNot:
    case OpKind::kBitwiseOr:
    case OpKind::kBitwiseXor:
    case OpKind::kCast:
    case OpKind::kCeil:
    case OpKind::kCelu:
    case OpKind::kClip:
    case OpKind::kCos:
    case OpKind::kCosh:
    case OpKind::kDiv:
    case OpKind::kElementwiseChain:
    case OpKind::kElu:
    case OpKind::kEqual:
    case OpKind::kErf:
    case OpKind::kExp:
    case OpKind::kFloor:
    case OpKind::kGelu:
    case OpKind::kGreater:
    case OpKind::kGreaterOrEqual:
    case OpKind::kHardSigmoid:
    case OpKind::kHardSwish:
    case OpKind::kIdentity:
    case OpKind::kIsInf:
    case OpKind::kIsNaN:
    case OpKind::kLeakyRelu:
    case OpKind::kLess:
    case OpKind::kLessOrEqual:
    case OpKind::kLog:
    case OpKind::kMax:
    case OpKind::kMean:
    case OpKind::kMin:
    case OpKind::kMish:
    case OpKind::kMod:
    case OpKind::kMul:
    case OpKind::kNeg:
    case OpKind::kNot:
    case OpKind::kOr:
    case OpKind::kPRelu:
    case OpKind::kPow:
    case OpKind::kReciprocal:
    case OpKind::kRelu:
    case OpKind::kRound:
    case OpKind::kSelu:
    case OpKind::kSigmoid:
    case OpKind::kSign:
    case OpKind::kSin:
    case OpKind::kSinh:
    case OpKind::kSoftplus:
    case OpKind::kSoftsign:
    case OpKind::kSqrt:
    case OpKind::kSub:
    case OpKind::kSum:
    case OpKind::kSwish:
    case OpKind::kTan:
    case OpKind::kTanh:
    case OpKind::kThresholdedRelu:
    case OpKind::kWhere:
    case OpKind::kXor:
      return true;
    default:
      return false;
  }
}

}  // namespace tensord
