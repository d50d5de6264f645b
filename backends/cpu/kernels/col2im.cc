// Col2Im.
//
//   y[n, c, l * stride + k * dilation - pad] += x[n, (c, k), l]
//
// for every place k in a block and every block l, in each dimension of the
// image, where that lies inside the image. x is contiguous [batch, channels *
// elements of a block, blocks], y [batch, channels, image...] and another
// buffer; the block's shape is input 2, the image's is y's own. Accumulates in
// the elements' own type, or float32 for 16-bit floats, in a workspace of y's
// shape. One task is one channel, so the order of the sums is always the same.

#include <algorithm>
#include <array>
#include <cstdint>

#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"

namespace tensord {
namespace {

struct Dimension {
  int64_t image;
  int64_t block;
  int64_t blocks;
  int64_t dilation;
  int64_t stride;
  int64_t pad;
};

using Dimensions = std::array<Dimension, kMaxRank>;

int Resolve(const KernelCall& call, Dimensions& dimensions) {
  const auto& params = std::get<Col2ImParams>(call.params);
  const Shape& y = call.output_layout(0).shape;
  const int rank = y.rank() - 2;
  for (int d = 0; d < rank; ++d) {
    Dimension& dimension = dimensions[d];
    dimension.image = y[d + 2];
    dimension.block = call.input<int64_t>(2)[d];
    dimension.dilation = params.dilations.empty() ? 1 : params.dilations[d];
    dimension.stride = params.strides.empty() ? 1 : params.strides[d];
    dimension.pad = params.pads.empty() ? 0 : params.pads[d];
    const int64_t end = params.pads.empty() ? 0 : params.pads[d + rank];
    dimension.blocks = (dimension.image + dimension.pad + end -
                        dimension.dilation * (dimension.block - 1) - 1) /
                           dimension.stride +
                       1;
  }
  return rank;
}

// Where in the image element k of block l lies; -1 outside.
int64_t PlaceOf(const Dimensions& dimensions, int rank, int64_t k, int64_t l) {
  int64_t place = 0;
  int64_t stride = 1;
  for (int d = rank - 1; d >= 0; --d) {
    const Dimension& dimension = dimensions[d];
    const int64_t at = l % dimension.blocks * dimension.stride +
                       k % dimension.block * dimension.dilation - dimension.pad;
    if (at < 0 || at >= dimension.image) return -1;
    place += at * stride;
    stride *= dimension.image;
    k /= dimension.block;
    l /= dimension.blocks;
  }
  return place;
}

}  // namespace

uint64_t Col2ImWorkspaceBytes(const NodeSite& site) {
  const DType dtype = site.input_dtype(0);
  if (dtype != DType::kFloat16 && dtype != DType::kBFloat16) return 0;
  return static_cast<uint64_t>(site.output(0).shape.element_count()) *
         sizeof(float);
}

template <typename T>
absl::Status RunCol2Im(const KernelCall& call) {
  const Shape& y_shape = call.output_layout(0).shape;
  if (y_shape.element_count() == 0) return absl::OkStatus();
  Dimensions dimensions;
  const int rank = Resolve(call, dimensions);
  const int64_t pixels = y_shape.ElementCount(2, y_shape.rank());
  const int64_t blocks = call.input_layout(0).shape[2];
  int64_t block_elements = 1;
  for (int d = 0; d < rank; ++d) block_elements *= dimensions[d].block;
  const T* x = call.input<T>(0);
  T* y = call.output<T>(0);
  using Sum = ComputeType<T>;
  Sum* sums;
  if constexpr (kIsFloat16<T>) {
    sums = reinterpret_cast<Sum*>(call.context.workspace.address());
  } else {
    sums = y;
  }
  call.context.workers->ParallelFor(
      y_shape.ElementCount(0, 2), 1, [&](int64_t begin, int64_t end) {
        for (int64_t channel = begin; channel < end; ++channel) {
          const T* columns = x + channel * block_elements * blocks;
          Sum* image = sums + channel * pixels;
          std::fill_n(image, pixels, Sum{0});
          for (int64_t k = 0; k < block_elements; ++k) {
            for (int64_t l = 0; l < blocks; ++l) {
              const int64_t place = PlaceOf(dimensions, rank, k, l);
              if (place >= 0) image[place] += columns[k * blocks + l];
            }
          }
          if constexpr (kIsFloat16<T>) {
            std::copy_n(image, pixels, y + channel * pixels);
          }
        }
      });
  return absl::OkStatus();
}

template absl::Status RunCol2Im<float>(const KernelCall&);
template absl::Status RunCol2Im<double>(const KernelCall&);
template absl::Status RunCol2Im<Float16>(const KernelCall&);
template absl::Status RunCol2Im<BFloat16>(const KernelCall&);

}  // namespace tensord
