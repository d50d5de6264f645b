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

// Asks for what is behind the address to be near when it is read.
__device__ inline void PrefetchToCache(const void* address) {
#ifdef __CUDA_ARCH__
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#else
  (void)address;
#endif
}

// For what ApplyEpilogue() reads at element i: weights that stream by have
// taken it from the caches since the last run. May come before
// WaitForKernelAhead(), since the L2 cache is where kernels see each other's
// writes.
template <typename T>
__device__ inline void PrefetchEpilogue(const DeviceEpilogue& epilogue,
                                        int64_t i) {
  for (int k = 0; k < epilogue.input_count; ++k) {
    const EpilogueInput& input = epilogue.inputs[k];
    PrefetchToCache(static_cast<const T*>(input.data) +
                    IndexOf(input, i, epilogue.is_small));
  }
}

// Elements i to i + kCount of y, i a multiple of kCount, of an input whose runs
// are long enough.
template <typename T, int kCount, typename Number>
__device__ inline void LoadEpilogueInput(const EpilogueInput& input, int64_t i,
                                         bool is_small,
                                         Number (&values)[kCount]) {
  const T* first =
      static_cast<const T*>(input.data) + IndexOf(input, i, is_small);
  if (kCount == 1 || input.run_step == 0) {
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

// Steps that DeviceEpilogue::is_simple covers: each is one of a few operators,
// of the result before and of at most one number beside.
template <typename T, int kCount, typename Number>
__device__ inline void ApplySimpleSteps(const DeviceEpilogue& epilogue,
                                        int64_t i, Number (&x)[kCount]) {
  for (int s = 0; s < epilogue.step_count; ++s) {
    const EpilogueStep& step = epilogue.steps[s];
    const int beside = step.operands[0] == EpilogueStep::kPrevious ? 1 : 0;
    Number y[kCount];
    if (step.operands[beside] >= EpilogueStep::kFirstInput) {
      LoadEpilogueInput<T>(
          epilogue.inputs[step.operands[beside] - EpilogueStep::kFirstInput], i,
          epilogue.is_small, y);
    } else {
#pragma unroll
      for (int j = 0; j < kCount; ++j) {
        y[j] = static_cast<Number>(step.constants[beside]);
      }
    }
    const Number alpha = static_cast<Number>(step.parameters[0]);
    const Number beta = static_cast<Number>(step.parameters[1]);
#define TENSORD_STEP(op, value)                                          \
  case OpKind::k##op:                                                    \
    _Pragma("unroll") for (int j = 0; j < kCount; ++j) { x[j] = value; } \
    break;
    switch (step.op) {
      TENSORD_STEP(Add, x[j] + y[j])
      TENSORD_STEP(Sub, beside == 1 ? x[j] - y[j] : y[j] - x[j])
      TENSORD_STEP(Mul, x[j] * y[j])
      TENSORD_STEP(Relu, x[j] < 0 ? Number{0} : x[j])
      TENSORD_STEP(Clip, Clip(x[j], alpha, beta))
      TENSORD_STEP(HardSwish, x[j] * HeldBetween0And1(x[j] / 6 + Number{0.5}))
      default:
        break;
    }
#undef TENSORD_STEP
  }
}

// All steps of one element. Not inlined, so that a kernel with many places to
// store from does not grow by as much each time.
template <typename T, typename Number>
__device__ __noinline__ Number ApplySteps(const DeviceEpilogue& epilogue,
                                          int64_t i, Number own) {
  Number places[DeviceEpilogue::kMaxPlaces];
  Number previous = own;
  for (int s = 0; s < epilogue.step_count; ++s) {
    const EpilogueStep& step = epilogue.steps[s];
    Number operands[2];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const uint8_t operand = step.operands[k];
      if (operand >= EpilogueStep::kFirstInput) {
        const EpilogueInput& input =
            epilogue.inputs[operand - EpilogueStep::kFirstInput];
        operands[k] = ToCompute(static_cast<const T*>(
            input.data)[IndexOf(input, i, epilogue.is_small)]);
      } else if (operand >= EpilogueStep::kFirstPlace) {
        operands[k] = places[operand - EpilogueStep::kFirstPlace];
      } else {
        operands[k] = operand == EpilogueStep::kPrevious ? previous
                      : operand == EpilogueStep::kOwn
                          ? own
                          : static_cast<Number>(step.constants[k]);
      }
    }
    previous = EvaluateStep(step.op, operands[0], operands[1],
                            static_cast<Number>(step.parameters[0]),
                            static_cast<Number>(step.parameters[1]));
    if (step.place != EpilogueStep::kNoPlace) places[step.place] = previous;
  }
  return previous;
}

// values[j], the own result at element i + j of y, becomes what is stored
// there. T is y's element type, Number is Compute<T>.
template <typename T, int kCount, typename Number>
__device__ inline void ApplyEpilogue(const DeviceEpilogue& epilogue, int64_t i,
                                     Number (&values)[kCount]) {
  if (epilogue.step_count == 0) return;
  if (epilogue.is_simple && i % kCount == 0) {
    ApplySimpleSteps<T>(epilogue, i, values);
    return;
  }
#pragma unroll
  for (int j = 0; j < kCount; ++j) {
    values[j] = ApplySteps<T>(epilogue, i + j, values[j]);
  }
}

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_APPLY_EPILOGUE_H_
