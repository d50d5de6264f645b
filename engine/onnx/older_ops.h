#ifndef TENSORD_ENGINE_ONNX_OLDER_OPS_H_
#define TENSORD_ENGINE_ONNX_OLDER_OPS_H_

#include <optional>

#include "backends/api/op_kind.h"

namespace tensord {

// What to do with a node so that operator set 7 reads it as it was meant.
enum class OlderChange {
  kNone,        // the same from its first version to 7
  kBroadcast,   // the second operand was aligned by `broadcast` and `axis`
  kGemm,        // `broadcast` says what broadcasting now finds by itself
  kInference,   // `is_test` said that this is no training
  kChannels,    // PRelu: a slope for each channel, of rank 1
  kSelu,        // its defaults had fewer digits before version 6
  kConcat,      // `axis` was 1 unless given, before version 4
  kCastByName,  // the dtype was a name, before version 6
  kReshape,     // the shape was an attribute, before version 5
  kPad,         // `pads` was named `paddings`, in version 1
  kSplit,       // the lengths could be an input, in version 1
  kTile,        // repeated along one axis, before version 6
};

// Nothing for an operator whose meaning before operator set 7 is not supported.
// Threading and ownership: pure.
std::optional<OlderChange> FindOlderChange(OpKind op);

}  // namespace tensord

#endif  // TENSORD_ENGINE_ONNX_OLDER_OPS_H_
