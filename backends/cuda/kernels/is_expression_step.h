#ifndef TENSORD_BACKENDS_CUDA_KERNELS_IS_EXPRESSION_STEP_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_IS_EXPRESSION_STEP_H_

#include "backends/api/op_kind.h"

namespace tensord::cuda {

// Whether EvaluateStep() (expression_steps.h) knows the operator.
inline bool IsExpressionStep(OpKind op) {
  switch (op) {
    case OpKind::kAbs:
    case OpKind::kAcos:
    case OpKind::kAcosh:
    case OpKind::kAdd:
    case OpKind::kAsin:
    case OpKind::kAsinh:
    case OpKind::kAtan:
    case OpKind::kAtanh:
    case OpKind::kCeil:
    case OpKind::kCelu:
    case OpKind::kClip:
    case OpKind::kCos:
    case OpKind::kCosh:
    case OpKind::kDiv:
    case OpKind::kElu:
    case OpKind::kErf:
    case OpKind::kExp:
    case OpKind::kFloor:
    case OpKind::kGelu:
    case OpKind::kHardSigmoid:
    case OpKind::kHardSwish:
    case OpKind::kLeakyRelu:
    case OpKind::kLog:
    case OpKind::kMax:
    case OpKind::kMin:
    case OpKind::kMish:
    case OpKind::kMul:
    case OpKind::kNeg:
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
    case OpKind::kSwish:
    case OpKind::kTan:
    case OpKind::kTanh:
    case OpKind::kThresholdedRelu:
      return true;
    default:
      return false;
  }
}

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_IS_EXPRESSION_STEP_H_
