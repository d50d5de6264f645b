#include "backends/cuda/libraries/chain_text.h"

#include <algorithm>
#include <cstring>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/cuda/kernels/is_expression_step.h"
#include "backends/cuda/libraries/expression_steps_text.h"

namespace tensord::cuda {
namespace {

// Of a kernel's parameters, which have 4 KiB.
constexpr int kMaxInputs = 256;
constexpr int64_t kThreadsPerBlock = 256;
// Steps times elements of a thread up to which the loop over these is written
// out: beyond, the text takes longer to compile than it saves.
constexpr int64_t kMaxUnrolled = 1024;

// How elements are kept and computed. Conversions are spelled out, since the
// compiler has no headers.
constexpr absl::string_view kFloat32 = R"(
typedef float Number;
typedef float Element;
Number ToNumber(Element x) { return x; }
Element ToElement(Number x) { return x; }
)";
constexpr absl::string_view kFloat64 = R"(
typedef double Number;
typedef double Element;
Number ToNumber(Element x) { return x; }
Element ToElement(Number x) { return x; }
)";
constexpr absl::string_view kFloat16 = R"(
typedef float Number;
typedef unsigned short Element;
Number ToNumber(Element x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
  return y;
}
Element ToElement(Number x) {
  Element y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}
)";
constexpr absl::string_view kBFloat16 = R"(
typedef float Number;
typedef unsigned short Element;
Number ToNumber(Element x) { return __uint_as_float((unsigned)x << 16); }
Element ToElement(Number x) {
  unsigned bits = __float_as_uint(x);
  if (x != x) return 0x7fff;
  return (Element)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
)";

absl::string_view TypesOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return kFloat16;
    case DType::kBFloat16:
      return kBFloat16;
    case DType::kFloat64:
      return kFloat64;
    default:
      return kFloat32;
  }
}

// expression_steps.h, and what it needs of the headers that it includes.
std::vector<std::pair<std::string, std::string>> Headers() {
  std::string kinds = "namespace tensord {\nenum class OpKind {\n";
  for (int i = 0; i < kOpKindCount; ++i) {
    absl::StrAppend(&kinds, "  k", OpKindName(static_cast<OpKind>(i)), ",\n");
  }
  absl::StrAppend(&kinds, "};\n}\n");
  return {{"backends/cuda/kernels/expression_steps.h", kExpressionStepsText},
          {"backends/api/op_kind.h", std::move(kinds)},
          {"backends/api/expression.h", ""},
          {"backends/cuda/kernels/device.h", ""},
          {"backends/cuda/kernels/is_expression_step.h", ""},
          {"math.h", ""}};
}

// A number as it is, to the last bit.
std::string Literal(double value, bool is_double) {
  if (is_double) {
    int64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return absl::StrFormat("__longlong_as_double(0x%xll)", bits);
  }
  const auto narrow = static_cast<float>(value);
  int32_t bits;
  std::memcpy(&bits, &narrow, sizeof bits);
  return absl::StrFormat("__int_as_float(0x%x)", bits);
}

// One dimension that an input's address depends on.
struct Term {
  int64_t inner;   // elements of y to the next index
  int64_t extent;  // indices
  int64_t stride;  // elements of the input to the next index
};

// Dimensions that the input walks as one are one term; those along which it is
// repeated have stride 0. Innermost first.
std::vector<Term> TermsOf(const Shape& input, const Shape& y) {
  std::vector<Term> terms;
  int64_t inner = 1;
  int64_t stride = 1;
  for (int d = y.rank() - 1; d >= 0; --d) {
    const int own = d - (y.rank() - input.rank());
    const int64_t extent = own >= 0 ? input[own] : 1;
    const int64_t own_stride = extent == 1 ? 0 : stride;
    stride *= extent;
    if (y[d] == 1) continue;
    if (!terms.empty() &&
        own_stride == terms.back().stride * terms.back().extent) {
      terms.back().extent *= y[d];
    } else {
      terms.push_back({inner, y[d], own_stride});
    }
    inner *= y[d];
  }
  return terms;
}

// The input's element that meets element `at` of y.
std::string IndexText(const std::vector<Term>& terms, int64_t count,
                      absl::string_view at) {
  std::string text;
  for (const Term& term : terms) {
    if (term.stride == 0) continue;
    if (!text.empty()) absl::StrAppend(&text, " + ");
    std::string index(at);
    if (term.inner != 1) {
      index = absl::StrCat("(", index, " / ", term.inner, "u)");
    }
    if (term.inner * term.extent != count) {
      index = absl::StrCat("(", index, " % ", term.extent, "u)");
    }
    absl::StrAppend(&text, index, " * (Index)", term.stride, "u");
  }
  return text.empty() ? "0" : text;
}

// The chain's text, part by part.
class Writer {
 public:
  explicit Writer(const NodeSite& site)
      : site_(site),
        expression_(std::get<Expression>(site.params)),
        y_(site.output(0).shape),
        is_double_(site.output_dtype(0) == DType::kFloat64) {
    const int64_t bytes = ByteSize(site.output_dtype(0), 1);
    pack_ = 16 / bytes;
    bool is_aligned = y_.element_count() % pack_ == 0;
    for (const Layout& layout : site.layouts) {
      is_aligned = is_aligned && layout.offset % pack_ == 0;
    }
    if (!is_aligned) pack_ = 1;
  }

  int64_t packs() const { return y_.element_count() / pack_; }

  std::string Write() {
    const int64_t count = y_.element_count();
    // Steps of the grid past the end must not overflow either.
    const bool is_wide = count >= int64_t{1} << 31;
    std::string parameters;
    for (int i = 0; i < expression_.input_count; ++i) {
      absl::StrAppend(&parameters, "const Element* in", i, ", ");
      ReadInput(i);
    }
    Steps();
    const bool unrolls =
        pack_ * static_cast<int64_t>(expression_.steps.size()) <= kMaxUnrolled;
    return absl::StrCat(
        "#include \"backends/cuda/kernels/expression_steps.h\"\n"
        "using namespace tensord;\nusing namespace tensord::cuda;\n",
        TypesOf(site_.output_dtype(0)), "typedef unsigned ",
        is_wide ? "long long" : "int", " Index;\n", "struct __align__(",
        pack_ * ByteSize(site_.output_dtype(0), 1), ") Pack { Element at[",
        pack_, "]; };\n", "extern \"C\" __global__ void __launch_bounds__(",
        kThreadsPerBlock, ") chain(", parameters, "Element* y) {\n",
        "  const Index step = (Index)gridDim.x * blockDim.x;\n"
        "  for (Index p = (Index)blockIdx.x * blockDim.x + threadIdx.x; p < ",
        packs(), "u; p += step) {\n    const Index first = p * ", pack_,
        "u;\n    Pack result;\n", loads_, "#pragma unroll ",
        unrolls ? pack_ : 1, "\n    for (int k = 0; k < ", pack_, "; ++k) {\n",
        body_, "    }\n    ((Pack*)y)[p] = result;\n  }\n}\n");
  }

 private:
  void ReadInput(int i) {
    const std::vector<Term> terms = TermsOf(site_.input(i).shape, y_);
    const int64_t count = y_.element_count();
    const std::string pointer = absl::StrCat("in", i);
    if (terms.empty() || (terms.size() == 1 && terms[0].stride == 0)) {
      absl::StrAppend(&loads_, "    const Number v", i, " = ToNumber(", pointer,
                      "[0]);\n");
      return;
    }
    const Term& run = terms[0];
    const bool is_even =
        run.extent % pack_ == 0 &&
        std::all_of(terms.begin() + 1, terms.end(), [&](const Term& term) {
          return term.stride % pack_ == 0 || run.stride == 0;
        });
    if (is_even && run.stride == 1) {
      absl::StrAppend(&loads_, "    const Pack p", i, " = *(const Pack*)(",
                      pointer, " + (", IndexText(terms, count, "first"),
                      "));\n");
      absl::StrAppend(&body_, "      const Number v", i, " = ToNumber(p", i,
                      ".at[k]);\n");
    } else if (is_even && run.stride == 0) {
      absl::StrAppend(&loads_, "    const Number v", i, " = ToNumber(", pointer,
                      "[", IndexText(terms, count, "first"), "]);\n");
    } else {
      absl::StrAppend(&body_, "      const Number v", i, " = ToNumber(",
                      pointer, "[", IndexText(terms, count, "(first + k)"),
                      "]);\n");
    }
  }

  std::string ValueText(int32_t value) const {
    const int32_t constant = value - expression_.input_count;
    if (constant >= 0 &&
        constant < static_cast<int32_t>(expression_.constants.size())) {
      return Literal(expression_.constants[constant], is_double_);
    }
    return absl::StrCat("v", value);
  }

  void Steps() {
    int32_t value = expression_.FirstStepValue();
    for (const ExpressionStep& step : expression_.steps) {
      absl::StrAppend(&body_, "      const Number v", value++, " = ",
                      StepText(step), ";\n");
    }
    absl::StrAppend(&body_, "      result.at[k] = ToElement(v", value - 1,
                    ");\n");
  }

  // The operators that chains are mostly made of in place; the others by the
  // one function that knows all.
  std::string StepText(const ExpressionStep& step) const {
    const std::string x = ValueText(step.operands[0]);
    const bool has_two = step.operands[1] != ExpressionStep::kNoOperand;
    const std::string y = has_two ? ValueText(step.operands[1]) : "Number(0)";
    const std::string alpha = Literal(step.parameters[0], is_double_);
    const std::string beta = Literal(step.parameters[1], is_double_);
    switch (step.op) {
      case OpKind::kAdd:
        return absl::StrCat(x, " + ", y);
      case OpKind::kSub:
        return absl::StrCat(x, " - ", y);
      case OpKind::kMul:
        return absl::StrCat(x, " * ", y);
      case OpKind::kDiv:
        return absl::StrCat(x, " / ", y);
      case OpKind::kRelu:
        return absl::StrCat(x, " < 0 ? Number(0) : ", x);
      case OpKind::kClip:
        return absl::StrCat("Clip(", x, ", ", alpha, ", ", beta, ")");
      case OpKind::kSigmoid:
        return absl::StrCat("Logistic(", x, ")");
      case OpKind::kGelu:
        return absl::StrCat(step.parameters[0] != 0 ? "GeluByTanh(" : "Gelu(",
                            x, ")");
      case OpKind::kMax:
        return absl::StrCat("Largest(", x, ", ", y, ")");
      case OpKind::kMin:
        return absl::StrCat("Least(", x, ", ", y, ")");
      case OpKind::kExp:
        return absl::StrCat("exp(", x, ")");
      case OpKind::kTanh:
        return absl::StrCat("tanh(", x, ")");
      case OpKind::kErf:
        return absl::StrCat("erf(", x, ")");
      case OpKind::kSqrt:
        return absl::StrCat("sqrt(", x, ")");
      default:
        return absl::StrCat("EvaluateStep<Number>(OpKind::k",
                            OpKindName(step.op), ", ", x, ", ", y, ", ", alpha,
                            ", ", beta, ")");
    }
  }

  const NodeSite& site_;
  const Expression& expression_;
  const Shape& y_;
  const bool is_double_;
  int64_t pack_ = 1;   // elements of a thread at a time
  std::string loads_;  // ahead of the loop over these
  std::string body_;   // the loop's
};

}  // namespace

absl::Status CheckChainText(const NodeSite& site) {
  switch (site.output_dtype(0)) {
    case DType::kFloat32:
    case DType::kFloat64:
    case DType::kFloat16:
    case DType::kBFloat16:
      break;
    default:
      return absl::UnimplementedError(absl::StrCat(
          "a chain of ", DTypeName(site.output_dtype(0)), " has no text"));
  }
  const auto& expression = std::get<Expression>(site.params);
  for (const ExpressionStep& step : expression.steps) {
    if (!IsExpressionStep(step.op)) {
      return absl::UnimplementedError(
          absl::StrCat("the step ", OpKindName(step.op), " has no text"));
    }
  }
  if (expression.input_count > kMaxInputs) {
    return absl::UnimplementedError(
        absl::StrCat(expression.input_count, " inputs are above ", kMaxInputs));
  }
  return absl::OkStatus();
}

ChainText MakeChainText(const NodeSite& site) {
  Writer writer(site);
  ChainText result;
  result.text.text = writer.Write();
  result.text.headers = Headers();
  result.threads = writer.packs();
  return result;
}

}  // namespace tensord::cuda
