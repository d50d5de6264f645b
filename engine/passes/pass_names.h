#ifndef TENSORD_ENGINE_PASSES_PASS_NAMES_H_
#define TENSORD_ENGINE_PASSES_PASS_NAMES_H_

#include <algorithm>
#include <iterator>

#include "absl/strings/string_view.h"

namespace tensord {

// The passes that a compile can be told to leave out, by the names that
// ExplainGraph shows.
inline constexpr absl::string_view kInlineBranches = "inline_branches";
inline constexpr absl::string_view kFoldConstants = "fold_constants";
inline constexpr absl::string_view kRemoveDeadNodes = "remove_dead_nodes";
inline constexpr absl::string_view kFuseQdq = "fuse_qdq";
inline constexpr absl::string_view kRemoveNoOps = "remove_no_ops";
inline constexpr absl::string_view kFuseLayerNorm = "fuse_layer_norm";
inline constexpr absl::string_view kFuseGelu = "fuse_gelu";
inline constexpr absl::string_view kFuseAttention = "fuse_attention";
inline constexpr absl::string_view kPackAttention = "pack_attention";
inline constexpr absl::string_view kFoldTransposes = "fold_transposes";
inline constexpr absl::string_view kFoldBatchNorm = "fold_batch_norm";
inline constexpr absl::string_view kFuseElementwise = "fuse_elementwise";
inline constexpr absl::string_view kFuseEpilogue = "fuse_epilogue";
inline constexpr absl::string_view kFuseSkipNorm = "fuse_skip_norm";
inline constexpr absl::string_view kChannelsLast = "channels_last";

// In the order in which they run.
// clang-format off
inline constexpr absl::string_view kOptionalPasses[] = {
    kInlineBranches,
    kFoldConstants,
    kRemoveDeadNodes,
    kFuseQdq,
    kRemoveNoOps,
    kFuseLayerNorm,
    kFuseGelu,
    kFuseAttention,
    kPackAttention,
    kFoldTransposes,
    kFoldBatchNorm,
    kFuseElementwise,
    kFuseEpilogue,
    kFuseSkipNorm,
    kChannelsLast,
};
// clang-format on

inline bool IsOptionalPass(absl::string_view name) {
  return std::find(std::begin(kOptionalPasses), std::end(kOptionalPasses),
                   name) != std::end(kOptionalPasses);
}

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_PASS_NAMES_H_
