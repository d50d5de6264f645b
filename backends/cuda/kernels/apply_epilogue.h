#ifndef TENSORD_BACKENDS_CUDA_KERNELS_APPLY_EPILOGUE_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_APPLY_EPILOGUE_H_

#include <cstdint>

#include "backends/cuda/kernels/epilogue.h"
#include "backends/cuda/kernels/expression_steps.h"
#include "backends/cuda/kernels/number.h"
#include "backends/cuda/kernels/pack.h"

// The device's side of epilogue.h.
namespace tensord::cuda {

__device__ inline int64_t IndexOf(const EpilogueInput& input, int64_t i,
                                  bool is_small) {
  if (input.is_same) return i;
  int64_t index = 0;
  for (int d = 0; d < input.digit_count; ++d) {
    const EpilogueInput::Digit& digit = input.digits[d];
    if (is_small) {
      const auto part = static_cast<uint32_t>(i) /
                        static_cast<uint32_t>(digit.divisor) %
                        static_cast<uint32_t>(digit.extent);
      index += part * digit.stride;
    } else {
      index += i / digit.divisor % digit.extent * digit.stride;
    }
  }
  return index;
}

template <typename T, int kCount, typename Number>
__device__ inline void LoadEpilogueInput(const EpilogueInput& input, int64_t i,
                                         bool is_small,
                                         Number (&values)[kCount]) {
  const T* data = static_cast<const T*>(input.data);
  if (kCount > 1 && (input.run_length < kCount || i % kCount != 0)) {
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      values[j] = ToCompute(data[IndexOf(input, i + j, is_small)]);
    }
    return;
  }
  const T* first = data + IndexOf(input, i, is_small);
  if (input.run_step == 0) {
    const Number value = ToCompute(*first);
#pragma unroll
    for (int j = 0; j < kCount; ++j) values[j] = value;
  } else if (IsPackAligned<kCount>(first)) {
    const Pack<T, kCount> pack = LoadPack<kCount>(first);
#pragma unroll
    for (int j = 0; j < kCount; ++j) values[j] = ToCompute(pack.at[j]);
  } else {
#pragma unroll
    for (int j = 0; j < kCount; ++j) values[j] = ToCompute(first[j]);
  }
}

// x = step(x, y) for each. The commonest steps are in line.
template <int kCount, typename Number>
__device__ inline void EvaluateSteps(const EpilogueStep& step,
                                     Number (&x)[kCount],
                                     const Number (&y)[kCount]) {
  const Number alpha = static_cast<Number>(step.parameters[0]);
  const Number beta = static_cast<Number>(step.parameters[1]);
#define TENSORD_STEP(op, value)                                          \
  case OpKind::k##op:                                                    \
    _Pragma("unroll") for (int j = 0; j < kCount; ++j) { x[j] = value; } \
    break;
  switch (step.op) {
    TENSORD_STEP(Add, x[j] + y[j])
    TENSORD_STEP(Sub, x[j] - y[j])
    TENSORD_STEP(Mul, x[j] * y[j])
    TENSORD_STEP(Relu, x[j] < 0 ? Number{0} : x[j])
    TENSORD_STEP(Clip, Clip(x[j], alpha, beta))
    TENSORD_STEP(HardSwish, x[j] * HeldBetween0And1(x[j] / 6 + Number{0.5}))
    default:
#pragma unroll
      for (int j = 0; j < kCount; ++j) {
        x[j] = EvaluateStep(step.op, x[j], y[j], alpha, beta);
      }
  }
#undef TENSORD_STEP
}

// values[j], the own result at element i + j of y, becomes what is stored
// there. T is y's element type, Number is Compute<T>.
template <typename T, int kCount, typename Number>
__device__ inline void ApplyEpilogue(const DeviceEpilogue& epilogue, int64_t i,
                                     Number (&values)[kCount]) {
  if (epilogue.step_count == 0) return;
  Number own[kCount];
  Number places[DeviceEpilogue::kMaxPlaces][kCount];
#pragma unroll
  for (int j = 0; j < kCount; ++j) own[j] = values[j];
  for (int s = 0; s < epilogue.step_count; ++s) {
    const EpilogueStep& step = epilogue.steps[s];
    Number operands[2][kCount];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const uint8_t operand = step.operands[k];
      if (operand >= EpilogueStep::kFirstInput) {
        LoadEpilogueInput<T>(
            epilogue.inputs[operand - EpilogueStep::kFirstInput], i,
            epilogue.is_small, operands[k]);
        continue;
      }
#pragma unroll
      for (int j = 0; j < kCount; ++j) {
        operands[k][j] = operand == EpilogueStep::kPrevious ? values[j]
                         : operand == EpilogueStep::kOwn    ? own[j]
                         : operand == EpilogueStep::kConstant
                             ? static_cast<Number>(step.constants[k])
                             : places[operand - EpilogueStep::kFirstPlace][j];
      }
    }
    EvaluateSteps(step, operands[0], operands[1]);
#pragma unroll
    for (int j = 0; j < kCount; ++j) values[j] = operands[0][j];
    if (step.place != EpilogueStep::kNoPlace) {
#pragma unroll
      for (int j = 0; j < kCount; ++j) places[step.place][j] = values[j];
    }
  }
}

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_APPLY_EPILOGUE_H_
