#include "backends/cpu/onednn/conv_state.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/api/float16.h"
#include "backends/cpu/onednn/conv_launch.h"
#include "backends/cpu/onednn/split.h"

namespace tensord::onednn {

uint64_t ConvState::Scratch::total() const {
  return AlignUp(x_bytes) + AlignUp(rounded_bytes) + AlignUp(y_bytes) +
         AlignUp(library_bytes);
}

ConvState::Scratch ConvState::ScratchOf(const ConvDescriber& describer) {
  const ConvSite& site = describer.site();
  Scratch scratch;
  for (const ConvForm& form : describer.Forms()) {
    const uint64_t x_bytes =
        describer.InputsOf(form) * ElementBytes(describer.given(site.x_dtype));
    const uint64_t y_bytes =
        describer.OutputsOf(form) * ElementBytes(site.y_dtype);
    if (!site.is_channels_last) {
      scratch.x_bytes = std::max(scratch.x_bytes, x_bytes);
    }
    if (site.rounds()) {
      scratch.rounded_bytes =
          std::max(scratch.rounded_bytes,
                   describer.InputsOf(form) * uint64_t{sizeof(BFloat16)});
    }
    if (!site.is_channels_last || !describer.parts().is_whole_pixels()) {
      scratch.y_bytes = std::max(scratch.y_bytes, y_bytes);
    }
    auto desc = describer.Describe(form, nullptr);
    // Create() will say what is wrong.
    if (desc.ok()) {
      scratch.library_bytes =
          std::max(scratch.library_bytes, desc->scratchpad_bytes());
    }
  }
  return scratch;
}

absl::Status ConvState::Accepts(const ConvSite& site) {
  const conv::Geometry& g = site.geometry;
  const int64_t channels = g.groups * g.channels;
  const int64_t outputs = g.groups * g.rows;
  constexpr int64_t kMaxElements = std::numeric_limits<int32_t>::max() / 4;
  for (const int64_t elements :
       {g.images * channels * g.inputs(), outputs * g.depth(),
        g.images * outputs * g.outputs()}) {
    if (elements == 0) {
      return absl::FailedPreconditionError("the sums have no terms");
    }
    if (elements > kMaxElements) {
      return absl::FailedPreconditionError(
          absl::StrCat(elements, " elements are above ", kMaxElements));
    }
  }
  const ConvDescriber describer(site);
  for (const ConvForm& form : describer.Forms()) {
    if (form.inputs == 0) {
      return absl::FailedPreconditionError("a window sees nothing but padding");
    }
    if (auto desc = describer.Describe(form, nullptr); !desc.ok()) {
      return desc.status();
    }
  }
  return absl::OkStatus();
}

uint64_t ConvState::WorkspaceBytes(const ConvSite& site) {
  const ConvDescriber describer(site);
  return ScratchBytesForParts(describer.parts().count(),
                              ScratchOf(describer).total());
}

absl::StatusOr<std::unique_ptr<KernelState>> ConvState::Create(
    const NodeSite& node, const ConvSite& site, const Unpacked& w,
    Device& device) {
  std::unique_ptr<ConvState> state(new ConvState(ConvDescriber(site)));
  state->epilogue_ = MakeEpiloguePlan(node);
  if (absl::Status s = state->MakePrimitives(); !s.ok()) return s;
  absl::Status status = state->PackWeights(w, device);
  if (!status.ok()) return status;
  return state;
}

absl::Status ConvState::MakePrimitives() {
  Primitive::Arguments arguments = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS,
                                    DNNL_ARG_DST, DNNL_ARG_SCRATCHPAD};
  if (describer_.site().has_bias) arguments.push_back(DNNL_ARG_BIAS);
  if (describer_.site().has_x_zero_of_run) {
    arguments.push_back(ZeroPointOf(DNNL_ARG_SRC));
  }
  for (const ConvForm& form : forms_) {
    absl::StatusOr<PrimitiveDesc> desc = ChooseWeights(form);
    if (!desc.ok()) return desc.status();
    auto primitive = Primitive::Create(*desc, arguments);
    if (!primitive.ok()) return primitive.status();
    primitives_.push_back(*std::move(primitive));
  }
  return absl::OkStatus();
}

// With the weights of an earlier form if the library has fast code for them,
// else with a format of the form's own: which one it likes depends on extents
// and padding.
absl::StatusOr<PrimitiveDesc> ConvState::ChooseWeights(const ConvForm& form) {
  for (size_t i = 0; i < formats_.size(); ++i) {
    if (formats_[i].channels != form.channels) continue;
    auto desc = describer_.Describe(form, &formats_[i].desc);
    // Scratch memory was planned for the format of the form's own.
    if (!desc.ok() || desc->scratchpad_bytes() > scratch_.library_bytes) {
      continue;
    }
    format_of_form_.push_back(i);
    return desc;
  }
  auto desc = describer_.Describe(form, nullptr);
  if (!desc.ok()) return desc;
  format_of_form_.push_back(formats_.size());
  formats_.push_back({form.channels, desc->operand(DNNL_ARG_WEIGHTS)});
  return desc;
}

absl::Status ConvState::PackWeights(const Unpacked& w, Device& device) {
  const Split& channels = describer_.parts().channels();
  const int64_t channel_bytes =
      describer_.geometry().depth() *
      ElementBytes(describer_.given(describer_.site().w_dtype));
  for (const WeightFormat& format : formats_) {
    auto& slices = packed_weights_.emplace_back(channels.count());
    for (int64_t i = 0; i < channels.count(); ++i) {
      if (channels.length(i) != format.channels) continue;
      const auto slice = [&] {
        return w.elements() + channels.begin(i) * channel_bytes;
      };
      const std::string change = absl::StrCat(w.change, " ", channels.begin(i));
      auto packed = Pack(
          {.content = w.content, .change = change, .elements = slice},
          describer_.GivenWeightDesc(format.channels), format.desc, device);
      if (!packed.ok()) return packed.status();
      slices[i] = *std::move(packed);
    }
  }
  return absl::OkStatus();
}

void ConvState::AppendPacked(Packed& to) const {
  for (const auto& slices : packed_weights_) {
    for (const auto& slice : slices) {
      if (slice != nullptr) to.push_back(slice);
    }
  }
}

uint64_t ConvState::footprint_bytes() const {
  uint64_t bytes = forms_.size() * (sizeof(ConvForm) + sizeof(size_t)) +
                   formats_.size() * sizeof(WeightFormat);
  for (const auto& slices : packed_weights_) {
    bytes += slices.size() * sizeof(slices[0]);
  }
  for (const auto& primitive : primitives_) {
    bytes += primitive->footprint_bytes();
  }
  return bytes + (epilogue_ == nullptr ? 0 : epilogue_->footprint_bytes());
}

absl::Status ConvState::Run(const KernelCall& call,
                            const ConvOperands& operands) const {
  return ForParts(*call.context.workers, describer_.parts().count(), 1,
                  call.context.workspace, scratch_.total(),
                  Launch(call, *this, operands));
}

}  // namespace tensord::onednn
