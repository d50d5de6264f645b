#ifndef TENSORD_BACKENDS_CUDA_LIBRARIES_CHAIN_TEXT_H_
#define TENSORD_BACKENDS_CUDA_LIBRARIES_CHAIN_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "backends/api/expression.h"
#include "backends/api/kernel.h"
#include "backends/cuda/libraries/nvrtc.h"

namespace tensord::cuda {

// An element-wise chain as the text of one kernel:
//
//   extern "C" __global__ void chain(const T* x0, ..., T* y)
//
// with the shapes, and so the number of elements, written into it. A thread
// takes 16 bytes of y at a time where the count and the offsets allow it, and
// inputs that broadcast are read once for as many as have the same. Each step
// computes in float32, or float64, what expression_steps.h says, whose text
// goes along; 16-bit floats are rounded at the end of the chain.
struct ChainText {
  DeviceText text;
  int64_t threads = 0;  // of which each does one part of the work at least
};

// kUnimplemented for a dtype, an operator or a number of inputs that has no
// text. Judges by what of the site is known.
absl::Status CheckChainText(const NodeSite& site);

// Of a site that CheckChainText() takes, with known shapes and a result that is
// not empty.
ChainText MakeChainText(const NodeSite& site);

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_LIBRARIES_CHAIN_TEXT_H_
