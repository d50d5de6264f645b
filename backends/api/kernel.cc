#include "backends/api/kernel.h"

#include <algorithm>

namespace tensord {
namespace {

bool MatchesList(absl::Span<const DType> listed,
                 absl::Span<const DType> dtypes) {
  if (dtypes.size() > listed.size() && listed.empty()) return false;
  for (size_t i = 0; i < dtypes.size(); ++i) {
    if (dtypes[i] == DType::kUndefined) continue;
    const DType own = listed[std::min(i, listed.size() - 1)];
    if (own != DType::kUndefined && dtypes[i] != own) return false;
  }
  return true;
}

}  // namespace

bool DTypeSignature::Matches(absl::Span<const DType> input_dtypes,
                             absl::Span<const DType> output_dtypes) const {
  return any || (MatchesList(absl::MakeConstSpan(inputs.data(), input_count),
                             input_dtypes) &&
                 MatchesList(absl::MakeConstSpan(outputs.data(), output_count),
                             output_dtypes));
}

}  // namespace tensord
