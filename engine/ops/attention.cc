// Attention: y = softmax(q * k' * scale + masks) * v for each head, as in
// operator sets 23 to 25. Queries, keys and values are [batch, heads, sequence,
// head size], or [batch, sequence, heads * head size] with the numbers of heads
// as attributes. Keys and values of earlier runs may come in (past) and go out
// together with the new ones (present).

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

constexpr int kMask = 3;
constexpr int kPastKey = 4;
constexpr int kPastValue = 5;
constexpr int kNonpadLengths = 6;

absl::StatusOr<int64_t> ReadCount(NodeReader& node, absl::string_view name) {
  if (!node.Has(name)) return 0;
  TENSORD_ASSIGN_OR_RETURN(const int64_t count, node.Int(name, 0));
  if (count >= 1) return count;
  return absl::InvalidArgumentError(
      absl::StrCat("attribute '", name, "' is ", count, ", not at least 1"));
}

// At least 0 and finite.
absl::StatusOr<float> ReadFactor(NodeReader& node, absl::string_view name) {
  TENSORD_ASSIGN_OR_RETURN(const float factor, node.Float(name, 0));
  if (factor >= 0 && std::isfinite(factor)) return factor;
  return absl::InvalidArgumentError(
      absl::StrCat("attribute '", name, "' is ", factor,
                   ", not a finite number of at least 0"));
}

absl::StatusOr<int64_t> ReadWindow(NodeReader& node, absl::string_view name) {
  TENSORD_ASSIGN_OR_RETURN(const int64_t window, node.Int(name, -1));
  // No position is farther away than that, and sums stay in range.
  if (window >= -1) return std::min(window, 4 * kMaxElementCount);
  return absl::InvalidArgumentError(
      absl::StrCat("attribute '", name, "' is ", window, ", below -1"));
}

absl::StatusOr<DType> ReadPrecision(NodeReader& node) {
  if (!node.Has("softmax_precision")) return DType::kUndefined;
  TENSORD_ASSIGN_OR_RETURN(const int64_t number,
                           node.Int("softmax_precision", 0));
  const DType dtype = DTypeFromNumber(number).value_or(DType::kUndefined);
  for (DType allowed : kFloatDTypes) {
    if (dtype == allowed) return dtype;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("attribute 'softmax_precision' is ", number,
                   ", not the number of a floating dtype"));
}

absl::StatusOr<OpParams> Read(NodeReader& node) {
  AttentionParams params;
  TENSORD_ASSIGN_OR_RETURN(params.is_causal, node.Bool("is_causal", false));
  TENSORD_ASSIGN_OR_RETURN(params.query_heads, ReadCount(node, "q_num_heads"));
  TENSORD_ASSIGN_OR_RETURN(params.key_value_heads,
                           ReadCount(node, "kv_num_heads"));
  if (node.Has("scale")) {
    TENSORD_ASSIGN_OR_RETURN(params.scale, ReadFactor(node, "scale"));
  }
  TENSORD_ASSIGN_OR_RETURN(params.softcap, ReadFactor(node, "softcap"));
  TENSORD_ASSIGN_OR_RETURN(params.matmul_output_mode,
                           node.Int("qk_matmul_output_mode", 0));
  if (params.matmul_output_mode < 0 || params.matmul_output_mode > 3) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute 'qk_matmul_output_mode' is ",
                     params.matmul_output_mode, ", outside [0, 3]"));
  }
  TENSORD_ASSIGN_OR_RETURN(params.softmax_dtype, ReadPrecision(node));
  if (node.opset() >= 25) {
    TENSORD_ASSIGN_OR_RETURN(params.left_window,
                             ReadWindow(node, "left_window_size"));
    TENSORD_ASSIGN_OR_RETURN(params.right_window,
                             ReadWindow(node, "right_window_size"));
  }
  if (node.opset() < 24 && node.input_count() > kNonpadLengths) {
    return absl::InvalidArgumentError(
        absl::StrCat(node.input_count(), " inputs; up to operator set 23 ",
                     "there are ", kNonpadLengths));
  }
  return params;
}

// One of q, k and v in dimensions of its own.
struct Heads {
  Dim batch, heads, sequence, size;
};

absl::StatusOr<Heads> FindHeads(InferContext& context, int i, int64_t heads,
                                absl::string_view attribute) {
  const SymbolicShape& x = context.shape(i);
  if (x.size() == 4) {
    if (heads != 0) {
      TENSORD_RETURN_IF_ERROR(
          context.CheckSameDim(absl::StrCat("attribute '", attribute,
                                            "' vs heads of input ", i, ":"),
                               Dim::Known(heads), x[1]));
    }
    return Heads{x[0], x[1], x[2], x[3]};
  }
  if (heads == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "attribute '", attribute, "' is missing, which inputs of rank 3 need"));
  }
  if (x[2].is_known() && x[2].extent() % heads != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("input ", i, ": ", x[2].extent(), " elements do not make ",
                     heads, " equal heads"));
  }
  return Heads{x[0], Dim::Known(heads), x[1],
               context.symbols().FloorDivide(x[2], Dim::Known(heads))};
}

struct Operands {
  Heads q, k, v;
  Dim past = Dim::Known(0);
  Dim total;  // keys, past and new
};

// q * k' and the product with v, with a key's heads serving several queries'.
absl::Status CheckProducts(const InferContext& context, const Operands& o) {
  TENSORD_RETURN_IF_ERROR(
      context.CheckSameDim("batch of Q and K:", o.q.batch, o.k.batch));
  TENSORD_RETURN_IF_ERROR(
      context.CheckSameDim("batch of Q and V:", o.q.batch, o.v.batch));
  TENSORD_RETURN_IF_ERROR(
      context.CheckSameDim("head sizes of Q and K:", o.q.size, o.k.size));
  TENSORD_RETURN_IF_ERROR(
      context.CheckSameDim("heads of K and V:", o.k.heads, o.v.heads));
  TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
      "sequences of K and V:", o.k.sequence, o.v.sequence));
  if (o.q.heads.is_known() && o.k.heads.is_known()) {
    const int64_t q = o.q.heads.extent();
    const int64_t k = o.k.heads.extent();
    if (k == 0 ? q != 0 : q % k != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(q, " heads of Q are no multiple of K's ", k));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPast(const InferContext& context, int i, const Heads& fresh,
                       Dim past) {
  TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, i));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(i, 4, 4));
  const Dim wanted[] = {fresh.batch, fresh.heads, past, fresh.size};
  constexpr absl::string_view kNames[] = {"batch", "heads", "past length",
                                          "head size"};
  for (int d = 0; d < 4; ++d) {
    TENSORD_RETURN_IF_ERROR(
        context.CheckSameDim(absl::StrCat(kNames[d], " vs input ", i, "'s:"),
                             wanted[d], context.shape(i)[d]));
  }
  return absl::OkStatus();
}

// Queries, keys and values are parts of the rows of input 0.
absl::StatusOr<Operands> FindPacked(InferContext& context) {
  const auto& params = context.params<AttentionParams>();
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 3, 3));
  const SymbolicShape& x = context.shape(0);
  const int64_t heads = params.query_heads + 2 * params.key_value_heads;
  if (x[2].is_known() && x[2].extent() % heads != 0) {
    return absl::InvalidArgumentError(absl::StrCat("input 0: ", x[2].extent(),
                                                   " elements do not make ",
                                                   heads, " equal heads"));
  }
  const Dim size = context.symbols().FloorDivide(x[2], Dim::Known(heads));
  Operands o;
  o.q = {x[0], Dim::Known(params.query_heads), x[1], size};
  o.k = o.v = {x[0], Dim::Known(params.key_value_heads), x[1], size};
  return o;
}

absl::StatusOr<Operands> FindApart(InferContext& context) {
  const auto& params = context.params<AttentionParams>();
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 3, 4));
  for (int i = 1; i <= 2; ++i) {
    TENSORD_RETURN_IF_ERROR(
        context.CheckRank(i, context.rank(0), context.rank(0)));
  }
  Operands o;
  TENSORD_ASSIGN_OR_RETURN(
      o.q, FindHeads(context, 0, params.query_heads, "q_num_heads"));
  TENSORD_ASSIGN_OR_RETURN(
      o.k, FindHeads(context, 1, params.key_value_heads, "kv_num_heads"));
  TENSORD_ASSIGN_OR_RETURN(
      o.v, FindHeads(context, 2, params.key_value_heads, "kv_num_heads"));
  return o;
}

absl::StatusOr<Operands> FindOperands(InferContext& context) {
  TENSORD_ASSIGN_OR_RETURN(Operands o,
                           context.params<AttentionParams>().packs_qkv
                               ? FindPacked(context)
                               : FindApart(context));
  TENSORD_RETURN_IF_ERROR(CheckProducts(context, o));
  if (context.has_input(kPastKey) != context.has_input(kPastValue)) {
    return absl::InvalidArgumentError(
        "past_key and past_value go together, but one is absent");
  }
  if (context.has_input(kPastKey)) {
    TENSORD_RETURN_IF_ERROR(context.CheckRank(kPastKey, 4, 4));
    o.past = context.shape(kPastKey)[2];
    TENSORD_RETURN_IF_ERROR(CheckPast(context, kPastKey, o.k, o.past));
    TENSORD_RETURN_IF_ERROR(CheckPast(context, kPastValue, o.v, o.past));
  }
  o.total = context.symbols().Add(o.past, o.k.sequence);
  return o;
}

// Broadcasts to [batch, heads of q, queries, keys], but for its last dimension,
// which may end early: no query sees the keys behind.
absl::Status CheckMask(const InferContext& context, const Operands& o) {
  const DType dtype = context.dtype(kMask);
  if (dtype != DType::kBool && dtype != context.dtype(0)) {
    return absl::UnimplementedError(absl::StrCat(
        "input 3 (attn_mask) of dtype ", DTypeName(dtype),
        ", which is neither bool nor Q's ", DTypeName(context.dtype(0))));
  }
  TENSORD_RETURN_IF_ERROR(context.CheckRank(kMask, 1, 4));
  const SymbolicShape& mask = context.shape(kMask);
  const Dim keys = mask.back();
  if (keys.is_known() && o.total.is_known() && keys != o.total) {
    if (keys.extent() > o.total.extent()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the mask has ", keys.extent(), " keys of ", o.total.extent()));
    }
    // By operator set 23 it is for all keys, from 24 on for the first.
    if (keys.extent() == 1) {
      return absl::UnimplementedError(
          absl::StrCat("a mask with 1 key for ", o.total.extent(), " keys"));
    }
  }
  const Dim wanted[] = {o.q.sequence, o.q.heads, o.q.batch};
  constexpr absl::string_view kNames[] = {"queries", "heads", "batch"};
  for (size_t from_end = 2; from_end <= mask.size(); ++from_end) {
    const Dim own = mask[mask.size() - from_end];
    if (own == Dim::Known(1)) continue;
    TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
        absl::StrCat(kNames[from_end - 2], " of Q and of the mask:"),
        wanted[from_end - 2], own));
  }
  return absl::OkStatus();
}

absl::Status CheckNonpadLengths(const InferContext& context,
                                const Operands& o) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(kNonpadLengths, kInt64Only));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(kNonpadLengths, 1, 1));
  TENSORD_RETURN_IF_ERROR(
      context.CheckSameDim("batch of Q vs of nonpad_kv_seqlen:", o.q.batch,
                           context.shape(kNonpadLengths)[0]));
  if (!context.has_input(kPastKey)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "nonpad_kv_seqlen and past_key exclude each other");
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  const bool is_packed = context.params<AttentionParams>().packs_qkv;
  if (!is_packed) {
    TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, 1));
    TENSORD_RETURN_IF_ERROR(context.CheckDType(2, kFloatDTypes));
  }
  if (!is_packed && context.dtype(2) != context.dtype(0)) {
    return absl::UnimplementedError(absl::StrCat(
        "values of dtype ", DTypeName(context.dtype(2)),
        ", which is not that of Q, ", DTypeName(context.dtype(0))));
  }
  TENSORD_ASSIGN_OR_RETURN(const Operands o, FindOperands(context));
  if (context.has_input(kMask)) {
    TENSORD_RETURN_IF_ERROR(CheckMask(context, o));
  }
  if (context.has_input(kNonpadLengths)) {
    TENSORD_RETURN_IF_ERROR(CheckNonpadLengths(context, o));
  }
  const DType dtype = context.dtype(0);
  if (context.rank(0) == 4) {
    context.SetOutput(0, dtype, {o.q.batch, o.q.heads, o.q.sequence, o.v.size});
  } else {
    context.SetOutput(0, dtype,
                      {o.q.batch, o.q.sequence,
                       context.symbols().Multiply(o.q.heads, o.v.size)});
  }
  const SymbolicShape further[] = {
      {o.k.batch, o.k.heads, o.total, o.k.size},
      {o.v.batch, o.v.heads, o.total, o.v.size},
      {o.q.batch, o.q.heads, o.q.sequence, o.total}};
  for (int i = 1; i < context.output_count(); ++i) {
    context.SetOutput(i, dtype, further[i - 1]);
  }
  return absl::OkStatus();
}

}  // namespace

OpDef AttentionDef() {
  return {.op = OpKind::kAttention,
          .min_inputs = 3,
          .max_inputs = 7,
          .max_outputs = 4,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
