// The rows of element-wise operators. Their kernels take the operator as an
// argument, so a row's function says which it is.

#include "absl/strings/str_cat.h"
#include "backends/cuda/kernels/elementwise.h"
#include "backends/cuda/kernels/row_macros.h"
#include "backends/cuda/kernels/rows.h"

namespace tensord::cuda {
namespace {

using RunOf = absl::Status(const KernelCall&, OpKind, DType);

template <RunOf* kRun, OpKind kOp, DType kDType>
absl::Status Run(const KernelCall& call) {
  return kRun(call, kOp, kDType);
}

template <DType kBase, DType kExponent>
absl::Status RunPow(const KernelCall& call) {
  return kBase == kExponent && kBase != DType::kInt32 && kBase != DType::kInt64
             ? RunBinary(call, OpKind::kPow, kBase)
             : RunMixedPow(call, kBase, kExponent);
}

absl::Status AcceptsVariadic(const NodeSite& site) {
  if (site.input_count <= kMaxVariadicInputs) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat(site.input_count, " inputs are above ", kMaxVariadicInputs));
}

// A step costs a few instructions, or some forty of exp() and its like.
KernelCost ChainCost(const NodeSite& site) {
  constexpr double kStepFlops = 20;
  const int64_t elements = site.output(0).shape.element_count();
  double bytes = ByteSize(site.output_dtype(0), elements);
  for (int i = 0; i < site.input_count; ++i) {
    bytes += ByteSize(site.input_dtype(i), site.input(i).shape.element_count());
  }
  const auto& expression = std::get<Expression>(site.params);
  return {.flops = kStepFlops * static_cast<double>(elements) *
                   static_cast<double>(expression.steps.size()),
          .bytes = bytes};
}

#define ROW(op_, name_, dtypes_, run_, file, ...)           \
  {                                                         \
    .op = OpKind::k##op_, .dtypes = dtypes_, .name = name_, \
    .source = "backends/cuda/kernels/" file, .run = run_,   \
    .caps = {__VA_ARGS__},                                  \
  }

// Element-wise operators may write over an input of the output's size.
#define UNARY(T, dtype, suffix, op, name)                        \
  ROW(op, name "_" suffix, All(DType::dtype),                    \
      (&Run<RunUnary, OpKind::k##op, DType::dtype>), "unary.cu", \
      .in_place_inputs = 0b1)
#define UNARY_FLOATS(op, name) TENSORD_CUDA_FLOATS(UNARY, op, name)
#define BINARY(T, dtype, suffix, op, name)                         \
  ROW(op, name "_" suffix, All(DType::dtype),                      \
      (&Run<RunBinary, OpKind::k##op, DType::dtype>), "binary.cu", \
      .in_place_inputs = 0b11)
#define COMPARISON(T, dtype, suffix, op, name)                    \
  ROW(op, name "_" suffix, Takes({DType::dtype}, {DType::kBool}), \
      (&Run<RunComparison, OpKind::k##op, DType::dtype>), "comparison.cu", )
#define CLASSIFICATION(T, dtype, suffix, op, name)                \
  ROW(op, name "_" suffix, Takes({DType::dtype}, {DType::kBool}), \
      (&Run<RunClassification, OpKind::k##op, DType::dtype>),     \
      "classification.cu", )
#define CLASSIFICATIONS(op, name)                                       \
  TENSORD_CUDA_FLOATS(CLASSIFICATION, op, name),                        \
      CLASSIFICATION(uint8_t, kFloat8E4M3FN, "f8e4m3fn", op, name),     \
      CLASSIFICATION(uint8_t, kFloat8E4M3FNUZ, "f8e4m3fnuz", op, name), \
      CLASSIFICATION(uint8_t, kFloat8E5M2, "f8e5m2", op, name),         \
      CLASSIFICATION(uint8_t, kFloat8E5M2FNUZ, "f8e5m2fnuz", op, name)
#define CLIP(T, dtype, suffix, ...)                                       \
  ROW(Clip, "clip_" suffix,                                               \
      (Takes({DType::dtype, DType::dtype, DType::dtype, DType::kFloat32}, \
             {DType::dtype})),                                            \
      (&Run<RunClip, OpKind::kClip, DType::dtype>), "clip.cu",            \
      .in_place_inputs = 0b1)
#define POW(T, dtype, suffix, Base, base)                  \
  ROW(Pow, "pow_" base "_" suffix,                         \
      (Takes({DType::Base, DType::dtype}, {DType::Base})), \
      (&RunPow<DType::Base, DType::dtype>), "pow.cu", .in_place_inputs = 0b1)
#define POWS(Base, base, ...) TENSORD_CUDA_NUMBERS(POW, Base, base)
// Any of the first inputs may be written over.
#define VARIADIC(T, dtype, suffix, op_, name_)                               \
  {                                                                          \
    .op = OpKind::k##op_, .dtypes = All(DType::dtype),                       \
    .name = name_ "_" suffix, .source = "backends/cuda/kernels/variadic.cu", \
    .accepts = &AcceptsVariadic,                                             \
    .run = &Run<RunVariadic, OpKind::k##op_, DType::dtype>,                  \
    .caps = {.in_place_inputs = 0xff},                                       \
  }
#define WHERE(T, dtype, suffix, ...)                                       \
  ROW(Where, "where_" suffix,                                              \
      (Takes({DType::kBool, DType::dtype, DType::dtype}, {DType::dtype})), \
      (&Run<RunWhere, OpKind::kWhere, DType::dtype>), "where.cu",          \
      .in_place_inputs = 0b111)

#define CHAIN(T, dtype_, suffix, ...)                                       \
  {                                                                         \
    .op = OpKind::kElementwiseChain, .dtypes = All(DType::dtype_),          \
    .name = "elementwise_chain_" suffix,                                    \
    .source = "backends/cuda/kernels/elementwise_chain.cu",                 \
    .accepts = &AcceptsChain, .prepare = &PrepareChain, .cost = &ChainCost, \
    .run = &Run<RunChain, OpKind::kElementwiseChain, DType::dtype_>,        \
    .caps = {.in_place_inputs = 0xff},                                      \
  }

constexpr KernelEntry kRows[] = {
    TENSORD_CUDA_NUMBERS(UNARY, Abs, "abs"),
    UNARY_FLOATS(Acos, "acos"),
    UNARY_FLOATS(Acosh, "acosh"),
    UNARY_FLOATS(Asin, "asin"),
    UNARY_FLOATS(Asinh, "asinh"),
    UNARY_FLOATS(Atan, "atan"),
    UNARY_FLOATS(Atanh, "atanh"),
    TENSORD_CUDA_INTEGERS(UNARY, BitwiseNot, "bitwise_not"),
    UNARY_FLOATS(Ceil, "ceil"),
    UNARY_FLOATS(Celu, "celu"),
    UNARY_FLOATS(Cos, "cos"),
    UNARY_FLOATS(Cosh, "cosh"),
    UNARY_FLOATS(Elu, "elu"),
    UNARY_FLOATS(Erf, "erf"),
    UNARY_FLOATS(Exp, "exp"),
    UNARY_FLOATS(Floor, "floor"),
    UNARY_FLOATS(Gelu, "gelu"),
    UNARY_FLOATS(HardSigmoid, "hard_sigmoid"),
    UNARY_FLOATS(HardSwish, "hard_swish"),
    UNARY_FLOATS(LeakyRelu, "leaky_relu"),
    UNARY_FLOATS(Log, "log"),
    UNARY_FLOATS(Mish, "mish"),
    TENSORD_CUDA_SIGNED_NUMBERS(UNARY, Neg, "neg"),
    UNARY(uint8_t, kBool, "bool", Not, "not"),
    UNARY_FLOATS(Reciprocal, "reciprocal"),
    TENSORD_CUDA_SIGNED_NUMBERS(UNARY, Relu, "relu"),
    UNARY_FLOATS(Round, "round"),
    UNARY_FLOATS(Selu, "selu"),
    UNARY_FLOATS(Sigmoid, "sigmoid"),
    TENSORD_CUDA_NUMBERS(UNARY, Sign, "sign"),
    UNARY_FLOATS(Sin, "sin"),
    UNARY_FLOATS(Sinh, "sinh"),
    UNARY_FLOATS(Softplus, "softplus"),
    UNARY_FLOATS(Softsign, "softsign"),
    UNARY_FLOATS(Sqrt, "sqrt"),
    UNARY_FLOATS(Swish, "swish"),
    UNARY_FLOATS(Tan, "tan"),
    UNARY_FLOATS(Tanh, "tanh"),
    UNARY_FLOATS(ThresholdedRelu, "thresholded_relu"),

    CLASSIFICATIONS(IsInf, "is_inf"),
    CLASSIFICATIONS(IsNaN, "is_nan"),

    TENSORD_CUDA_NUMBERS(CLIP),

    TENSORD_CUDA_NUMBERS(BINARY, Add, "add"),
    BINARY(uint8_t, kBool, "bool", And, "and"),
    TENSORD_CUDA_UNSIGNED_INTEGERS(BINARY, BitShift, "bit_shift"),
    TENSORD_CUDA_INTEGERS(BINARY, BitwiseAnd, "bitwise_and"),
    TENSORD_CUDA_INTEGERS(BINARY, BitwiseOr, "bitwise_or"),
    TENSORD_CUDA_INTEGERS(BINARY, BitwiseXor, "bitwise_xor"),
    TENSORD_CUDA_NUMBERS(BINARY, Div, "div"),
    TENSORD_CUDA_NUMBERS(BINARY, Mod, "mod"),
    TENSORD_CUDA_NUMBERS(BINARY, Mul, "mul"),
    BINARY(uint8_t, kBool, "bool", Or, "or"),
    TENSORD_CUDA_WIDE_NUMBERS(BINARY, PRelu, "prelu"),
    TENSORD_CUDA_NUMBERS(BINARY, Sub, "sub"),
    BINARY(uint8_t, kBool, "bool", Xor, "xor"),

    TENSORD_CUDA_NUMBERS(COMPARISON, Equal, "equal"),
    COMPARISON(uint8_t, kBool, "bool", Equal, "equal"),
    TENSORD_CUDA_NUMBERS(COMPARISON, Greater, "greater"),
    TENSORD_CUDA_NUMBERS(COMPARISON, GreaterOrEqual, "greater_or_equal"),
    TENSORD_CUDA_NUMBERS(COMPARISON, Less, "less"),
    TENSORD_CUDA_NUMBERS(COMPARISON, LessOrEqual, "less_or_equal"),

    POWS(kFloat32, "f32"),
    POWS(kFloat64, "f64"),
    POWS(kFloat16, "f16"),
    POWS(kBFloat16, "bf16"),
    POWS(kInt32, "i32"),
    POWS(kInt64, "i64"),

    TENSORD_CUDA_NUMBERS(VARIADIC, Max, "max"),
    TENSORD_CUDA_FLOATS(VARIADIC, Mean, "mean"),
    TENSORD_CUDA_NUMBERS(VARIADIC, Min, "min"),
    TENSORD_CUDA_FLOATS(VARIADIC, Sum, "sum"),

    TENSORD_CUDA_FLOATS(CHAIN),
    CHAIN(int8_t, kInt8, "i8"),
    CHAIN(uint8_t, kUInt8, "u8"),

    TENSORD_CUDA_NUMBERS(WHERE),
    WHERE(uint8_t, kBool, "bool"),
    WHERE(uint8_t, kComplex64, "c64"),
    WHERE(uint8_t, kComplex128, "c128"),
};

}  // namespace

std::array<double, 2> StepParameters(const OpParams& params) {
  if (const auto* alpha = std::get_if<AlphaParams>(&params)) {
    return {alpha->alpha, 0};
  }
  if (const auto* hard = std::get_if<HardSigmoidParams>(&params)) {
    return {hard->alpha, hard->beta};
  }
  if (const auto* selu = std::get_if<SeluParams>(&params)) {
    return {selu->alpha, selu->gamma};
  }
  if (const auto* gelu = std::get_if<GeluParams>(&params)) {
    return {gelu->approximates_by_tanh ? 1.0 : 0.0, 0};
  }
  return {};
}

absl::Span<const KernelEntry> ElementwiseRows() { return kRows; }

}  // namespace tensord::cuda
