// TopK along an axis.
//
//   y[o, j, i] = the j-th greatest (least) of x[o, c, i] over c
//   indices[o, j, i] = its c
//
// Every operand is contiguous, seen as [outer, extent along the axis, inner];
// no output is x's buffer. Of equal elements the one with the lower c comes
// first; a NaN is greater than any number, as in numpy. A k that is computed
// goes to the extent cells, and the outputs are dense for it.

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/api/axis_view.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/extent_cells.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 8 * 1024;

template <typename T>
bool IsNan(T x) {
  if constexpr (kIsFloat<T>) return x != x;
  return false;
}

// The k best of one line of x, as a heap of their indices whose root is the
// worst. It is kept where the indices go in the end, so no memory is needed.
template <typename T>
class BestIndices {
 public:
  BestIndices(const T* line, int64_t* indices, int64_t stride, int64_t k,
              bool takes_largest)
      : line_(line),
        indices_(indices),
        stride_(stride),
        k_(k),
        takes_largest_(takes_largest) {}

  void Offer(int64_t c) {
    if (size_ < k_) {
      At(size_) = c;
      SiftUp(size_++);
    } else if (ComesFirst(c, At(0))) {
      At(0) = c;
      SiftDown(0, k_);
    }
  }

  // The best first.
  void Sort() {
    for (int64_t end = size_ - 1; end > 0; --end) {
      std::swap(At(0), At(end));
      SiftDown(0, end);
    }
  }

 private:
  int64_t& At(int64_t j) const { return indices_[j * stride_]; }

  bool ComesFirst(int64_t a, int64_t b) const {
    const T x = line_[a * stride_];
    const T y = line_[b * stride_];
    if (IsNan(x) || IsNan(y)) {
      if (IsNan(x) && IsNan(y)) return a < b;
      return IsNan(x) == takes_largest_;
    }
    if (x == y) return a < b;
    return (x > y) == takes_largest_;
  }

  void SiftUp(int64_t j) {
    while (j > 0) {
      const int64_t parent = (j - 1) / 2;
      if (!ComesFirst(At(parent), At(j))) return;
      std::swap(At(parent), At(j));
      j = parent;
    }
  }

  void SiftDown(int64_t j, int64_t end) {
    while (true) {
      int64_t child = 2 * j + 1;
      if (child >= end) return;
      if (child + 1 < end && ComesFirst(At(child), At(child + 1))) ++child;
      if (!ComesFirst(At(j), At(child))) return;
      std::swap(At(j), At(child));
      j = child;
    }
  }

  const T* line_;
  int64_t* indices_;
  int64_t stride_;
  int64_t k_;
  int64_t size_ = 0;
  bool takes_largest_;
};

bool HasIndices(const KernelCall& call) {
  return call.outputs.size() > 1 && call.outputs[1].is_present();
}

}  // namespace

// A place for the indices where nobody wants them.
uint64_t TopKWorkspaceBytes(const NodeSite& site) {
  const int outputs = static_cast<int>(site.dtypes.size()) - site.input_count;
  if (outputs > 1 && site.output_dtype(1) != DType::kUndefined) return 0;
  return site.output(0).shape.element_count() * sizeof(int64_t);
}

template <typename T>
absl::Status RunTopK(const KernelCall& call) {
  const auto& params = std::get<TopKParams>(call.params);
  const Shape& shape = call.input_layout(0).shape;
  const AxisView view(shape, params.axis);
  const int64_t k = *call.input<int64_t>(1);
  if (k < 0 || k > view.extent) {
    return absl::InvalidArgumentError(
        absl::StrCat("k is ", k, " of ", view.extent, " elements"));
  }
  Dims extents(shape.extents().begin(), shape.extents().end());
  extents[params.axis < 0 ? params.axis + shape.rank() : params.axis] = k;
  ExtentCells cells(call.context);
  const bool has_values = call.outputs[0].is_present();
  if (has_values) cells.Write(extents);
  if (HasIndices(call)) cells.Write(extents);
  if (k == 0 || shape.element_count() == 0) return absl::OkStatus();

  const T* x = call.input<T>(0);
  T* y = has_values ? call.output<T>(0) : nullptr;
  int64_t* indices =
      HasIndices(call)
          ? call.output<int64_t>(1)
          : reinterpret_cast<int64_t*>(call.context.workspace.address());
  // One task is a line along the axis.
  call.context.workers->ParallelFor(
      view.outer * view.inner, kGrainElements / view.extent + 1,
      [&](int64_t begin, int64_t end) {
        for (int64_t line = begin; line < end; ++line) {
          const int64_t outer = line / view.inner;
          const int64_t inner = line % view.inner;
          const T* from = x + outer * view.extent * view.inner + inner;
          const int64_t to = outer * k * view.inner + inner;
          BestIndices<T> best(from, indices + to, view.inner, k,
                              params.takes_largest);
          for (int64_t c = 0; c < view.extent; ++c) best.Offer(c);
          best.Sort();
          for (int64_t j = 0; has_values && j < k; ++j) {
            const int64_t at = to + j * view.inner;
            y[at] = from[indices[at] * view.inner];
          }
        }
      });
  return absl::OkStatus();
}

template absl::Status RunTopK<float>(const KernelCall&);
template absl::Status RunTopK<double>(const KernelCall&);
template absl::Status RunTopK<Float16>(const KernelCall&);
template absl::Status RunTopK<BFloat16>(const KernelCall&);
template absl::Status RunTopK<int8_t>(const KernelCall&);
template absl::Status RunTopK<int16_t>(const KernelCall&);
template absl::Status RunTopK<int32_t>(const KernelCall&);
template absl::Status RunTopK<int64_t>(const KernelCall&);
template absl::Status RunTopK<uint8_t>(const KernelCall&);
template absl::Status RunTopK<uint16_t>(const KernelCall&);
template absl::Status RunTopK<uint32_t>(const KernelCall&);
template absl::Status RunTopK<uint64_t>(const KernelCall&);

}  // namespace tensord
