#ifndef TENSORD_BACKENDS_API_WINDOW_H_
#define TENSORD_BACKENDS_API_WINDOW_H_

#include <cstdint>

#include "backends/api/op_params.h"

namespace tensord {

// How a convolution's kernel or a pool's window moves along one spatial
// dimension: output o sees the inputs o * stride - pad_begin + t * dilation for
// t in [0, kernel), those outside [0, extent) being padding. Every backend and
// the engine's inference resolve parameters here, so that "SAME" means one
// thing.
//
// Threading and ownership: a plain value; every function is pure.
struct WindowAxis {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_begin = 0;
  int64_t pad_end = 0;

  // Inputs from the first to the last one that a window sees, both included.
  int64_t span() const { return (kernel - 1) * dilation + 1; }

  // Outputs along an input of this extent; below 1 when not even one window
  // fits. With `ceil_mode` a last window that hangs over the end counts, if it
  // starts inside the input or the begin padding.
  int64_t OutputExtent(int64_t input_extent, bool ceil_mode) const;
};

// The window of ConvParams or PoolParams along spatial dimension `axis` of
// `spatial_rank`: defaults filled in, automatic padding worked out for this
// input extent.
WindowAxis ResolveWindowAxis(const ConvParams& params, int axis,
                             int spatial_rank, int64_t kernel,
                             int64_t input_extent);
WindowAxis ResolveWindowAxis(const PoolParams& params, int axis,
                             int spatial_rank, int64_t input_extent);

// ConvTranspose, which spreads its input instead of gathering it: input i adds
// to the outputs i * stride - pad_begin + t * dilation, those outside [0,
// output) left out. Of the pads that follow from SAME or from an output_shape
// the odd element goes to the end with SAME_UPPER and to the beginning else;
// where the output is larger than what the kernels cover, all that is left is
// at the end. Inference has checked that what they cover is at most
// kMaxElementCount.
struct TransposedWindowAxis {
  WindowAxis window;
  int64_t output = 1;
};
TransposedWindowAxis ResolveTransposedWindowAxis(const ConvParams& params,
                                                 int axis, int spatial_rank,
                                                 int64_t kernel,
                                                 int64_t input_extent);

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_WINDOW_H_
