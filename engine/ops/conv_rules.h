#ifndef TENSORD_ENGINE_OPS_CONV_RULES_H_
#define TENSORD_ENGINE_OPS_CONV_RULES_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/api/op_params.h"
#include "engine/graph/dim.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"

namespace tensord {

// What the convolutions share, of floats and of integers, transposed or not:
// x [N, C, D...] under a window, channels in groups.

// All attributes but those that only ConvTranspose has.
absl::StatusOr<ConvParams> ReadConvParams(NodeReader& node);

// Where an operator has the inputs of a convolution; `bias` may be absent in
// the node.
struct ConvInputs {
  int x = 0;
  int w = 1;
  int bias = 2;
};

// x is of rank 3 or more, w of the same, the bias is a vector of the output's
// channels, and all attributes fit the rank.
absl::Status CheckConvRanks(InferContext& context, const ConvParams& params,
                            const ConvInputs& inputs, Dim output_channels);

// The kernel's extent along a spatial dimension: w's, which must agree with
// kernel_shape if that is there, and be in [1, kMaxWindowNumber] if it is
// known.
absl::StatusOr<Dim> ConvKernelDim(InferContext& context,
                                  const ConvParams& params,
                                  const ConvInputs& inputs, int axis);

// The output [N, M, O...] for w [M, C / group, K...]. Dtypes are the caller's
// to check.
absl::StatusOr<SymbolicShape> InferConvShape(InferContext& context,
                                             const ConvParams& params,
                                             const ConvInputs& inputs);

}  // namespace tensord

#endif  // TENSORD_ENGINE_OPS_CONV_RULES_H_
