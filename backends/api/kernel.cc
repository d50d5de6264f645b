#include "backends/api/kernel.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

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

bool IsChannelsLast(const OpParams& params) {
  if (const auto* conv = std::get_if<ConvParams>(&params)) {
    return conv->channels_last;
  }
  const auto* pool = std::get_if<PoolParams>(&params);
  return pool != nullptr && pool->channels_last;
}

bool HasSkip(const OpParams& params) {
  const auto* normalization = std::get_if<NormalizationParams>(&params);
  return normalization != nullptr && normalization->has_skip;
}

bool PacksQkv(const OpParams& params) {
  const auto* attention = std::get_if<AttentionParams>(&params);
  return attention != nullptr && attention->packs_qkv;
}

}  // namespace

bool DTypeSignature::Matches(absl::Span<const DType> input_dtypes,
                             absl::Span<const DType> output_dtypes) const {
  return any || (MatchesList(absl::MakeConstSpan(inputs.data(), input_count),
                             input_dtypes) &&
                 MatchesList(absl::MakeConstSpan(outputs.data(), output_count),
                             output_dtypes));
}

absl::Status KernelAccepts(const KernelEntry& entry, const NodeSite& site) {
  if (site.params.epilogue != nullptr && !entry.caps.takes_epilogue) {
    return absl::UnimplementedError(
        absl::StrCat("it does not compute the ",
                     site.params.epilogue->expression.steps.size(),
                     " element-wise steps that are fused to the node"));
  }
  if (IsChannelsLast(site.params) && !entry.caps.takes_channels_last) {
    return absl::UnimplementedError(
        "it takes images with their channels in the second dimension");
  }
  if (HasSkip(site.params) && !entry.caps.takes_skip) {
    return absl::UnimplementedError("it adds nothing to its input");
  }
  if (PacksQkv(site.params) && !entry.caps.takes_packed_qkv) {
    return absl::UnimplementedError(
        "it takes queries, keys and values apart from each other");
  }
  return entry.accepts == nullptr ? absl::OkStatus() : entry.accepts(site);
}

}  // namespace tensord
