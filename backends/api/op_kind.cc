#include "backends/api/op_kind.h"

#include <algorithm>
#include <array>

namespace tensord {
namespace {

constexpr std::array<absl::string_view, kOpKindCount> kNames = {
#define TENSORD_NAME(name) #name,
    TENSORD_ONNX_OP_KINDS(TENSORD_NAME) TENSORD_OWN_OP_KINDS(TENSORD_NAME)
#undef TENSORD_NAME
};

}  // namespace

absl::string_view OpKindName(OpKind op) {
  return kNames[static_cast<size_t>(op)];
}

std::optional<OpKind> OpKindFromName(absl::string_view name) {
  // The standard's part of the list is in ASCII order.
  const auto end = kNames.begin() + kOnnxOpKindCount;
  const auto it = std::lower_bound(kNames.begin(), end, name);
  if (it == end || *it != name) return std::nullopt;
  return static_cast<OpKind>(it - kNames.begin());
}

absl::string_view OpKindDomain(OpKind op) {
  switch (op) {
    case OpKind::kAdagrad:
    case OpKind::kAdam:
    case OpKind::kMomentum:
      return kTrainingDomain;
    default:
      return {};
  }
}

}  // namespace tensord
