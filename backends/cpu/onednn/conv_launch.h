#ifndef TENSORD_BACKENDS_CPU_ONEDNN_CONV_LAUNCH_H_
#define TENSORD_BACKENDS_CPU_ONEDNN_CONV_LAUNCH_H_

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "backends/cpu/kernels/plane_transpose.h"
#include "backends/cpu/kernels/vector_bfloat16.h"
#include "backends/cpu/onednn/conv_state.h"
#include "backends/cpu/onednn/split.h"

// The parts of one launch of a ConvState; for conv_state.cc alone.
namespace tensord::onednn {

inline int64_t ElementBytes(dnnl_data_type_t dtype) {
  return static_cast<int64_t>(dnnl_data_type_size(dtype));
}

// As TransposePlane has it, of elements of 1 or 4 bytes.
inline void Turn(int64_t element_bytes, const std::byte* from,
                 int64_t from_stride, int64_t rows, int64_t columns,
                 std::byte* to, int64_t to_stride) {
  if (element_bytes == 1) {
    TransposeBytes(reinterpret_cast<const uint8_t*>(from), from_stride, rows,
                   columns, reinterpret_cast<uint8_t*>(to), to_stride);
  } else {
    TransposePlane(reinterpret_cast<const float*>(from), from_stride, rows,
                   columns, reinterpret_cast<float*>(to), to_stride);
  }
}

// One launch. Offsets are in elements.
class ConvState::Launch {
 public:
  Launch(const KernelCall& call, const ConvState& state,
         const ConvOperands& operands)
      : call_(call),
        state_(state),
        describer_(state.describer_),
        is_channels_last_(describer_.site().is_channels_last),
        x_(static_cast<const std::byte*>(operands.x)),
        bias_(static_cast<const std::byte*>(operands.bias)),
        x_zero_(operands.x_zero),
        y_(static_cast<std::byte*>(operands.y)),
        x_bytes_(ElementBytes(describer_.given(describer_.site().x_dtype))),
        y_bytes_(ElementBytes(describer_.site().y_dtype)),
        x_channels_(describer_.geometry().groups *
                    describer_.geometry().channels),
        y_channels_(describer_.geometry().groups * describer_.geometry().rows) {
  }

  absl::Status operator()(int64_t index, std::byte* scratch) const {
    const ConvPart part = describer_.parts().part(index);
    std::byte* x = scratch;
    std::byte* rounded = x + AlignUp(state_.scratch_.x_bytes);
    std::byte* y = rounded + AlignUp(state_.scratch_.rounded_bytes);
    std::byte* library = y + AlignUp(state_.scratch_.y_bytes);
    const bool is_in_place =
        is_channels_last_ && describer_.parts().is_whole_pixels();
    if (is_channels_last_) {
      // The library takes addresses of what it only reads without a const.
      x = const_cast<std::byte*>(x_) +
          InputPixel(part) * x_channels_ * x_bytes_;
    } else {
      TurnInput(part, x);
    }
    if (describer_.site().rounds()) {
      RoundToBFloat16(reinterpret_cast<const float*>(x),
                      describer_.InputsOf(part.form),
                      reinterpret_cast<BFloat16*>(rounded));
      x = rounded;
    }
    if (is_in_place) y = y_ + OutputPixel(part) * y_channels_ * y_bytes_;
    const size_t form =
        std::find(state_.forms_.begin(), state_.forms_.end(), part.form) -
        state_.forms_.begin();
    const int64_t slice = part.channel / describer_.parts().channels().size;
    const Storage& weights =
        *state_.packed_weights_[state_.format_of_form_[form]][slice];
    absl::InlinedVector<void*, 6> addresses = {x, weights.address(), y,
                                               library};
    if (bias_ != nullptr) {
      addresses.push_back(const_cast<std::byte*>(bias_) +
                          part.channel *
                              ElementBytes(describer_.site().bias_dtype));
    }
    if (describer_.site().has_x_zero_of_run) {
      addresses.push_back(const_cast<int32_t*>(&x_zero_));
    }
    absl::Status status = state_.primitives_[form]->Run(addresses);
    if (!status.ok()) return status;
    if (!is_in_place) Store(part, y);
    if (state_.epilogue_ != nullptr) Finish(part);
    return absl::OkStatus();
  }

 private:
  int64_t InputPixel(const ConvPart& part) const {
    return part.image * describer_.geometry().inputs() +
           part.input * describer_.row_inputs();
  }
  int64_t OutputPixel(const ConvPart& part) const {
    return part.image * describer_.geometry().outputs() +
           part.output * describer_.row_outputs();
  }

  void TurnInput(const ConvPart& part, std::byte* to) const {
    const int64_t plane = describer_.geometry().inputs();
    const int64_t pixels = part.form.inputs * describer_.row_inputs();
    for (int64_t i = 0; i < part.form.images; ++i) {
      const int64_t from = (part.image + i) * x_channels_ * plane +
                           part.input * describer_.row_inputs();
      Turn(x_bytes_, x_ + from * x_bytes_, plane, x_channels_, pixels,
           to + i * pixels * x_channels_ * x_bytes_, x_channels_);
    }
  }

  // Brings the part's pixels to where y has them.
  void Store(const ConvPart& part, const std::byte* from) const {
    const int64_t channels = part.form.channels;
    const int64_t pixels = part.form.outputs * describer_.row_outputs();
    if (is_channels_last_) {
      std::byte* to =
          y_ + (OutputPixel(part) * y_channels_ + part.channel) * y_bytes_;
      for (int64_t i = 0; i < part.form.images * pixels; ++i) {
        std::copy_n(from + i * channels * y_bytes_, channels * y_bytes_,
                    to + i * y_channels_ * y_bytes_);
      }
      return;
    }
    const int64_t plane = describer_.geometry().outputs();
    for (int64_t i = 0; i < part.form.images; ++i) {
      const int64_t to =
          ((part.image + i) * y_channels_ + part.channel) * plane +
          part.output * describer_.row_outputs();
      Turn(y_bytes_, from + i * pixels * channels * y_bytes_, channels, pixels,
           channels, y_ + to * y_bytes_, plane);
    }
  }

  // The epilogue over the part's elements, in the runs that they form in y.
  void Finish(const ConvPart& part) const {
    const int64_t pixels = part.form.outputs * describer_.row_outputs();
    if (is_channels_last_) {
      const int64_t pixel = OutputPixel(part);
      const int64_t count = part.form.images * pixels;
      if (describer_.parts().is_whole_pixels()) {
        state_.epilogue_->Apply(call_, pixel * y_channels_,
                                (pixel + count) * y_channels_);
        return;
      }
      for (int64_t i = pixel; i < pixel + count; ++i) {
        const int64_t begin = i * y_channels_ + part.channel;
        state_.epilogue_->Apply(call_, begin, begin + part.form.channels);
      }
      return;
    }
    const int64_t plane = describer_.geometry().outputs();
    for (int64_t i = 0; i < part.form.images; ++i) {
      for (int64_t c = 0; c < part.form.channels; ++c) {
        const int64_t begin =
            ((part.image + i) * y_channels_ + part.channel + c) * plane +
            part.output * describer_.row_outputs();
        state_.epilogue_->Apply(call_, begin, begin + pixels);
      }
    }
  }

  const KernelCall& call_;
  const ConvState& state_;
  const ConvDescriber& describer_;
  const bool is_channels_last_;
  const std::byte* const x_;
  const std::byte* const bias_;
  const int32_t x_zero_;
  std::byte* const y_;
  const int64_t x_bytes_;  // of an element
  const int64_t y_bytes_;
  const int64_t x_channels_;
  const int64_t y_channels_;
};

}  // namespace tensord::onednn

#endif  // TENSORD_BACKENDS_CPU_ONEDNN_CONV_LAUNCH_H_
