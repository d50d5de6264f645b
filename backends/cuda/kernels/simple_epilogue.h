#ifndef TENSORD_BACKENDS_CUDA_KERNELS_SIMPLE_EPILOGUE_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_SIMPLE_EPILOGUE_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/api/kernel.h"
#include "backends/api/op_params.h"

// Epilogues of the one form that libraries have names for:
//
//   y = activation(r + addends)
//
// with r the anchor's result. Most networks' epilogues are of this form; a
// library's kernel declines the others, and they stay with a kernel that
// evaluates any expression.
namespace tensord::cuda {

enum class Activation : uint8_t { kNone, kRelu, kClip, kGelu, kGeluByTanh };

// Threading and ownership: a plain value.
struct SimpleEpilogue {
  // What is added, by the number of the node's input.
  static constexpr int kMaxAddends = 2;
  std::array<int, kMaxAddends> addend_inputs = {};
  int addend_count = 0;

  Activation activation = Activation::kNone;
  // kClip's bounds; either may be infinite.
  float low = 0;
  float high = 0;

  absl::Span<const int> addends() const {
    return absl::MakeConstSpan(addend_inputs.data(), addend_count);
  }
};

// The node's epilogue, an empty one where it has none; kUnimplemented with the
// first operator that is not of the form.
absl::StatusOr<SimpleEpilogue> MatchSimpleEpilogue(const OpParams& params);

// How an addend meets the anchor's result y of shape [..., channels, ...], with
// `channel_dimension` the dimension of the channels.
enum class AddendForm : uint8_t {
  kPerChannel,  // an element for each channel, and no other dimension
  kWhole,       // an element for each of y
  kOther,
};
AddendForm FormOfAddend(const Shape& addend, const Shape& y,
                        int channel_dimension);

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_SIMPLE_EPILOGUE_H_
