#ifndef TENSORD_BACKENDS_CPU_ONEDNN_CONV_SITE_H_
#define TENSORD_BACKENDS_CPU_ONEDNN_CONV_SITE_H_

#include "backends/api/kernel.h"
#include "backends/cpu/kernels/conv_geometry.h"

// What the convolutions here read off a node.
namespace tensord::onednn {

// The extents with the channels in the second dimension.
inline Shape ChannelsFirst(const Shape& shape, bool is_channels_last) {
  if (!is_channels_last) return shape;
  Dims extents = {shape[0], shape[shape.rank() - 1]};
  for (int i = 1; i < shape.rank() - 1; ++i) extents.push_back(shape[i]);
  // The same extents in another order.
  return Shape::Create(extents).value();
}

inline conv::Geometry ConvGeometryOf(const ConvParams& params, const Shape& x,
                                     const Shape& w, const Shape& y) {
  return conv::Resolve(params, ChannelsFirst(x, params.channels_last), w,
                       ChannelsFirst(y, params.channels_last));
}

inline conv::Geometry ConvGeometryOf(const NodeSite& site) {
  return ConvGeometryOf(std::get<ConvParams>(site.params), site.input(0).shape,
                        site.input(1).shape, site.output(0).shape);
}

}  // namespace tensord::onednn

#endif  // TENSORD_BACKENDS_CPU_ONEDNN_CONV_SITE_H_
