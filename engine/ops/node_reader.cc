#include "engine/ops/node_reader.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tensord {

absl::StatusOr<int64_t> NodeReader::Int(absl::string_view name,
                                        int64_t absent) {
  seen_.emplace_back(name);
  return attributes_.Int(name, absent);
}

absl::StatusOr<bool> NodeReader::Bool(absl::string_view name, bool absent) {
  absl::StatusOr<int64_t> value = Int(name, absent ? 1 : 0);
  if (!value.ok()) return value.status();
  if (*value != 0 && *value != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute '", name, "' is ", *value, ", not 0 or 1"));
  }
  return *value == 1;
}

absl::StatusOr<float> NodeReader::Float(absl::string_view name, float absent) {
  seen_.emplace_back(name);
  return attributes_.Float(name, absent);
}

absl::StatusOr<std::string> NodeReader::String(absl::string_view name,
                                               absl::string_view absent) {
  seen_.emplace_back(name);
  return attributes_.String(name, absent);
}

absl::StatusOr<std::vector<int64_t>> NodeReader::Ints(absl::string_view name) {
  seen_.emplace_back(name);
  return attributes_.Ints(name);
}

absl::StatusOr<std::vector<float>> NodeReader::Floats(absl::string_view name) {
  seen_.emplace_back(name);
  return attributes_.Floats(name);
}

absl::StatusOr<std::vector<std::string>> NodeReader::Strings(
    absl::string_view name) {
  seen_.emplace_back(name);
  return attributes_.Strings(name);
}

absl::StatusOr<HostTensor> NodeReader::Tensor(absl::string_view name) {
  seen_.emplace_back(name);
  return attributes_.Tensor(name);
}

absl::Status NodeReader::SetConstantInput(int index, HostTensor tensor) {
  if (index < input_count_) {
    return absl::InvalidArgumentError(
        absl::StrCat("input ", index, " is given beside the attribute that ",
                     "stands for it in operator set ", opset_));
  }
  constant_inputs_.emplace_back(index, std::move(tensor));
  return absl::OkStatus();
}

std::vector<std::string> NodeReader::UnreadAttributes() const {
  std::vector<std::string> unread;
  for (absl::string_view name : attributes_.Names()) {
    if (std::find(seen_.begin(), seen_.end(), name) == seen_.end()) {
      unread.emplace_back(name);
    }
  }
  return unread;
}

}  // namespace tensord
