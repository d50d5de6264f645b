// LSTM, GRU, RNN: one recurrent layer. Inputs x [steps, batch, input], w
// [directions, gates * hidden, input], r [directions, gates * hidden, hidden],
// optional bias [directions, 2 * gates * hidden], sequence_lens [batch],
// initial_h [directions, batch, hidden]; for LSTM also initial_c and peepholes
// [directions, 3 * hidden]. Optional outputs y [steps, directions, batch,
// hidden], the last hidden state, the last cell state. With layout 1 the batch
// is the first dimension of x, y and the states.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

enum Input { kX, kW, kR, kBias, kLengths, kInitialH, kInitialC, kPeepholes };

// What the three differ in.
struct Kind {
  int gates;
  std::vector<RnnFunction> defaults;
};

struct FunctionName {
  absl::string_view name;
  RnnFunction function;
  // Where the standard has them; Affine and ScaledTanh have no default.
  bool takes_alpha = false;
  bool takes_beta = false;
  float alpha = NAN;
  float beta = NAN;
};
constexpr FunctionName kFunctions[] = {
    {"Affine", RnnFunction::kAffine, true, true},
    {"Elu", RnnFunction::kElu, true, false, 1.0f},
    {"HardSigmoid", RnnFunction::kHardSigmoid, true, true, 0.2f, 0.5f},
    {"LeakyRelu", RnnFunction::kLeakyRelu, true, false, 0.01f},
    {"Relu", RnnFunction::kRelu},
    {"ScaledTanh", RnnFunction::kScaledTanh, true, true},
    {"Sigmoid", RnnFunction::kSigmoid},
    {"Softplus", RnnFunction::kSoftplus},
    {"Softsign", RnnFunction::kSoftsign},
    {"Tanh", RnnFunction::kTanh},
    {"ThresholdedRelu", RnnFunction::kThresholdedRelu, true, false, 1.0f},
};

absl::StatusOr<RnnDirection> ReadDirection(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(const std::string text,
                           node.String("direction", "forward"));
  if (text == "forward") return RnnDirection::kForward;
  if (text == "reverse") return RnnDirection::kReverse;
  if (text == "bidirectional") return RnnDirection::kBidirectional;
  return absl::InvalidArgumentError(
      "attribute 'direction' is not forward, reverse or bidirectional");
}

// One of activation_alpha and activation_beta: the values of those functions
// that take one, in their order.
class Factors {
 public:
  Factors(absl::string_view name, std::vector<float> values)
      : name_(name), values_(std::move(values)) {}

  absl::StatusOr<float> Next(absl::string_view function, float absent) {
    if (used_ < values_.size()) return values_[used_++];
    if (!std::isnan(absent)) return absent;
    return absl::InvalidArgumentError(
        absl::StrCat("attribute '", name_, "' has ", values_.size(),
                     " values: none for ", function, ", which has no default"));
  }
  // A value too many would belong to a function that takes none, so that which
  // is whose could not be told.
  absl::Status CheckAllUsed() const {
    if (used_ == values_.size()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("attribute '", name_, "' has ", values_.size(),
                     " values, and the activations take ", used_));
  }

 private:
  const absl::string_view name_;
  const std::vector<float> values_;
  size_t used_ = 0;
};

absl::StatusOr<const FunctionName*> FindFunction(absl::string_view name) {
  const auto* found =
      std::find_if(std::begin(kFunctions), std::end(kFunctions),
                   [&](const FunctionName& function) {
                     return absl::EqualsIgnoreCase(function.name, name);
                   });
  if (found != std::end(kFunctions)) return found;
  return absl::InvalidArgumentError(absl::StrCat(
      "attribute 'activations' has ", Quoted(name), ", which is no function"));
}

absl::Status ReadActivations(NodeReader& node, const Kind& kind,
                             RnnParams& params) {
  const size_t directions =
      params.direction == RnnDirection::kBidirectional ? 2 : 1;
  TENSORD_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                           node.Strings("activations"));
  TENSORD_ASSIGN_OR_RETURN(std::vector<float> alphas,
                           node.Floats("activation_alpha"));
  TENSORD_ASSIGN_OR_RETURN(std::vector<float> betas,
                           node.Floats("activation_beta"));
  Factors alpha("activation_alpha", std::move(alphas));
  Factors beta("activation_beta", std::move(betas));
  const size_t count = directions * kind.defaults.size();
  if (names.empty()) {
    for (size_t i = 0; i < count; ++i) {
      params.activations.push_back(
          {.function = kind.defaults[i % kind.defaults.size()]});
    }
  } else if (names.size() != count) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute 'activations' has ", names.size(),
                     " functions, not ", count));
  }
  for (const std::string& name : names) {
    TENSORD_ASSIGN_OR_RETURN(const FunctionName* function, FindFunction(name));
    RnnActivation activation{.function = function->function};
    if (function->takes_alpha) {
      TENSORD_ASSIGN_OR_RETURN(activation.alpha,
                               alpha.Next(function->name, function->alpha));
    }
    if (function->takes_beta) {
      TENSORD_ASSIGN_OR_RETURN(activation.beta,
                               beta.Next(function->name, function->beta));
    }
    params.activations.push_back(activation);
  }
  TENSORD_RETURN_IF_ERROR(alpha.CheckAllUsed());
  return beta.CheckAllUsed();
}

absl::StatusOr<RnnParams> Read(NodeReader& node, const Kind& kind) {
  RnnParams params;
  TENSORD_ASSIGN_OR_RETURN(params.direction, ReadDirection(node));
  TENSORD_RETURN_IF_ERROR(ReadActivations(node, kind, params));
  if (node.Has("clip")) {
    TENSORD_ASSIGN_OR_RETURN(const float clip, node.Float("clip", 0));
    if (!(clip > 0)) {
      return absl::InvalidArgumentError(
          absl::StrCat("attribute 'clip' is ", clip, ", not above 0"));
    }
    params.clip = clip;
  }
  if (node.Has("hidden_size")) {
    TENSORD_ASSIGN_OR_RETURN(params.hidden_size, node.Int("hidden_size", 0));
    if (params.hidden_size < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "attribute 'hidden_size' is ", params.hidden_size, ", below 1"));
    }
  }
  if (node.opset() >= 14) {
    TENSORD_ASSIGN_OR_RETURN(params.has_batch_first,
                             node.Bool("layout", false));
  }
  return params;
}

// One operand's shape, dimension by dimension.
absl::Status CheckShape(const InferContext& context, int input,
                        absl::string_view what,
                        absl::Span<const Dim> expected) {
  if (!context.has_input(input)) return absl::OkStatus();
  const int rank = static_cast<int>(expected.size());
  TENSORD_RETURN_IF_ERROR(context.CheckRank(input, rank, rank));
  for (int i = 0; i < rank; ++i) {
    TENSORD_RETURN_IF_ERROR(
        context.CheckSameDim(absl::StrCat(what, ": dimension ", i, ":"),
                             context.shape(input)[i], expected[i]));
  }
  return absl::OkStatus();
}

// x * w^T for all steps is in memory, so it must be of a size that there is,
// whatever the outputs' sizes.
absl::Status CheckProduct(SymbolTable& symbols, Dim steps, Dim batch,
                          Dim width) {
  const Dim count = symbols.Multiply(symbols.Multiply(steps, batch), width);
  if (!count.is_known() || count.extent() <= kMaxElementCount) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      steps.extent(), " steps of ", batch.extent(), " sequences with ",
      width.extent(), " gate values each are more than ", kMaxElementCount));
}

absl::Status InferLayer(InferContext& context, int gates) {
  const RnnParams& params = context.params<RnnParams>();
  SymbolTable& symbols = context.symbols();
  TENSORD_RETURN_IF_ERROR(context.CheckDType(kX, kFloatDTypes));
  for (int i : {kW, kR, kBias, kInitialH, kInitialC, kPeepholes}) {
    if (!context.has_input(i)) continue;
    TENSORD_RETURN_IF_ERROR(context.CheckSameDType(kX, i));
  }
  if (context.has_input(kLengths)) {
    TENSORD_RETURN_IF_ERROR(context.CheckDType(kLengths, {DType::kInt32}));
  }
  for (int i : {kX, kW, kR}) {
    TENSORD_RETURN_IF_ERROR(context.CheckRank(i, 3, 3));
  }
  const Dim steps = context.shape(kX)[params.has_batch_first ? 1 : 0];
  const Dim batch = context.shape(kX)[params.has_batch_first ? 0 : 1];
  const Dim input = context.shape(kX)[2];
  const Dim directions =
      Dim::Known(params.direction == RnnDirection::kBidirectional ? 2 : 1);
  Dim hidden = context.shape(kR)[2];
  if (params.hidden_size != 0) {
    const Dim stated = Dim::Known(params.hidden_size);
    TENSORD_RETURN_IF_ERROR(
        context.CheckSameDim("hidden_size vs weights:", stated, hidden));
    hidden = stated;
  }
  const Dim width = symbols.Multiply(hidden, Dim::Known(gates));
  const Dim biases = symbols.Multiply(width, Dim::Known(2));
  const Dim peepholes = symbols.Multiply(hidden, Dim::Known(3));
  TENSORD_RETURN_IF_ERROR(
      CheckShape(context, kW, "weights", {directions, width, input}));
  TENSORD_RETURN_IF_ERROR(CheckShape(context, kR, "recurrent weights",
                                     {directions, width, hidden}));
  TENSORD_RETURN_IF_ERROR(
      CheckShape(context, kBias, "bias", {directions, biases}));
  TENSORD_RETURN_IF_ERROR(
      CheckShape(context, kLengths, "sequence_lens", {batch}));
  TENSORD_RETURN_IF_ERROR(
      CheckShape(context, kPeepholes, "peepholes", {directions, peepholes}));
  const SymbolicShape state = params.has_batch_first
                                  ? SymbolicShape{batch, directions, hidden}
                                  : SymbolicShape{directions, batch, hidden};
  TENSORD_RETURN_IF_ERROR(CheckShape(context, kInitialH, "initial_h", state));
  TENSORD_RETURN_IF_ERROR(CheckShape(context, kInitialC, "initial_c", state));
  TENSORD_RETURN_IF_ERROR(CheckProduct(symbols, steps, batch, width));

  const DType dtype = context.dtype(kX);
  if (params.has_batch_first) {
    context.SetOutput(0, dtype, {batch, steps, directions, hidden});
  } else {
    context.SetOutput(0, dtype, {steps, directions, batch, hidden});
  }
  for (int i = 1; i < context.output_count(); ++i) {
    context.SetOutput(i, dtype, state);
  }
  return absl::OkStatus();
}

absl::StatusOr<OpParams> ReadLstm(NodeReader& node) {
  const Kind kind = {
      4, {RnnFunction::kSigmoid, RnnFunction::kTanh, RnnFunction::kTanh}};
  TENSORD_ASSIGN_OR_RETURN(RnnParams params, Read(node, kind));
  TENSORD_ASSIGN_OR_RETURN(params.couples_input_and_forget,
                           node.Bool("input_forget", false));
  return params;
}

absl::StatusOr<OpParams> ReadGru(NodeReader& node) {
  const Kind kind = {3, {RnnFunction::kSigmoid, RnnFunction::kTanh}};
  TENSORD_ASSIGN_OR_RETURN(RnnParams params, Read(node, kind));
  TENSORD_ASSIGN_OR_RETURN(params.applies_reset_after_product,
                           node.Bool("linear_before_reset", false));
  return params;
}

absl::StatusOr<OpParams> ReadRnn(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(RnnParams params,
                           Read(node, {1, {RnnFunction::kTanh}}));
  return params;
}

}  // namespace

OpDef LSTMDef() {
  return {
      .op = OpKind::kLSTM,
      .min_inputs = 3,
      .max_inputs = 8,
      .max_outputs = 3,
      .read = &ReadLstm,
      .infer = [](InferContext& context) { return InferLayer(context, 4); }};
}

OpDef GRUDef() {
  return {
      .op = OpKind::kGRU,
      .min_inputs = 3,
      .max_inputs = 6,
      .max_outputs = 2,
      .read = &ReadGru,
      .infer = [](InferContext& context) { return InferLayer(context, 3); }};
}

OpDef RNNDef() {
  return {
      .op = OpKind::kRNN,
      .min_inputs = 3,
      .max_inputs = 6,
      .max_outputs = 2,
      .read = &ReadRnn,
      .infer = [](InferContext& context) { return InferLayer(context, 1); }};
}

}  // namespace tensord
