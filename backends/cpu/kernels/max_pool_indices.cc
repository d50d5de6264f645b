// MaxPool with its second output: where in x each maximum was.
//
//   y[p, o] = max over the window of o, as in pool.cc
//   indices[p, o] = its place in x seen as one line; the first of equal ones
//
// x, y and indices are contiguous [N, C, spatial...]; y, which may be absent,
// and indices (int64) are other buffers than x. Within a plane the place is
// counted with the last spatial dimension fastest, or with column-major storage
// with the first. NaNs are left out. A window of padding alone has the least
// value and the index -1.

#include <array>
#include <cstdint>

#include "backends/api/float16.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/pool_windows.h"

namespace tensord {
namespace {

// The place of an element in a plane that is counted with the first dimension
// fastest, from the one counted with the last.
int64_t ColumnMajor(const pool::Axes& axes, int64_t offset) {
  const int64_t w = offset % axes[2].input;
  const int64_t h = offset / axes[2].input % axes[1].input;
  const int64_t d = offset / axes[2].input / axes[1].input;
  return d + axes[0].input * (h + axes[1].input * w);
}

}  // namespace

// The row's dtypes also match a node that has no second output.
absl::Status AcceptsMaxPoolIndices(const NodeSite& site) {
  const int outputs = static_cast<int>(site.dtypes.size()) - site.input_count;
  if (outputs < 2 || site.output_dtype(1) == DType::kUndefined) {
    return absl::FailedPreconditionError("nobody asks for indices");
  }
  if (site.layouts.empty()) return absl::OkStatus();
  return pool::CheckSpatialRank(site.input(0).shape);
}

template <typename T>
absl::Status RunMaxPoolIndices(const KernelCall& call) {
  using C = ComputeType<T>;
  const PoolParams& params = std::get<PoolParams>(call.params);
  // With both outputs' shapes being one, either tells it.
  const Shape& shape = call.output_layout(1).shape;
  const pool::Axes axes =
      pool::Resolve(params, call.input_layout(0).shape, shape);
  const int64_t inputs = pool::InputCount(axes);
  const T* x = call.input<T>(0);
  T* y = call.outputs[0].is_present() ? call.output<T>(0) : nullptr;
  int64_t* indices = call.output<int64_t>(1);
  pool::ForOutputs(
      *call.context.workers, shape[0] * shape[1], axes,
      [&](int64_t plane, int64_t output, const pool::Ranges& ranges,
          const std::array<int64_t, 3>&) {
        C maximum = pool::Least<C>();
        int64_t place = -1;
        pool::ForWindow(axes, ranges, [&](int64_t offset) {
          const C element = x[plane * inputs + offset];
          // The first is taken even where it is the least value there is.
          if (place < 0 || element > maximum) {
            if (element > maximum) maximum = element;
            place = offset;
          }
        });
        if (y != nullptr) y[output] = static_cast<T>(maximum);
        if (place >= 0) {
          place = plane * inputs + (params.indices_are_column_major
                                        ? ColumnMajor(axes, place)
                                        : place);
        }
        indices[output] = place;
      });
  return absl::OkStatus();
}

template absl::Status RunMaxPoolIndices<float>(const KernelCall&);
template absl::Status RunMaxPoolIndices<double>(const KernelCall&);
template absl::Status RunMaxPoolIndices<Float16>(const KernelCall&);
template absl::Status RunMaxPoolIndices<BFloat16>(const KernelCall&);
template absl::Status RunMaxPoolIndices<int8_t>(const KernelCall&);
template absl::Status RunMaxPoolIndices<uint8_t>(const KernelCall&);

}  // namespace tensord
