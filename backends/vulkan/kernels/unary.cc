// Operators of one operand, element by element: functions of floats, and those
// of integers, bools and classes of floats.
//
//   y[i] = op(x[i]), both contiguous; y may be x's buffer

#include <cstdint>

#include "backends/vulkan/kernels/chain.h"
#include "backends/vulkan/kernels/row_list.h"
#include "backends/vulkan/kernels/rows.h"
#include "vulkan/shader_codes.h"

namespace tensord::vulkan {
namespace {

// unary.comp's operators behind the steps.
uint32_t NumberOf(OpKind op) {
  switch (op) {
    case OpKind::kBitwiseNot:
      return 100;
    case OpKind::kNot:
      return 101;
    case OpKind::kIsInf:
      return 102;
    case OpKind::kIsNaN:
      return 103;
    default:
      return StepNumber(op).value();
  }
}

absl::Status PlanUnary(const NodeSite& site, Plan& plan) {
  std::array<float, 2> parameters = StepParameters(site.params);
  if (const auto* inf = std::get_if<IsInfParams>(&site.params)) {
    parameters = {inf->detects_negative ? 1.0f : 0.0f,
                  inf->detects_positive ? 1.0f : 0.0f};
  }
  const int64_t count = site.output(0).shape.element_count();
  struct {
    uint32_t count;
    float alpha, beta;
  } arguments = {static_cast<uint32_t>(count), parameters[0], parameters[1]};
  plan.Add(shaders::k_unary,
           {256, static_cast<uint32_t>(site.input_dtype(0)), NumberOf(site.op)},
           GroupsFor(count), {plan.In(0), plan.Out(0)}, arguments);
  return absl::OkStatus();
}

struct Function {
  OpKind op;
  const char* name;
};

constexpr Function kFunctions[] = {
    {OpKind::kAbs, "abs"},
    {OpKind::kAcos, "acos"},
    {OpKind::kAcosh, "acosh"},
    {OpKind::kAsin, "asin"},
    {OpKind::kAsinh, "asinh"},
    {OpKind::kAtan, "atan"},
    {OpKind::kAtanh, "atanh"},
    {OpKind::kCeil, "ceil"},
    {OpKind::kCelu, "celu"},
    {OpKind::kCos, "cos"},
    {OpKind::kCosh, "cosh"},
    {OpKind::kElu, "elu"},
    {OpKind::kErf, "erf"},
    {OpKind::kExp, "exp"},
    {OpKind::kFloor, "floor"},
    {OpKind::kGelu, "gelu"},
    {OpKind::kHardSigmoid, "hard_sigmoid"},
    {OpKind::kHardSwish, "hard_swish"},
    {OpKind::kLeakyRelu, "leaky_relu"},
    {OpKind::kLog, "log"},
    {OpKind::kMish, "mish"},
    {OpKind::kNeg, "neg"},
    {OpKind::kReciprocal, "reciprocal"},
    {OpKind::kRelu, "relu"},
    {OpKind::kRound, "round"},
    {OpKind::kSelu, "selu"},
    {OpKind::kSigmoid, "sigmoid"},
    {OpKind::kSign, "sign"},
    {OpKind::kSin, "sin"},
    {OpKind::kSinh, "sinh"},
    {OpKind::kSoftplus, "softplus"},
    {OpKind::kSoftsign, "softsign"},
    {OpKind::kSqrt, "sqrt"},
    {OpKind::kSwish, "swish"},
    {OpKind::kTan, "tan"},
    {OpKind::kTanh, "tanh"},
    {OpKind::kThresholdedRelu, "thresholded_relu"},
};

RowList Rows() {
  const RowTraits traits = {.source = "backends/vulkan/kernels/unary.cc",
                            .caps = {.in_place_inputs = 0b1}};
  RowList rows;
  for (const Function& function : kFunctions) {
    rows.AddAll<&PlanUnary>(function.op, function.name, kFloats, traits);
  }
  for (const Function& function :
       {Function{OpKind::kAbs, "abs"}, Function{OpKind::kNeg, "neg"},
        Function{OpKind::kRelu, "relu"}, Function{OpKind::kSign, "sign"}}) {
    rows.AddAll<&PlanUnary>(function.op, function.name, kSignedIntegers,
                            traits);
  }
  for (const Function& function :
       {Function{OpKind::kAbs, "abs"}, Function{OpKind::kSign, "sign"}}) {
    rows.AddAll<&PlanUnary>(function.op, function.name, kUnsignedIntegers,
                            traits);
  }
  for (const auto dtypes : {absl::MakeConstSpan(kSignedIntegers),
                            absl::MakeConstSpan(kUnsignedIntegers)}) {
    rows.AddAll<&PlanUnary>(OpKind::kBitwiseNot, "bitwise_not", dtypes, traits);
  }
  rows.AddAll<&PlanUnary>(OpKind::kNot, "not", {DType::kBool}, traits);
  for (const DType dtype : kFloats) {
    const DTypeSignature to_bool = Takes({dtype}, {DType::kBool});
    rows.Add<&PlanUnary>(OpKind::kIsInf, RowList::NameOf("is_inf", dtype),
                         to_bool, {.source = traits.source});
    rows.Add<&PlanUnary>(OpKind::kIsNaN, RowList::NameOf("is_nan", dtype),
                         to_bool, {.source = traits.source});
  }
  return rows;
}

}  // namespace

absl::Span<const KernelEntry> UnaryRows() {
  static const auto* const rows = new RowList(Rows());
  return rows->rows();
}

}  // namespace tensord::vulkan
