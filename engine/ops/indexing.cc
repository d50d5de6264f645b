#include "engine/ops/indexing.h"

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"

namespace tensord {

absl::Status CheckIndicesFit(const InferContext& context, int axis) {
  for (int d = 0; d < context.rank(0); ++d) {
    const Dim whole = context.shape(0)[d];
    const Dim part = context.shape(1)[d];
    if (d != axis && whole.is_known() && part.is_known() &&
        part.extent() > whole.extent()) {
      return absl::InvalidArgumentError(
          absl::StrCat("dimension ", d, " of the indices has extent ",
                       part.extent(), ", past the data's ", whole.extent()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<SymbolicShape>> PickedShape(
    const InferContext& context, int64_t batch_dims) {
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 1, kMaxRank));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(1, 1, kMaxRank));
  const SymbolicShape& data = context.shape(0);
  const SymbolicShape& indices = context.shape(1);
  if (batch_dims < 0 || batch_dims >= context.rank(0) ||
      batch_dims >= context.rank(1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("batch_dims is ", batch_dims, ", outside [0, ",
                     std::min(context.rank(0), context.rank(1)), ")"));
  }
  for (int64_t d = 0; d < batch_dims; ++d) {
    TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
        absl::StrCat("batch extents in dimension ", d, ":"), data[d],
        indices[d]));
  }
  const Dim tuple = indices.back();
  if (!tuple.is_known()) return std::optional<SymbolicShape>();
  const int64_t left = context.rank(0) - batch_dims;
  if (tuple.extent() < 1 || tuple.extent() > left) {
    return absl::InvalidArgumentError(absl::StrCat(
        "tuples of ", tuple.extent(), " indices into ", left, " dimensions"));
  }
  SymbolicShape picked(indices.begin(), indices.end() - 1);
  picked.insert(picked.end(), data.begin() + batch_dims + tuple.extent(),
                data.end());
  if (picked.size() > kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("what the indices pick has rank ", picked.size(),
                     ", above the limit of ", kMaxRank));
  }
  return picked;
}

}  // namespace tensord
