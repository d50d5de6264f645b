// LinearAttention: a state [batch, key/value heads, key size, value size] that
// each token decays and adds its key and value to, and that its query reads.
// Queries, keys and values are [batch, sequence, heads * size].

#include <string>

#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

constexpr int kQuery = 0;
constexpr int kKey = 1;
constexpr int kValue = 2;
constexpr int kPastState = 3;
constexpr int kDecay = 4;
constexpr int kBeta = 5;

constexpr DType kStateDTypes[] = {DType::kFloat32, DType::kFloat16,
                                  DType::kBFloat16};

absl::StatusOr<int64_t> ReadHeads(NodeReader& node, absl::string_view name) {
  if (!node.Has(name)) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute '", name, "' is missing"));
  }
  TENSORD_ASSIGN_OR_RETURN(const int64_t heads, node.Int(name, 0));
  if (heads >= 1) return heads;
  return absl::InvalidArgumentError(
      absl::StrCat("attribute '", name, "' is ", heads, ", not at least 1"));
}

absl::StatusOr<LinearAttentionRule> ReadRule(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(const std::string rule,
                           node.String("update_rule", "gated_delta"));
  if (rule == "linear") return LinearAttentionRule::kLinear;
  if (rule == "gated") return LinearAttentionRule::kGated;
  if (rule == "delta") return LinearAttentionRule::kDelta;
  if (rule == "gated_delta") return LinearAttentionRule::kGatedDelta;
  return absl::InvalidArgumentError(
      absl::StrCat("attribute 'update_rule' is ", Quoted(rule),
                   ", not linear, gated, delta or gated_delta"));
}

absl::StatusOr<OpParams> Read(NodeReader& node) {
  LinearAttentionParams params;
  TENSORD_ASSIGN_OR_RETURN(params.rule, ReadRule(node));
  TENSORD_ASSIGN_OR_RETURN(params.query_heads, ReadHeads(node, "q_num_heads"));
  TENSORD_ASSIGN_OR_RETURN(params.key_value_heads,
                           ReadHeads(node, "kv_num_heads"));
  if (params.query_heads % params.key_value_heads != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        params.query_heads, " heads of the queries are no multiple of ",
        params.key_value_heads, " of the keys and values"));
  }
  TENSORD_ASSIGN_OR_RETURN(params.scale, node.Float("scale", 0));
  // How many tokens an implementation may take at a time.
  node.Ignore("chunk_size");
  return params;
}

// An input that the rule reads is there, and one that it does not is not.
absl::Status CheckPresence(const InferContext& context, int i,
                           absl::string_view name, bool is_read) {
  if (context.has_input(i) == is_read) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "input ", i, " (", name, ") is ", is_read ? "missing" : "given",
      is_read ? ", which" : ", but not what", " attribute 'update_rule' ",
      is_read ? "needs" : "says to read"));
}

// The size of a head of input i.
absl::StatusOr<Dim> FindHeadSize(InferContext& context, int i, int64_t heads) {
  TENSORD_RETURN_IF_ERROR(context.CheckRank(i, 3, 3));
  const Dim packed = context.shape(i)[2];
  if (packed.is_known() && packed.extent() % heads != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("input ", i, ": ", packed.extent(),
                     " elements do not make ", heads, " equal heads"));
  }
  return context.symbols().FloorDivide(packed, Dim::Known(heads));
}

// Input i is [batch, sequence, one of these] and of the queries' dtype.
absl::Status CheckGate(const InferContext& context, int i, Dim one, Dim other) {
  TENSORD_RETURN_IF_ERROR(context.CheckSameDType(kQuery, i));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(i, 3, 3));
  const Dim last = context.shape(i)[2];
  if (last.is_known() && one.is_known() && other.is_known() && last != one &&
      last != other) {
    return absl::InvalidArgumentError(absl::StrCat(
        "input ", i, " has ", last.extent(), " elements for a token, not ",
        one.extent(), " or ", other.extent()));
  }
  return absl::OkStatus();
}

absl::Status CheckTokens(const InferContext& context, int i) {
  TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
      absl::StrCat("batch of input 0 vs of input ", i, ":"),
      context.shape(kQuery)[0], context.shape(i)[0]));
  return context.CheckSameDim(
      absl::StrCat("sequence of input 0 vs of input ", i, ":"),
      context.shape(kQuery)[1], context.shape(i)[1]);
}

absl::Status CheckGates(InferContext& context, Dim key_size) {
  const auto& params = context.params<LinearAttentionParams>();
  const LinearAttentionRule rule = params.rule;
  const bool has_decay = rule == LinearAttentionRule::kGated ||
                         rule == LinearAttentionRule::kGatedDelta;
  const bool has_beta = rule == LinearAttentionRule::kDelta ||
                        rule == LinearAttentionRule::kGatedDelta;
  const Dim heads = Dim::Known(params.key_value_heads);
  TENSORD_RETURN_IF_ERROR(CheckPresence(context, kDecay, "decay", has_decay));
  TENSORD_RETURN_IF_ERROR(CheckPresence(context, kBeta, "beta", has_beta));
  if (has_decay) {
    TENSORD_RETURN_IF_ERROR(CheckGate(
        context, kDecay, heads, context.symbols().Multiply(heads, key_size)));
    TENSORD_RETURN_IF_ERROR(CheckTokens(context, kDecay));
  }
  if (has_beta) {
    TENSORD_RETURN_IF_ERROR(CheckGate(context, kBeta, heads, Dim::Known(1)));
    TENSORD_RETURN_IF_ERROR(CheckTokens(context, kBeta));
  }
  return absl::OkStatus();
}

absl::Status CheckPast(const InferContext& context,
                       const SymbolicShape& state) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(kPastState, kStateDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(kPastState, 4, 4));
  for (int d = 0; d < 4; ++d) {
    TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
        absl::StrCat("dimension ", d, " of the past state should be"), state[d],
        context.shape(kPastState)[d]));
  }
  return absl::OkStatus();
}

absl::Status Infer(InferContext& context) {
  const auto& params = context.params<LinearAttentionParams>();
  TENSORD_RETURN_IF_ERROR(context.CheckDType(kQuery, kStateDTypes));
  TENSORD_ASSIGN_OR_RETURN(const Dim query_size,
                           FindHeadSize(context, kQuery, params.query_heads));
  TENSORD_ASSIGN_OR_RETURN(const Dim key_size,
                           FindHeadSize(context, kKey, params.key_value_heads));
  TENSORD_ASSIGN_OR_RETURN(
      const Dim value_size,
      FindHeadSize(context, kValue, params.key_value_heads));
  TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
      "head sizes of the queries vs of the keys:", query_size, key_size));
  for (int i : {kKey, kValue}) {
    TENSORD_RETURN_IF_ERROR(context.CheckSameDType(kQuery, i));
    TENSORD_RETURN_IF_ERROR(CheckTokens(context, i));
  }
  TENSORD_RETURN_IF_ERROR(CheckGates(context, key_size));
  const SymbolicShape& query = context.shape(kQuery);
  const SymbolicShape state = {query[0], Dim::Known(params.key_value_heads),
                               key_size, value_size};
  if (context.has_input(kPastState)) {
    TENSORD_RETURN_IF_ERROR(CheckPast(context, state));
  }
  context.SetOutput(
      0, context.dtype(kQuery),
      {query[0], query[1],
       context.symbols().Multiply(Dim::Known(params.query_heads), value_size)});
  context.SetOutput(
      1, context.dtype(context.has_input(kPastState) ? kPastState : kQuery),
      state);
  return absl::OkStatus();
}

}  // namespace

OpDef LinearAttentionDef() {
  return {.op = OpKind::kLinearAttention,
          .min_inputs = 3,
          .max_inputs = 6,
          .min_outputs = 2,
          .max_outputs = 2,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
