// TensorScatter: a cache of keys or values [batch, ..., sequence, ...] with an
// update written over some of its sequence, from the place that input 2 says
// for each of the batch.

#include <string>

#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

constexpr int kCache = 0;
constexpr int kUpdate = 1;
constexpr int kPlaces = 2;

absl::StatusOr<OpParams> Read(NodeReader& node) {
  TensorScatterParams params;
  TENSORD_ASSIGN_OR_RETURN(params.axis, node.Int("axis", -2));
  TENSORD_ASSIGN_OR_RETURN(const std::string mode,
                           node.String("mode", "linear"));
  if (mode != "linear" && mode != "circular") {
    return absl::InvalidArgumentError(absl::StrCat(
        "attribute 'mode' is ", Quoted(mode), ", not linear or circular"));
  }
  params.is_circular = mode == "circular";
  return params;
}

absl::Status CheckUpdate(const InferContext& context, int axis) {
  const int rank = context.rank(kCache);
  const SymbolicShape& cache = context.shape(kCache);
  const SymbolicShape& update = context.shape(kUpdate);
  TENSORD_RETURN_IF_ERROR(context.CheckSameDType(kCache, kUpdate));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(kUpdate, rank, rank));
  for (int d = 0; d < rank; ++d) {
    if (d == axis) continue;
    TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
        absl::StrCat("dimension ", d, " of the update should be"), cache[d],
        update[d]));
  }
  if (cache[axis].is_known() && update[axis].is_known() &&
      update[axis].extent() > cache[axis].extent()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the update's sequence of ", update[axis].extent(),
                     " is longer than the cache's of ", cache[axis].extent()));
  }
  return absl::OkStatus();
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckRank(kCache, 2, kMaxRank));
  TENSORD_ASSIGN_OR_RETURN(
      const int axis,
      context.NormalizeAxis(context.params<TensorScatterParams>().axis,
                            context.rank(kCache)));
  if (axis == 0) {
    return absl::InvalidArgumentError(
        "attribute 'axis' is that of the batch, dimension 0");
  }
  TENSORD_RETURN_IF_ERROR(CheckUpdate(context, axis));
  if (context.has_input(kPlaces)) {
    TENSORD_RETURN_IF_ERROR(context.CheckDType(kPlaces, kInt64Only));
    TENSORD_RETURN_IF_ERROR(context.CheckRank(kPlaces, 1, 1));
    TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
        "batch of the cache vs of the write indices:", context.shape(kCache)[0],
        context.shape(kPlaces)[0]));
  }
  context.SetOutput(0, context.dtype(kCache), context.shape(kCache));
  return absl::OkStatus();
}

}  // namespace

OpDef TensorScatterDef() {
  return {.op = OpKind::kTensorScatter,
          .min_inputs = 2,
          .max_inputs = 3,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
