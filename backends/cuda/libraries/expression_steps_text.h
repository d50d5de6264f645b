#ifndef TENSORD_BACKENDS_CUDA_LIBRARIES_EXPRESSION_STEPS_TEXT_H_
#define TENSORD_BACKENDS_CUDA_LIBRARIES_EXPRESSION_STEPS_TEXT_H_

namespace tensord::cuda {

// The text of kernels/expression_steps.h, which the build puts into the
// library: kernels that are compiled at run time include it.
extern const char kExpressionStepsText[];

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_LIBRARIES_EXPRESSION_STEPS_TEXT_H_
