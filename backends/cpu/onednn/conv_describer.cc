#include "backends/cpu/onednn/conv_describer.h"

#include <algorithm>

namespace tensord::onednn {
namespace {

bool IsFlat(const conv::Axis& axis) {
  return axis.input == 1 && axis.output == 1 && axis.window.kernel == 1 &&
         axis.window.pad_begin == 0;
}

ConvParts PartsOf(const ConvSite& site) {
  return ConvParts(site.geometry,
                   site.is_integer() ? kIntegerPartFlops : kPartFlops,
                   site.multipliers.size() > 1);
}

}  // namespace

ConvDescriber::ConvDescriber(const ConvSite& site)
    : site_(site),
      parts_(PartsOf(site)),
      // The library has no use for a depth of 1.
      first_axis_(IsFlat(site.geometry.axes[0]) ? 1 : 0) {}

std::vector<ConvForm> ConvDescriber::Forms() const {
  std::vector<ConvForm> forms;
  for (int64_t i = 0; i < parts_.count(); ++i) {
    const ConvForm form = parts_.part(i).form;
    if (std::find(forms.begin(), forms.end(), form) == forms.end()) {
      forms.push_back(form);
    }
  }
  return forms;
}

absl::StatusOr<PrimitiveDesc> ConvDescriber::Describe(
    const ConvForm& form, const dnnl_memory_desc_t* weights) const {
  const dnnl_memory_desc_t x =
      ImageDesc(form.images, geometry().groups * geometry().channels,
                form.inputs, &conv::Axis::input, site_.x_dtype);
  const dnnl_memory_desc_t y =
      ImageDesc(form.images, form.channels, form.outputs, &conv::Axis::output,
                site_.y_dtype);
  const dnnl_memory_desc_t w =
      weights != nullptr ? *weights
                         : AnyDesc(WeightDims(form.channels), site_.w_dtype);
  const dnnl_memory_desc_t bias = DenseDesc({form.channels}, site_.bias_dtype);
  dnnl_dims_t strides, dilations, begins, ends;
  for (int i = first_axis_; i < conv::kMaxSpatialRank; ++i) {
    const WindowAxis& window = geometry().axes[i].window;
    const bool is_cut = i == parts_.axis_index();
    strides[i - first_axis_] = window.stride;
    dilations[i - first_axis_] = window.dilation - 1;
    begins[i - first_axis_] = is_cut ? form.pad_begin : window.pad_begin;
    ends[i - first_axis_] = is_cut ? form.pad_end : window.pad_end;
  }
  dnnl_convolution_desc_t desc;
  absl::Status status =
      ToStatus(dnnl_dilated_convolution_forward_desc_init(
                   &desc, dnnl_forward_inference, dnnl_convolution_direct, &x,
                   &w, site_.has_bias ? &bias : nullptr, &y, strides, dilations,
                   begins, ends),
               "dnnl_dilated_convolution_forward_desc_init");
  if (!status.ok()) return status;
  Attributes attributes;
  Describe(form, attributes);
  return PrimitiveDesc::Create(&desc, attributes);
}

void ConvDescriber::Describe(const ConvForm& form,
                             Attributes& attributes) const {
  if (site_.multipliers.size() == 1) {
    attributes.ScaleOutput(site_.multipliers[0]);
  } else if (!site_.multipliers.empty()) {
    attributes.ScaleChannels(absl::MakeConstSpan(site_.multipliers)
                                 .subspan(form.first_channel, form.channels));
  }
  if (site_.has_x_zero_of_run) attributes.SetZeroPointOfRun(DNNL_ARG_SRC);
  if (site_.x_zero != 0) attributes.SetZeroPoint(DNNL_ARG_SRC, site_.x_zero);
  if (site_.y_zero != 0) attributes.SetZeroPoint(DNNL_ARG_DST, site_.y_zero);
}

dnnl_memory_desc_t ConvDescriber::ImageDesc(int64_t images, int64_t channels,
                                            int64_t rows,
                                            int64_t conv::Axis::*extent,
                                            dnnl_data_type_t dtype) const {
  Dims dims = {images, channels};
  for (int i = first_axis_; i < conv::kMaxSpatialRank; ++i) {
    dims.push_back(i == parts_.axis_index() ? rows
                                            : geometry().axes[i].*extent);
  }
  Dims strides(dims.size());
  strides[1] = 1;
  int64_t stride = channels;
  for (size_t i = dims.size() - 1; i >= 2; --i) {
    strides[i] = stride;
    stride *= dims[i];
  }
  strides[0] = stride;
  return StridedDesc(dims, strides, dtype);
}

Dims ConvDescriber::WeightDims(int64_t channels) const {
  Dims dims;
  if (geometry().groups != 1) dims.push_back(geometry().groups);
  dims.push_back(channels / geometry().groups);
  dims.push_back(geometry().channels);
  for (int i = first_axis_; i < conv::kMaxSpatialRank; ++i) {
    dims.push_back(geometry().axes[i].window.kernel);
  }
  return dims;
}

}  // namespace tensord::onednn
