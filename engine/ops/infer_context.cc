#include "engine/ops/infer_context.h"

#include <algorithm>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tensord {
namespace {

constexpr absl::string_view kNeedsValueUrl = "tensord.engine/NeedsValue";

}  // namespace

absl::Status InferContext::CheckSameDType(int i, int j) const {
  if (dtype(i) == dtype(j)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("inputs ", i, " and ", j, " have dtypes ",
                   DTypeName(dtype(i)), " vs ", DTypeName(dtype(j))));
}

absl::Status InferContext::CheckDType(int i,
                                      absl::Span<const DType> allowed) const {
  if (std::find(allowed.begin(), allowed.end(), dtype(i)) != allowed.end()) {
    return absl::OkStatus();
  }
  const auto append_name = [](std::string* out, DType dtype) {
    absl::StrAppend(out, DTypeName(dtype));
  };
  return absl::InvalidArgumentError(
      absl::StrCat("input ", i, " has dtype ", DTypeName(dtype(i)), ", not ",
                   absl::StrJoin(allowed, ", ", append_name)));
}

absl::Status InferContext::CheckRank(int i, int low, int high) const {
  if (rank(i) >= low && rank(i) <= high) return absl::OkStatus();
  std::string expected = absl::StrCat(low);
  if (high >= kMaxRank) {
    absl::StrAppend(&expected, " or more");
  } else if (high != low) {
    absl::StrAppend(&expected, " to ", high);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("input ", i, " has rank ", rank(i), ", not ", expected));
}

absl::Status InferContext::CheckOneElement(int i) const {
  if (rank(i) == 0) return absl::OkStatus();
  if (rank(i) == 1 &&
      (!shape(i)[0].is_known() || shape(i)[0] == Dim::Known(1))) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("input ", i, " has shape ",
                                                 symbols_.ToString(shape(i)),
                                                 ", not one element"));
}

absl::Status InferContext::CheckSameDim(absl::string_view what, Dim a,
                                        Dim b) const {
  if (!a.is_known() || !b.is_known() || a == b) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " ", a.extent(), " vs ", b.extent()));
}

absl::StatusOr<int> InferContext::NormalizeAxis(int64_t axis, int rank) const {
  if (axis >= -rank && axis < rank) {
    return static_cast<int>(axis < 0 ? axis + rank : axis);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "axis ", axis, " is outside [", -rank, ", ", rank, ") of rank ", rank));
}

absl::Status InferContext::NeedsValue(int i) const {
  absl::Status status = absl::UnimplementedError(
      absl::StrCat("its output's shape follows from the value of input ", i,
                   ", which is not known before the run"));
  status.SetPayload(kNeedsValueUrl, absl::Cord(absl::StrCat(i)));
  return status;
}

std::optional<int> NeededValue(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kNeedsValueUrl);
  int input = 0;
  if (!payload.has_value() ||
      !absl::SimpleAtoi(std::string(*payload), &input)) {
    return std::nullopt;
  }
  return input;
}

}  // namespace tensord
