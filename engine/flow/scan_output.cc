#include "engine/flow/scan_output.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"

namespace tensord {
namespace {

// The joined tensor of no iteration.
absl::StatusOr<FlowValue> Empty(const TensorType& type, int64_t axis,
                                FlowRun& run) {
  Dims extents;
  if (type.shape.has_value()) {
    for (Dim dim : *type.shape) {
      extents.push_back(dim.is_known() ? dim.extent() : 0);
    }
  }
  const int64_t rank = static_cast<int64_t>(extents.size()) + 1;
  const int64_t at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank) {
    return absl::InvalidArgumentError(
        absl::StrCat("axis ", axis, " is outside [", -rank, ", ", rank, ")"));
  }
  extents.insert(extents.begin() + at, 0);
  TENSORD_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(extents));
  const DType dtype =
      type.dtype == DType::kUndefined ? DType::kFloat32 : type.dtype;
  TENSORD_ASSIGN_OR_RETURN(HostValue empty, run.Allocate(dtype, shape));
  return FlowValue{.tensor = run.Keep(std::move(empty))};
}

}  // namespace

absl::Status ScanOutputs::Add(absl::Span<const FlowValue> values) {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (!values[i].is_tensor()) {
      return absl::InvalidArgumentError(
          absl::StrCat("scan output ", i, " of its body is no tensor"));
    }
    tensors_[i].push_back(values[i].tensor);
  }
  return absl::OkStatus();
}

absl::Status ScanOutputs::AppendTo(std::vector<FlowValue>& results,
                                   absl::Span<const ScanPlace> places,
                                   absl::Span<const TensorType> types,
                                   FlowRun& run) {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const ScanPlace& place = places[i];
    if (place.is_reversed) std::reverse(tensors_[i].begin(), tensors_[i].end());
    absl::StatusOr<FlowValue> joined =
        tensors_[i].empty() ? Empty(types[i], place.axis, run)
                            : JoinTensors(tensors_[i], place.axis,
                                          /*is_new_axis=*/true, run);
    if (!joined.ok()) return joined.status();
    results.push_back(*std::move(joined));
  }
  return absl::OkStatus();
}

}  // namespace tensord
