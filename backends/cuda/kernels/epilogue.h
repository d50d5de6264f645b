#ifndef TENSORD_BACKENDS_CUDA_KERNELS_EPILOGUE_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_EPILOGUE_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/api/kernel.h"

// Epilogues (OpParams::epilogue) that a kernel computes of its result while
// that is in registers:
//
//   y[i] = f(own result[i], x1[i], x2[i], ...)
//
// with x1, x2, ... the node's inputs behind Epilogue::own_input_count,
// broadcast to y's shape. The own result is not rounded to y's dtype before.
//
// A kernel calls AcceptsEpilogue in `accepts`, has PrepareEpilogue as its
// `prepare` (or a state derived from EpilogueState), hands EpilogueOf(call) to
// its device code by value (as a __grid_constant__ parameter), and calls
// ApplyEpilogue (apply_epilogue.h) there for neighbours of y. Its row needs
// KernelCaps::takes_epilogue.
namespace tensord::cuda {

// An input's element for an element of y, whose number is written with mixed
// digits: index(i) = sum of (i / divisor % extent) * stride. Digits of stride 0
// are left out, so that a scalar has none.
struct EpilogueInput {
  static constexpr int kMaxDigits = 4;
  struct Digit {
    int64_t divisor, extent, stride;
  };

  const void* data;
  Digit digits[kMaxDigits];
  int digit_count;
  bool is_same;  // index(i) = i
  // Of this many neighbours of y, from a multiple of it on, the elements are
  // neighbours too (step 1), or all are one (step 0).
  int run_length;
  int run_step;
};

// One step, its operands named by where they are.
struct EpilogueStep {
  enum Operand : uint8_t {
    kPrevious,  // what the step before gave; the own result for the first
    kOwn,       // the kernel's own result
    kConstant,  // `constants` of the step
    kFirstPlace,
    kFirstInput = 16,
  };
  static constexpr int8_t kNoPlace = -1;

  OpKind op;
  uint8_t operands[2];
  int8_t place;  // that keeps the result, beside its being kPrevious
  double constants[2];
  double parameters[2];
};

// A kernel's parameter. A plain value.
struct DeviceEpilogue {
  static constexpr int kMaxSteps = 16;
  static constexpr int kMaxInputs = 6;
  static constexpr int kMaxPlaces = 4;
  static constexpr int kMaxRun = 8;

  int step_count;  // 0: there is none
  int input_count;
  bool is_small;   // y's elements are counted in 31 bits
  // Common operators of the result before and one number beside, inputs in runs
  // of kMaxRun: what is computed for several neighbours at once.
  bool is_simple;
  EpilogueStep steps[kMaxSteps];
  EpilogueInput inputs[kMaxInputs];
};

// OK for a node without an epilogue or with one that fits DeviceEpilogue.
absl::Status AcceptsEpilogue(const NodeSite& site);

// The epilogue for the node's shapes, without its inputs' addresses.
struct EpilogueState : KernelState {
  explicit EpilogueState(const NodeSite& site);

  DeviceEpilogue epilogue = {};
  int element_bytes = 0;
};

// `prepare` of a kernel without a state of its own; null without an epilogue.
absl::StatusOr<std::unique_ptr<KernelState>> PrepareEpilogue(
    const NodeSite& site, Device& device);

// Of a call whose state is null or an EpilogueState.
DeviceEpilogue EpilogueOf(const KernelCall& call);

// Arithmetic operations that it adds to a kernel's cost.
double EpilogueFlops(const NodeSite& site);

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_EPILOGUE_H_
