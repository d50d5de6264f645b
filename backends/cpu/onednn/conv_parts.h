#ifndef TENSORD_BACKENDS_CPU_ONEDNN_CONV_PARTS_H_
#define TENSORD_BACKENDS_CPU_ONEDNN_CONV_PARTS_H_

#include <algorithm>
#include <cstdint>

#include "backends/api/conv_geometry.h"
#include "backends/api/kernel.h"
#include "backends/cpu/onednn/split.h"

// A convolution cut into smaller ones: some images each, or some rows of one
// image, and some of the output channels.
//
// Rows are those of the first spatial dimension that is not 1 long, so that
// channels-last, rows that follow each other are one piece of memory.
namespace tensord::onednn {

inline conv::Geometry ConvGeometryOf(const NodeSite& site) {
  return conv::Resolve(std::get<ConvParams>(site.params), site.input(0).shape,
                       site.input(1).shape, site.output(0).shape);
}

// What one of the smaller convolutions looks like; those that look the same
// share a primitive.
struct ConvForm {
  int64_t images = 1;
  int64_t channels = 0;  // of the output, in all groups
  // Of the dimension that is cut: rows of the input and the output, and the
  // padding around the former.
  int64_t inputs = 0, outputs = 0;
  int64_t pad_begin = 0, pad_end = 0;
  // Of the output, where channels differ in more than their weights and bias;
  // else 0.
  int64_t first_channel = 0;

  friend bool operator==(const ConvForm& a, const ConvForm& b) {
    return a.images == b.images && a.channels == b.channels &&
           a.inputs == b.inputs && a.outputs == b.outputs &&
           a.pad_begin == b.pad_begin && a.pad_end == b.pad_end &&
           a.first_channel == b.first_channel;
  }
};

struct ConvPart {
  ConvForm form;
  int64_t image = 0;
  int64_t input = 0, output = 0;  // first rows
  int64_t channel = 0;            // first of the output
};

class ConvParts {
 public:
  // `part_flops`: what is worth a part of its own (split.h).
  explicit ConvParts(const conv::Geometry& geometry,
                     double part_flops = kPartFlops,
                     bool tells_channels_apart = false)
      : geometry_(geometry), tells_channels_apart_(tells_channels_apart) {
    while (axis_ < conv::kMaxSpatialRank - 1 && axis().input == 1 &&
           axis().output == 1) {
      ++axis_;
    }
    const double flops = 2.0 * geometry.images * Channels() *
                         geometry.outputs() * geometry.depth();
    const int64_t wanted = PartCount(flops, part_flops);
    images_ = Split::About(geometry.images, wanted, 1);
    rows_ = {axis().output, axis().output};
    if (images_.size == 1 && wanted > images_.count()) {
      rows_ = Split::About(
          axis().output,
          std::min((wanted + images_.count() - 1) / images_.count(),
                   geometry.outputs() / MinOutputs()),
          1);
    }
    channels_ = {Channels(), Channels()};
    if (geometry.groups == 1) {
      channels_ = Split::About(
          Channels(), FurtherParts(wanted, images_.count() * rows_.count()),
          kChannelMultiple);
    }
  }

  int64_t count() const {
    return images_.count() * rows_.count() * channels_.count();
  }

  // Neighbours share rows of the input.
  ConvPart part(int64_t index) const {
    const int64_t c = index % channels_.count();
    index /= channels_.count();
    const int64_t row = index % rows_.count();
    const int64_t image = index / rows_.count();
    const WindowAxis& window = axis().window;
    const int64_t output = rows_.begin(row);
    const int64_t outputs = rows_.length(row);
    // Of the first and past the last row that the windows see.
    const int64_t first = output * window.stride - window.pad_begin;
    const int64_t last = (output + outputs - 1) * window.stride -
                         window.pad_begin + window.span();
    int64_t begin = std::clamp<int64_t>(first, 0, axis().input);
    int64_t end = std::clamp<int64_t>(last, begin, axis().input);
    if (rows_.count() == 1) {
      // Whole images lie behind each other, with the rows that no window sees:
      // fewer than a stride.
      begin = 0;
      end = axis().input;
    }
    return {.form = {.images = images_.length(image),
                     .channels = channels_.length(c),
                     .inputs = end - begin,
                     .outputs = outputs,
                     .pad_begin = begin - first,
                     .pad_end = last - end,
                     .first_channel =
                         tells_channels_apart_ ? channels_.begin(c) : 0},
            .image = images_.begin(image),
            .input = begin,
            .output = output,
            .channel = channels_.begin(c)};
  }

  // Whether a part has all output channels.
  bool is_whole_pixels() const { return channels_.count() == 1; }
  const Split& channels() const { return channels_; }

  // The spatial dimension that is cut.
  int axis_index() const { return axis_; }
  const conv::Axis& axis() const { return geometry_.axes[axis_]; }

 private:
  static constexpr int64_t kChannelMultiple = 64;
  // As of the rows of a product: each part reads all weights.
  static constexpr int64_t kResidentElements = 256 * 1024;
  static constexpr int64_t kMinOutputsOfLargeWeights = 64;

  int64_t Channels() const { return geometry_.groups * geometry_.rows; }
  int64_t MinOutputs() const {
    return Channels() * geometry_.depth() > kResidentElements
               ? kMinOutputsOfLargeWeights
               : 1;
  }

  conv::Geometry geometry_;
  bool tells_channels_apart_ = false;
  int axis_ = 0;
  Split images_;
  Split rows_;
  Split channels_;
};

}  // namespace tensord::onednn

#endif  // TENSORD_BACKENDS_CPU_ONEDNN_CONV_PARTS_H_
