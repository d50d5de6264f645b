// RotaryEmbedding: turns pairs of each head's elements by the angle of their
// token's position, whose cosines and sines are inputs 1 and 2: by position
// ([positions, pairs], with input 3) or by token ([batch, sequence, pairs]).

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

constexpr DType kRotaryDTypes[] = {DType::kFloat32, DType::kFloat16,
                                   DType::kBFloat16};

absl::StatusOr<OpParams> Read(NodeReader& node) {
  RotaryEmbeddingParams params;
  TENSORD_ASSIGN_OR_RETURN(params.is_interleaved,
                           node.Bool("interleaved", false));
  TENSORD_ASSIGN_OR_RETURN(params.head_count, node.Int("num_heads", 0));
  if (params.head_count < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "attribute 'num_heads' is ", params.head_count, ", below 0"));
  }
  TENSORD_ASSIGN_OR_RETURN(params.rotary_dimensions,
                           node.Int("rotary_embedding_dim", 0));
  if (params.rotary_dimensions < 0 || params.rotary_dimensions % 2 != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute 'rotary_embedding_dim' is ",
                     params.rotary_dimensions, ", not an even number"));
  }
  return params;
}

struct Dimensions {
  Dim batch, sequence, head;
};

// Of x [batch, heads, sequence, head] or [batch, sequence, heads * head].
absl::StatusOr<Dimensions> FindDimensions(InferContext& context) {
  const auto& params = context.params<RotaryEmbeddingParams>();
  const SymbolicShape& x = context.shape(0);
  if (x.size() == 4) {
    if (params.head_count != 0) {
      TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
          "attribute 'num_heads' vs heads of x:", Dim::Known(params.head_count),
          x[1]));
    }
    return Dimensions{x[0], x[2], x[3]};
  }
  if (params.head_count == 0) {
    return absl::InvalidArgumentError(
        "attribute 'num_heads' is missing, which x of rank 3 needs");
  }
  if (x[2].is_known() && x[2].extent() % params.head_count != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(x[2].extent(), " elements do not make ", params.head_count,
                     " equal heads"));
  }
  return Dimensions{
      x[0], x[1],
      context.symbols().FloorDivide(x[2], Dim::Known(params.head_count))};
}

// How many pairs are turned.
absl::StatusOr<Dim> FindPairs(InferContext& context, Dim head) {
  const int64_t turned =
      context.params<RotaryEmbeddingParams>().rotary_dimensions;
  if (head.is_known() && turned > head.extent()) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute 'rotary_embedding_dim' is ", turned,
                     ", above the head's ", head.extent(), " elements"));
  }
  if (turned != 0) return Dim::Known(turned / 2);
  if (head.is_known() && head.extent() % 2 != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the head's ", head.extent(), " elements do not make pairs"));
  }
  return context.symbols().FloorDivide(head, Dim::Known(2));
}

absl::Status CheckTables(const InferContext& context, const Dimensions& x,
                         Dim pairs) {
  const bool has_positions = context.has_input(3);
  for (int i = 1; i <= 2; ++i) {
    const std::string what = i == 1 ? "of the cosines" : "of the sines";
    TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, i));
    TENSORD_RETURN_IF_ERROR(
        context.CheckRank(i, has_positions ? 2 : 3, has_positions ? 2 : 3));
    const SymbolicShape& table = context.shape(i);
    TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
        absl::StrCat("pairs of x vs ", what, ":"), pairs, table.back()));
    if (has_positions) continue;
    TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
        absl::StrCat("batch of x vs ", what, ":"), x.batch, table[0]));
    TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
        absl::StrCat("sequence of x vs ", what, ":"), x.sequence, table[1]));
  }
  if (!has_positions) return absl::OkStatus();
  TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
      "positions of the cosines vs of the sines:", context.shape(1)[0],
      context.shape(2)[0]));
  TENSORD_RETURN_IF_ERROR(context.CheckDType(3, kInt64Only));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(3, 2, 2));
  TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
      "batch of x vs of the positions:", x.batch, context.shape(3)[0]));
  return context.CheckSameDim("sequence of x vs of the positions:", x.sequence,
                              context.shape(3)[1]);
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kRotaryDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 3, 4));
  TENSORD_ASSIGN_OR_RETURN(const Dimensions x, FindDimensions(context));
  TENSORD_ASSIGN_OR_RETURN(const Dim pairs, FindPairs(context, x.head));
  TENSORD_RETURN_IF_ERROR(CheckTables(context, x, pairs));
  context.SetOutput(0, context.dtype(0), context.shape(0));
  return absl::OkStatus();
}

}  // namespace

OpDef RotaryEmbeddingDef() {
  return {.op = OpKind::kRotaryEmbedding,
          .min_inputs = 3,
          .max_inputs = 4,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
