#include "engine/batch/node_rows.h"

#include "absl/strings/str_cat.h"

namespace tensord {
namespace {

std::optional<Dims> IntsOf(const HostTensor* tensor) {
  if (tensor == nullptr) return std::nullopt;
  Dims ints;
  if (tensor->dtype() == DType::kInt64) {
    for (int64_t it : tensor->values<int64_t>()) ints.push_back(it);
    return ints;
  }
  if (tensor->dtype() != DType::kInt32) return std::nullopt;
  for (int32_t it : tensor->values<int32_t>()) ints.push_back(it);
  return ints;
}

}  // namespace

absl::Status NotProven(absl::string_view why) {
  return absl::FailedPreconditionError(why);
}

std::optional<NodeRows::Ints> NodeRows::KnownInts(int i) const {
  if (!has_input(i)) return std::nullopt;
  std::optional<Dims> first = IntsOf(inputs_[i].constants[0]);
  std::optional<Dims> second = IntsOf(inputs_[i].constants[1]);
  if (!first.has_value() || !second.has_value()) return std::nullopt;
  return Ints{*std::move(first), *std::move(second)};
}

std::optional<float> NodeRows::FirstFloat(int i) const {
  const HostTensor* tensor = has_input(i) ? inputs_[i].constants[0] : nullptr;
  if (tensor == nullptr || tensor->dtype() != DType::kFloat32 ||
      tensor->shape().element_count() == 0) {
    return std::nullopt;
  }
  return tensor->values<float>()[0];
}

absl::Status NodeRows::ExpectStacked(int i, int min_rank) const {
  if (!is_stacked(i)) {
    return NotProven(absl::StrCat("input ", i, " is not one row a request"));
  }
  if (rank(i) >= min_rank) return absl::OkStatus();
  return NotProven(absl::StrCat("input ", i, " has rank ", rank(i),
                                ", so that the batch is no dimension of its "
                                "own"));
}

absl::Status NodeRows::ExpectFixed(int i) const {
  if (!has_input(i) || is_fixed(i)) return absl::OkStatus();
  return NotProven(absl::StrCat("input ", i, " is not the same for every row"));
}

absl::Status NodeRows::ExpectFixedFrom(int first) const {
  for (int i = first; i < input_count(); ++i) {
    if (absl::Status s = ExpectFixed(i); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status NodeRows::ExpectBehindBatch(int64_t axis, int i) const {
  if (Axis(axis, i) >= 1) return absl::OkStatus();
  return NotProven("it works along dimension 0, which is the batch");
}

absl::Status NodeRows::ExpectSameRows(int i, int j) const {
  for (int input : {i, j}) {
    if (absl::Status s = ExpectStacked(input); !s.ok()) return s;
  }
  for (int size = 0; size < 2; ++size) {
    const int64_t a = (*inputs_[i].shapes[size])[0];
    const int64_t b = (*inputs_[j].shapes[size])[0];
    if (a == b) continue;
    return NotProven(absl::StrCat("inputs ", i, " and ", j, " have ", a,
                                  " and ", b, " rows for one batch"));
  }
  return absl::OkStatus();
}

absl::Status NodeRows::ExpectOutputRows(int i) const {
  if (absl::Status s = ExpectStacked(i); !s.ok()) return s;
  for (int size = 0; size < 2; ++size) {
    const Shape& output = *outputs_[0].shapes[size];
    const int64_t rows = (*inputs_[i].shapes[size])[0];
    if (output.rank() >= 1 && output[0] == rows) continue;
    return NotProven(absl::StrCat("the ", rows, " rows of input ", i,
                                  " are not dimension 0 of its output"));
  }
  return absl::OkStatus();
}

absl::Status NodeRows::ExpectRepeats(int i) const {
  if (absl::Status s = ExpectFixed(i); !s.ok() || !has_input(i)) return s;
  if (rank(i) < output_rank() || (*inputs_[i].shapes[0])[0] == 1) {
    return absl::OkStatus();
  }
  return NotProven(
      absl::StrCat("input ", i, " is not the same for every row: it has ",
                   (*inputs_[i].shapes[0])[0], " rows of its own"));
}

absl::Status NodeRows::CheckOutput(
    int i, const std::array<int64_t, 2>& batches) const {
  const Shape& a = *outputs_[i].shapes[0];
  const Shape& b = *outputs_[i].shapes[1];
  bool is_alike = a.rank() >= 1 && a.rank() == b.rank() && a[0] >= 1 &&
                  a[0] % batches[0] == 0 &&
                  a[0] / batches[0] * batches[1] == b[0];
  for (int d = 1; is_alike && d < a.rank(); ++d) is_alike = a[d] == b[d];
  if (is_alike) return absl::OkStatus();
  return NotProven(
      absl::StrCat("output ", i, " is ", a.ToString(), " for a batch of ",
                   batches[0], " and ", b.ToString(), " for ", batches[1],
                   ", which are not as many rows for each request"));
}

}  // namespace tensord
