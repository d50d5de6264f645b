#ifndef TENSORD_ENGINE_PASSES_CHANNEL_AFFINE_H_
#define TENSORD_ENGINE_PASSES_CHANNEL_AFFINE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/passes/graph_editor.h"

namespace tensord {

// y = scale[c] * x + shift[c] for each channel c, which is dimension 1.
// Threading and ownership: a plain value.
struct ChannelAffine {
  std::vector<double> scale;
  std::vector<double> shift;
};

// What a node does with `x`, one of its inputs, if it is such a function of it
// by constants: a BatchNormalization, or an Add, Sub, Mul or Div with a
// constant that has one number, or one for each channel.
std::optional<ChannelAffine> ChannelAffineOf(const GraphEditor& graph,
                                             const Node& node, ValueId x);

bool IsFloat(DType dtype);

// The elements of a floating tensor that is known; nothing for others.
std::optional<std::vector<double>> KnownFloats(const GraphEditor& graph,
                                               ValueId value);

// A tensor of a floating dtype; each number is rounded to it.
HostTensor FloatTensor(DType dtype, Shape shape,
                       const std::vector<double>& numbers);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_CHANNEL_AFFINE_H_
