// Conv over one to three spatial dimensions, channels in groups, on oneDNN.
//
//   y[n, m, o] = bias[m] + sum over c, t of
//                w[m, c, t] * x[n, g * C/G + c, o * stride - pad + t *
//                dilation]
//
// as backends/cpu/kernels/conv.cc has it. x and y are contiguous, channels
// first or last; w [M, C/G, kernel...] is constant and packed once; y is none
// of the inputs' buffers. float32 throughout; the order of a sum is the
// library's, the same for each run.
//
// The library is fast where channels come last. Where they come first, each
// part of the work turns its piece of x around, and its piece of y back. An
// epilogue is computed part by part.

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cpu/kernels/epilogue.h"
#include "backends/cpu/kernels/plane_transpose.h"
#include "backends/cpu/onednn/conv_parts.h"
#include "backends/cpu/onednn/onednn_kernels.h"
#include "backends/cpu/onednn/primitive.h"

namespace tensord::onednn {
namespace {

using conv::Geometry;

// What it costs to turn one element around.
constexpr double kTurnFlops = 32;

// A node's convolution in the library's terms.
class ConvDescriber {
 public:
  ConvDescriber(const Geometry& geometry, bool has_bias)
      : geometry_(geometry),
        parts_(geometry),
        has_bias_(has_bias),
        // The library has no use for a depth of 1.
        first_axis_(IsFlat(geometry.axes[0]) ? 1 : 0) {}

  const Geometry& geometry() const { return geometry_; }
  const ConvParts& parts() const { return parts_; }

  // With weights in the form that is best, or in the one that is given.
  absl::StatusOr<PrimitiveDesc> Describe(
      const ConvForm& form, const dnnl_memory_desc_t* weights) const {
    const dnnl_memory_desc_t x =
        ImageDesc(form.images, geometry_.groups * geometry_.channels,
                  form.inputs, &conv::Axis::input);
    const dnnl_memory_desc_t y = ImageDesc(form.images, form.channels,
                                           form.outputs, &conv::Axis::output);
    const dnnl_memory_desc_t w =
        weights != nullptr ? *weights : AnyDesc(WeightDims(form.channels));
    const dnnl_memory_desc_t bias = DenseDesc({form.channels});
    dnnl_dims_t strides, dilations, begins, ends;
    for (int i = first_axis_; i < conv::kMaxSpatialRank; ++i) {
      const WindowAxis& window = geometry_.axes[i].window;
      const bool is_cut = i == parts_.axis_index();
      strides[i - first_axis_] = window.stride;
      dilations[i - first_axis_] = window.dilation - 1;
      begins[i - first_axis_] = is_cut ? form.pad_begin : window.pad_begin;
      ends[i - first_axis_] = is_cut ? form.pad_end : window.pad_end;
    }
    dnnl_convolution_desc_t desc;
    absl::Status status = ToStatus(
        dnnl_dilated_convolution_forward_desc_init(
            &desc, dnnl_forward_inference, dnnl_convolution_direct, &x, &w,
            has_bias_ ? &bias : nullptr, &y, strides, dilations, begins, ends),
        "dnnl_dilated_convolution_forward_desc_init");
    if (!status.ok()) return status;
    return PrimitiveDesc::Create(&desc, Attributes());
  }

  // The node's own weights, those of some output channels.
  dnnl_memory_desc_t GivenWeightDesc(int64_t channels) const {
    return DenseDesc(WeightDims(channels));
  }

  // Elements of one row of the dimension that is cut, without the channels.
  int64_t row_inputs() const {
    return geometry_.inputs() / parts_.axis().input;
  }
  int64_t row_outputs() const {
    return geometry_.outputs() / parts_.axis().output;
  }

 private:
  static bool IsFlat(const conv::Axis& axis) {
    return axis.input == 1 && axis.output == 1 && axis.window.kernel == 1 &&
           axis.window.pad_begin == 0;
  }

  // Channels last, with `rows` of the dimension that is cut.
  dnnl_memory_desc_t ImageDesc(int64_t images, int64_t channels, int64_t rows,
                               int64_t conv::Axis::*extent) const {
    Dims dims = {images, channels};
    for (int i = first_axis_; i < conv::kMaxSpatialRank; ++i) {
      dims.push_back(i == parts_.axis_index() ? rows
                                              : geometry_.axes[i].*extent);
    }
    Dims strides(dims.size());
    strides[1] = 1;
    int64_t stride = channels;
    for (size_t i = dims.size() - 1; i >= 2; --i) {
      strides[i] = stride;
      stride *= dims[i];
    }
    strides[0] = stride;
    return StridedDesc(dims, strides);
  }

  Dims WeightDims(int64_t channels) const {
    Dims dims;
    if (geometry_.groups != 1) dims.push_back(geometry_.groups);
    dims.push_back(channels / geometry_.groups);
    dims.push_back(geometry_.channels);
    for (int i = first_axis_; i < conv::kMaxSpatialRank; ++i) {
      dims.push_back(geometry_.axes[i].window.kernel);
    }
    return dims;
  }

  const Geometry geometry_;
  const ConvParts parts_;
  const bool has_bias_;
  const int first_axis_;
};

// Nothing is to be computed.
bool IsEmpty(const NodeSite& site) {
  return site.output(0).shape.element_count() == 0;
}

ConvDescriber DescriberOf(const NodeSite& site) {
  return ConvDescriber(ConvGeometryOf(site), site.has_input(2));
}

// The forms of all parts, each once.
std::vector<ConvForm> FormsOf(const ConvParts& parts) {
  std::vector<ConvForm> forms;
  for (int64_t i = 0; i < parts.count(); ++i) {
    const ConvForm form = parts.part(i).form;
    if (std::find(forms.begin(), forms.end(), form) == forms.end()) {
      forms.push_back(form);
    }
  }
  return forms;
}

// The scratch memory of one part, in pieces.
struct Scratch {
  uint64_t x_bytes = 0;  // a piece of x turned around, or none
  uint64_t y_bytes = 0;  // a piece of y that is not yet where it belongs
  uint64_t library_bytes = 0;

  uint64_t total() const {
    return AlignUp(x_bytes) + AlignUp(y_bytes) + AlignUp(library_bytes);
  }
};

Scratch ScratchOf(const ConvDescriber& describer, bool is_channels_last) {
  Scratch scratch;
  for (const ConvForm& form : FormsOf(describer.parts())) {
    const Geometry& geometry = describer.geometry();
    const uint64_t x_elements = form.images * form.inputs *
                                describer.row_inputs() * geometry.groups *
                                geometry.channels;
    const uint64_t y_elements =
        form.images * form.outputs * describer.row_outputs() * form.channels;
    if (!is_channels_last) {
      scratch.x_bytes = std::max(scratch.x_bytes, x_elements * sizeof(float));
    }
    if (!is_channels_last || !describer.parts().is_whole_pixels()) {
      scratch.y_bytes = std::max(scratch.y_bytes, y_elements * sizeof(float));
    }
    auto desc = describer.Describe(form, nullptr);
    // Prepare will say what is wrong.
    if (desc.ok()) {
      scratch.library_bytes =
          std::max(scratch.library_bytes, desc->scratchpad_bytes());
    }
  }
  return scratch;
}

class State final : public KernelState {
 public:
  State(const ConvDescriber& describer, const Scratch& scratch)
      : describer(describer),
        scratch(scratch),
        forms(FormsOf(describer.parts())) {}

  absl::Status Make(const NodeSite& site, Device& device) {
    const auto* w = reinterpret_cast<const float*>(site.host_constant(1));
    const bool has_bias = site.has_input(2);
    epilogue = MakeEpiloguePlan(site);
    for (const ConvForm& form : forms) {
      absl::StatusOr<PrimitiveDesc> desc = ChooseWeights(form);
      if (!desc.ok()) return desc.status();
      Primitive::Arguments arguments = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS,
                                        DNNL_ARG_DST, DNNL_ARG_SCRATCHPAD};
      if (has_bias) arguments.push_back(DNNL_ARG_BIAS);
      auto primitive = Primitive::Create(*desc, arguments);
      if (!primitive.ok()) return primitive.status();
      primitives.push_back(*std::move(primitive));
    }
    const Split& channels = describer.parts().channels();
    for (const WeightFormat& format : formats) {
      auto& slices = packed_weights.emplace_back(channels.count());
      for (int64_t i = 0; i < channels.count(); ++i) {
        if (channels.length(i) != format.channels) continue;
        auto packed = Pack(describer.GivenWeightDesc(format.channels),
                           w + channels.begin(i) * describer.geometry().depth(),
                           format.desc, device);
        if (!packed.ok()) return packed.status();
        slices[i] = *std::move(packed);
      }
    }
    return absl::OkStatus();
  }

  size_t IndexOf(const ConvForm& form) const {
    return std::find(forms.begin(), forms.end(), form) - forms.begin();
  }
  const Storage& WeightsFor(size_t form, int64_t slice) const {
    return *packed_weights[format_of_form[form]][slice];
  }

  const ConvDescriber describer;
  const Scratch scratch;
  const std::vector<ConvForm> forms;
  std::unique_ptr<const EpiloguePlan> epilogue;        // null without one
  std::vector<std::unique_ptr<Primitive>> primitives;  // by form
  std::vector<size_t> format_of_form;
  // By format, then by part of the output channels; null for parts that are not
  // of the format's number of channels.
  std::vector<std::vector<std::unique_ptr<Storage>>> packed_weights;

 private:
  // How weights of so many output channels are packed.
  struct WeightFormat {
    int64_t channels;
    dnnl_memory_desc_t desc;
  };

  // With the weights of an earlier form if the library has fast code for them,
  // else with a format of the form's own: which one it likes depends on extents
  // and padding.
  absl::StatusOr<PrimitiveDesc> ChooseWeights(const ConvForm& form) {
    for (size_t i = 0; i < formats.size(); ++i) {
      if (formats[i].channels != form.channels) continue;
      auto desc = describer.Describe(form, &formats[i].desc);
      // Scratch memory was planned for the format of the form's own.
      if (!desc.ok() || desc->scratchpad_bytes() > scratch.library_bytes) {
        continue;
      }
      format_of_form.push_back(i);
      return desc;
    }
    auto desc = describer.Describe(form, nullptr);
    if (!desc.ok()) return desc;
    format_of_form.push_back(formats.size());
    formats.push_back({form.channels, desc->operand(DNNL_ARG_WEIGHTS)});
    return desc;
  }

  std::vector<WeightFormat> formats;
};

// One launch. Offsets are in elements.
class Run {
 public:
  Run(const KernelCall& call, const State& state)
      : call_(call),
        state_(state),
        describer_(state.describer),
        is_channels_last_(std::get<ConvParams>(call.params).channels_last),
        x_(call.input<float>(0)),
        bias_(call.has_input(2) ? call.input<float>(2) : nullptr),
        y_(call.output<float>(0)),
        x_channels_(describer_.geometry().groups *
                    describer_.geometry().channels),
        y_channels_(describer_.geometry().groups * describer_.geometry().rows) {
  }

  absl::Status operator()(int64_t index, std::byte* scratch) const {
    const ConvPart part = describer_.parts().part(index);
    auto* x = reinterpret_cast<float*>(scratch);
    auto* y =
        reinterpret_cast<float*>(scratch + AlignUp(state_.scratch.x_bytes));
    std::byte* library =
        reinterpret_cast<std::byte*>(y) + AlignUp(state_.scratch.y_bytes);
    const bool is_in_place =
        is_channels_last_ && describer_.parts().is_whole_pixels();
    if (is_channels_last_) {
      x = const_cast<float*>(x_) + InputPixel(part) * x_channels_;
    } else {
      TurnInput(part, x);
    }
    if (is_in_place) y = y_ + OutputPixel(part) * y_channels_;
    const size_t form = state_.IndexOf(part.form);
    const int64_t slice = part.channel / describer_.parts().channels().size;
    absl::InlinedVector<void*, 6> addresses = {
        x, state_.WeightsFor(form, slice).address(), y, library};
    if (bias_ != nullptr) {
      addresses.push_back(const_cast<float*>(bias_ + part.channel));
    }
    absl::Status status = state_.primitives[form]->Run(addresses);
    if (!status.ok()) return status;
    if (!is_in_place) Store(part, y);
    if (state_.epilogue != nullptr) Finish(part);
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

  void TurnInput(const ConvPart& part, float* to) const {
    const int64_t plane = describer_.geometry().inputs();
    const int64_t pixels = part.form.inputs * describer_.row_inputs();
    for (int64_t i = 0; i < part.form.images; ++i) {
      TransposePlane(x_ + (part.image + i) * x_channels_ * plane +
                         part.input * describer_.row_inputs(),
                     plane, x_channels_, pixels, to + i * pixels * x_channels_,
                     x_channels_);
    }
  }

  // Brings the part's pixels to where y has them.
  void Store(const ConvPart& part, const float* from) const {
    const int64_t channels = part.form.channels;
    const int64_t pixels = part.form.outputs * describer_.row_outputs();
    if (is_channels_last_) {
      float* to = y_ + OutputPixel(part) * y_channels_ + part.channel;
      for (int64_t i = 0; i < part.form.images * pixels; ++i) {
        std::copy_n(from + i * channels, channels, to + i * y_channels_);
      }
      return;
    }
    const int64_t plane = describer_.geometry().outputs();
    for (int64_t i = 0; i < part.form.images; ++i) {
      TransposePlane(
          from + i * pixels * channels, channels, pixels, channels,
          y_ + ((part.image + i) * y_channels_ + part.channel) * plane +
              part.output * describer_.row_outputs(),
          plane);
    }
  }

  // The epilogue over the part's elements, in the runs that they form in y.
  void Finish(const ConvPart& part) const {
    const int64_t pixels = part.form.outputs * describer_.row_outputs();
    if (is_channels_last_) {
      const int64_t pixel = OutputPixel(part);
      const int64_t count = part.form.images * pixels;
      if (describer_.parts().is_whole_pixels()) {
        state_.epilogue->Apply(call_, pixel * y_channels_,
                               (pixel + count) * y_channels_);
        return;
      }
      for (int64_t i = pixel; i < pixel + count; ++i) {
        const int64_t begin = i * y_channels_ + part.channel;
        state_.epilogue->Apply(call_, begin, begin + part.form.channels);
      }
      return;
    }
    const int64_t plane = describer_.geometry().outputs();
    for (int64_t i = 0; i < part.form.images; ++i) {
      for (int64_t c = 0; c < part.form.channels; ++c) {
        const int64_t begin =
            ((part.image + i) * y_channels_ + part.channel + c) * plane +
            part.output * describer_.row_outputs();
        state_.epilogue->Apply(call_, begin, begin + pixels);
      }
    }
  }

  const KernelCall& call_;
  const State& state_;
  const ConvDescriber& describer_;
  const bool is_channels_last_;
  const float* const x_;
  const float* const bias_;
  float* const y_;
  const int64_t x_channels_;
  const int64_t y_channels_;
};

}  // namespace

absl::Status AcceptsConv(const NodeSite& site) {
  if (absl::Status status = AcceptsEpilogue(site); !status.ok()) return status;
  if (site.layouts.empty()) return absl::OkStatus();
  if (absl::Status status = conv::CheckSpatialRank(site.input(0).shape);
      !status.ok()) {
    return status;
  }
  if (site.host_constant(1) == nullptr) {
    return absl::FailedPreconditionError("the weights are not constant");
  }
  if (IsEmpty(site)) return absl::OkStatus();
  constexpr int64_t kMaxElements = std::numeric_limits<int32_t>::max() / 4;
  for (const Layout& layout : site.layouts) {
    const int64_t elements = layout.shape.element_count();
    if (elements == 0) {
      return absl::FailedPreconditionError("the sums have no terms");
    }
    if (elements > kMaxElements) {
      return absl::FailedPreconditionError(
          absl::StrCat(elements, " elements are above ", kMaxElements));
    }
  }
  const ConvDescriber describer = DescriberOf(site);
  if (!std::get<ConvParams>(site.params).channels_last &&
      describer.geometry().taps() == 1) {
    // Turning the image around costs more than the library gains.
    return absl::FailedPreconditionError(
        "channels come first, and the windows are single pixels");
  }
  for (const ConvForm& form : FormsOf(describer.parts())) {
    if (form.inputs == 0) {
      return absl::FailedPreconditionError("a window sees nothing but padding");
    }
    if (auto desc = describer.Describe(form, nullptr); !desc.ok()) {
      return desc.status();
    }
  }
  return absl::OkStatus();
}

KernelCost ConvCost(const NodeSite& site) {
  const double x = site.input(0).shape.element_count();
  const double w = site.input(1).shape.element_count();
  const double y = site.output(0).shape.element_count();
  double flops = 2 * y * ConvGeometryOf(site).depth() / kSpeedup;
  if (!std::get<ConvParams>(site.params).channels_last) {
    flops += kTurnFlops * (x + y);
  }
  return {.flops = flops + EpilogueFlops(site),
          .bytes = (x + w + y) * sizeof(float)};
}

uint64_t ConvWorkspaceBytes(const NodeSite& site) {
  if (IsEmpty(site)) return 0;
  const ConvDescriber describer = DescriberOf(site);
  const bool is_channels_last = std::get<ConvParams>(site.params).channels_last;
  return ScratchBytesForParts(describer.parts().count(),
                              ScratchOf(describer, is_channels_last).total());
}

PreparedState PrepareConv(const NodeSite& site, Device& device) {
  if (IsEmpty(site)) return nullptr;
  const ConvDescriber describer = DescriberOf(site);
  const bool is_channels_last = std::get<ConvParams>(site.params).channels_last;
  auto state = std::make_unique<State>(describer,
                                       ScratchOf(describer, is_channels_last));
  absl::Status status = state->Make(site, device);
  if (!status.ok()) return status;
  return state;
}

absl::Status RunConv(const KernelCall& call) {
  if (call.state == nullptr) return absl::OkStatus();
  const auto& state = static_cast<const State&>(*call.state);
  const Run run(call, state);
  return ForParts(*call.context.workers, state.describer.parts().count(), 1,
                  call.context.workspace, state.scratch.total(), run);
}

}  // namespace tensord::onednn
