#ifndef TENSORD_ENGINE_ONNX_BATCH_NORMALIZATION_H_
#define TENSORD_ENGINE_ONNX_BATCH_NORMALIZATION_H_

#include <vector>

#include "absl/status/status.h"
#include "engine/graph/graph_def.h"
#include "engine/onnx/fresh_names.h"

namespace tensord {

// A BatchNormalization that takes its statistics from the batch (training_mode
// 1, which there is from operator set 14 on).
bool TrainsBatchNormalization(const NodeDef& node, int64_t opset);

// Appends to `nodes` what such a node means, as means, squares and sums in
// float64: the operator itself is for inference, so that whatever folds or
// fuses one need not ask.
//
//   y = (x - mean) / sqrt(var + epsilon) * scale + bias
//   running mean = old mean * momentum + mean * (1 - momentum); var likewise
//
// with mean and var over all dimensions but the channels, the second.
//
// Threading and ownership: pure.
// Errors: kInvalidArgument for operands and attributes that the operator does
//   not have.
absl::Status AppendBatchNormalizationTraining(NodeDef node, FreshNames& fresh,
                                              std::vector<NodeDef>& nodes);

}  // namespace tensord

#endif  // TENSORD_ENGINE_ONNX_BATCH_NORMALIZATION_H_
