#ifndef TENSORD_BACKENDS_VULKAN_KERNELS_CHAIN_H_
#define TENSORD_BACKENDS_VULKAN_KERNELS_CHAIN_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/api/expression.h"
#include "backends/api/kernel.h"
#include "backends/vulkan/plan.h"

// Expressions as shaders interpret them (chain.glsl): the steps of an
// ElementwiseChain, and an epilogue (OpParams::epilogue) that a kernel computes
// of its result ahead of rounding it.
namespace tensord::vulkan {

// The number of a step's operator in step_list.glsl; nothing where shaders do
// not know it.
std::optional<uint32_t> StepNumber(OpKind op);

// The two numbers that the node's parameters give a step of one operand.
std::array<float, 2> StepParameters(const OpParams& params);

// chain.glsl's ChainTable. A plain value.
struct ChainTable {
  static constexpr int kMostSteps = 32;
  static constexpr int kMostInputs = 8;
  static constexpr int kMostPlaces = 8;
  static constexpr int kMostDigits = 6;

  struct Step {
    uint32_t op;
    uint32_t operands[2];
    uint32_t place;
    float constants[2];
    float parameters[2];
  };
  struct Digit {
    uint32_t divisor, extent, stride;
  };
  struct Input {
    uint32_t digit_count;
    Digit digits[kMostDigits];
  };

  uint32_t step_count;
  Step steps[kMostSteps];
  Input inputs[kMostInputs];
};

// kUnimplemented for an expression that is too large, or whose inputs
// (`first_input` of the node is its input `first_number`) broadcast to y in too
// many digits.
absl::StatusOr<ChainTable> MakeChainTable(const NodeSite& site,
                                          const Expression& expression,
                                          int first_input, int first_number);

// A kernel's epilogue: its table and the operands that go with it, absent ones
// where there is none. A shader has them as `uint64_t epilogue;
// uint64_t epilogue_inputs[MOST_EPILOGUE_INPUTS];`.
struct PlannedEpilogue {
  static constexpr int kMostInputs = 4;
  Operand table;
  std::array<Operand, kMostInputs> inputs;
};
absl::StatusOr<PlannedEpilogue> PlanEpilogue(const NodeSite& site, Plan& plan);

// Arithmetic operations that it adds to a kernel's cost.
double EpilogueFlops(const NodeSite& site);

}  // namespace tensord::vulkan

#endif  // TENSORD_BACKENDS_VULKAN_KERNELS_CHAIN_H_
