#ifndef TENSORD_BACKENDS_CPU_ONEDNN_CONV_DESCRIBER_H_
#define TENSORD_BACKENDS_CPU_ONEDNN_CONV_DESCRIBER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/api/conv_geometry.h"
#include "backends/cpu/onednn/conv_parts.h"
#include "backends/cpu/onednn/primitive.h"

namespace tensord::onednn {

// What the library is told of a node's convolution.
//
//   y = (sum of w * (x - x_zero) + bias) * multiplier + y_zero
//
// rounded to the nearest integer, of two the even one, and saturated, where y
// is one of 8 bits. Threading and ownership: a plain value.
struct ConvSite {
  conv::Geometry geometry;
  bool is_channels_last = false;
  bool has_bias = false;
  dnnl_data_type_t x_dtype = dnnl_f32, w_dtype = dnnl_f32, y_dtype = dnnl_f32,
                   bias_dtype = dnnl_f32;
  // Of integers alone.
  int32_t x_zero = 0, y_zero = 0;
  bool has_x_zero_of_run = false;  // instead of x_zero
  std::vector<float> multipliers;  // none (1), one, or one an output channel

  // x and w are float32, and are rounded before they are multiplied.
  bool rounds() const { return x_dtype == dnnl_bf16; }
  bool is_integer() const { return x_dtype == dnnl_u8 || x_dtype == dnnl_s8; }
};

// A node's convolution, and parts of it, in the library's terms. The library
// always sees channels last, for which it is fastest.
//
// Threading: immutable. Ownership: owns all that it needs.
class ConvDescriber {
 public:
  explicit ConvDescriber(const ConvSite& site);

  const ConvSite& site() const { return site_; }
  const conv::Geometry& geometry() const { return site_.geometry; }
  const ConvParts& parts() const { return parts_; }

  // The forms of all parts, each once.
  std::vector<ConvForm> Forms() const;

  // With weights in the form that is best, or in the one that is given.
  absl::StatusOr<PrimitiveDesc> Describe(
      const ConvForm& form, const dnnl_memory_desc_t* weights) const;

  // The node's own weights, those of some output channels.
  dnnl_memory_desc_t GivenWeightDesc(int64_t channels) const {
    return DenseDesc(WeightDims(channels), given(site_.w_dtype));
  }

  // The type in memory of what the library takes as `dtype`.
  dnnl_data_type_t given(dnnl_data_type_t dtype) const {
    return dtype == dnnl_bf16 ? dnnl_f32 : dtype;
  }

  // Elements of one row of the dimension that is cut, without the channels.
  int64_t row_inputs() const {
    return geometry().inputs() / parts_.axis().input;
  }
  int64_t row_outputs() const {
    return geometry().outputs() / parts_.axis().output;
  }

  // Elements of a part's pieces of x and y.
  int64_t InputsOf(const ConvForm& form) const {
    return form.images * form.inputs * row_inputs() * geometry().groups *
           geometry().channels;
  }
  int64_t OutputsOf(const ConvForm& form) const {
    return form.images * form.outputs * row_outputs() * form.channels;
  }

 private:
  // Channels last, with `rows` of the dimension that is cut.
  dnnl_memory_desc_t ImageDesc(int64_t images, int64_t channels, int64_t rows,
                               int64_t conv::Axis::*extent,
                               dnnl_data_type_t dtype) const;
  Dims WeightDims(int64_t channels) const;
  void Describe(const ConvForm& form, Attributes& attributes) const;

  const ConvSite site_;
  const ConvParts parts_;
  const int first_axis_;
};

}  // namespace tensord::onednn

#endif  // TENSORD_BACKENDS_CPU_ONEDNN_CONV_DESCRIBER_H_
