#ifndef TENSORD_ENGINE_OPS_WINDOW_RULES_H_
#define TENSORD_ENGINE_OPS_WINDOW_RULES_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/api/op_params.h"
#include "backends/api/window.h"
#include "engine/graph/dim.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"

namespace tensord {

// What the convolutions and the pools share: attributes that say how a window
// moves.

// Each number is at most this, so that spans and padded extents stay far from
// 64 bits.
inline constexpr int64_t kMaxWindowNumber = int64_t{1} << 31;

// The attribute's numbers, each in [low, kMaxWindowNumber]; empty if it is not
// there.
absl::StatusOr<Dims> ReadWindowNumbers(NodeReader& node, absl::string_view name,
                                       int64_t low);

// Reads kernel_shape, strides, pads and auto_pad; `dilations` too if the
// operator's version has it. kInvalidArgument for numbers out of range and for
// lists whose lengths do not agree.
struct WindowAttributes {
  Dims kernel_shape;
  Dims strides;
  Dims dilations;
  Dims pads;
  AutoPad auto_pad = AutoPad::kNotSet;
};
absl::StatusOr<WindowAttributes> ReadWindowAttributes(NodeReader& node,
                                                      bool has_dilations);

// The list is empty or has `expected` elements.
absl::Status CheckWindowList(absl::string_view name, const Dims& values,
                             size_t expected, int spatial_rank);

// Each list is empty or fits a window over this many dimensions.
absl::Status CheckWindowRank(const Dims& kernel_shape, const Dims& strides,
                             const Dims& dilations, const Dims& pads,
                             int spatial_rank);

// The output's extent along one dimension. `window` was resolved for
// `input_extent`, or for any extent if that is a symbol. kInvalidArgument when
// no window fits.
absl::StatusOr<Dim> InferWindowDim(InferContext& context, int axis,
                                   const WindowAxis& window, AutoPad auto_pad,
                                   bool ceil_mode, Dim input_extent);

}  // namespace tensord

#endif  // TENSORD_ENGINE_OPS_WINDOW_RULES_H_
