#ifndef TENSORD_BACKENDS_CUDA_LIBRARIES_CONV_PROBLEM_H_
#define TENSORD_BACKENDS_CUDA_LIBRARIES_CONV_PROBLEM_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "backends/api/kernel.h"
#include "backends/cuda/kernels/simple_epilogue.h"

namespace tensord::cuda {

// Convolutions as cuDNN computes them:
//
//   y = activation(conv(x, w) + addend + bias)
//
// x [N, C, D...], y and addend [N, K, D...], with their channels in the second
// dimension or in the last, w [K, C / groups, T...] likewise, bias [K]; all
// dense. There are two or three spatial dimensions; one is two, the first of
// extent 1.
//
// Threading and ownership: a plain value.
struct ConvProblem {
  static constexpr int kMaxSpatialRank = 3;
  using Extents = std::array<int64_t, kMaxSpatialRank>;

  DType dtype = DType::kFloat32;  // of everything; sums are float32
  bool allows_tf32 = false;
  bool is_channels_last = false;
  int64_t images = 0, input_channels = 0, output_channels = 0, groups = 1;
  int spatial_rank = 2;
  Extents inputs = {}, outputs = {}, taps = {};
  Extents strides = {}, dilations = {}, pads_begin = {}, pads_end = {};
  bool has_bias = false;
  bool has_addend = false;
  Activation activation = Activation::kNone;  // kRelu; kClip from 0 up to high
  float high = 0;
  int alignment = 16;  // bytes, of every operand's first element

  int64_t InputCount() const;   // elements of x
  int64_t OutputCount() const;  // of y
  int64_t WeightCount() const;
  // One tap, one input an output: a product of [N * D, C] and [C, K].
  bool IsProduct() const;

  std::string Key() const;
};

// A Conv in these terms, and which of the node's inputs its operands are.
// Threading and ownership: a plain value.
struct ConvSite {
  ConvProblem problem;
  int bias_input = -1;  // -1: there is none
  int addend_input = -1;
};

// kUnimplemented or kFailedPrecondition with what ConvProblem has no term for.
// With unknown shapes, what is judged is the rest alone, and the problem has no
// extents.
absl::StatusOr<ConvSite> ResolveConv(const NodeSite& site);

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_LIBRARIES_CONV_PROBLEM_H_
