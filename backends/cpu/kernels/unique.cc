// Unique along an axis, or of all elements without one.
//
// x is contiguous, seen as [outer, extent along the axis, inner]; a slice is
// what one index of the axis holds. The outputs are
//   y               the slices that differ, in ascending order (by their first
//                   element, then the second, ...) or in that of their first
//                   occurrence
//   indices[u]      where y's slice u occurs first
//   inverses[c]     which of y's slices x's slice c is
//   counts[u]       how often y's slice u occurs
// written densely for their real extents, which go to the extent cells; each
// but y may be absent. A NaN equals any other and is greater than any number,
// as in numpy; -0.0 equals 0.0, and the first occurrence is kept.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <type_traits>

#include "backends/api/axis_view.h"
#include "backends/api/float16.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/extent_cells.h"

namespace tensord {
namespace {

// -1, 0 or 1: a total order of elements.
template <typename T>
int Compare(T a, T b) {
  if (a < b) return -1;
  if (b < a) return 1;
  if constexpr (kIsFloat<T>) {
    return static_cast<int>(a != a) - static_cast<int>(b != b);
  }
  return 0;
}

template <typename T>
class Slices {
 public:
  Slices(const T* x, const AxisView& view) : x_(x), view_(view) {}

  int CompareSlices(int64_t a, int64_t b) const {
    for (int64_t o = 0; o < view_.outer; ++o) {
      const T* plane = x_ + o * view_.extent * view_.inner;
      for (int64_t i = 0; i < view_.inner; ++i) {
        const int order =
            Compare(plane[a * view_.inner + i], plane[b * view_.inner + i]);
        if (order != 0) return order;
      }
    }
    return 0;
  }

 private:
  const T* x_;
  AxisView view_;
};

AxisView ViewOf(const Shape& shape, const UniqueParams& params) {
  return params.axis.has_value() ? AxisView(shape, *params.axis)
                                 : AxisView::Flat(shape.element_count());
}

// The workspace: four lists with an entry for each slice of x.
struct Lists {
  int64_t* order;   // x's slices, ascending, equals by their place
  int64_t* firsts;  // by group of equals, in that order: the first of them
  int64_t* groups;  // by slice of x: its group
  int64_t* places;  // by group: its place in y

  Lists(std::byte* memory, int64_t n) {
    order = reinterpret_cast<int64_t*>(memory);
    firsts = order + n;
    groups = firsts + n;
    places = groups + n;
  }
};

// The number of groups.
template <typename T>
int64_t Group(const Slices<T>& slices, int64_t n, const Lists& lists) {
  std::iota(lists.order, lists.order + n, int64_t{0});
  std::sort(lists.order, lists.order + n, [&](int64_t a, int64_t b) {
    const int order = slices.CompareSlices(a, b);
    return order != 0 ? order < 0 : a < b;
  });
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t slice = lists.order[i];
    if (i == 0 || slices.CompareSlices(lists.order[i - 1], slice) != 0) {
      lists.firsts[count++] = slice;
    }
    lists.groups[slice] = count - 1;
  }
  return count;
}

// Fills places, with `order` as scratch.
void Place(bool is_sorted, int64_t count, const Lists& lists) {
  std::iota(lists.order, lists.order + count, int64_t{0});
  if (!is_sorted) {
    std::sort(lists.order, lists.order + count, [&](int64_t a, int64_t b) {
      return lists.firsts[a] < lists.firsts[b];
    });
  }
  for (int64_t u = 0; u < count; ++u) lists.places[lists.order[u]] = u;
}

}  // namespace

uint64_t UniqueWorkspaceBytes(const NodeSite& site) {
  const AxisView view =
      ViewOf(site.input(0).shape, std::get<UniqueParams>(site.params));
  return 4 * static_cast<uint64_t>(view.extent) * sizeof(int64_t);
}

template <typename T>
absl::Status RunUnique(const KernelCall& call) {
  const auto& params = std::get<UniqueParams>(call.params);
  const Shape& shape = call.input_layout(0).shape;
  const AxisView view = ViewOf(shape, params);
  const int64_t n = view.extent;
  const T* x = call.input<T>(0);
  const Lists lists(n == 0 ? nullptr : call.context.workspace.address(), n);
  const int64_t count = Group(Slices<T>(x, view), n, lists);
  Place(params.is_sorted, count, lists);

  Dims extents = {count};
  if (params.axis.has_value()) {
    extents.assign(shape.extents().begin(), shape.extents().end());
    extents[*params.axis < 0 ? *params.axis + shape.rank() : *params.axis] =
        count;
  }
  const auto list = [&](size_t i) -> int64_t* {
    const bool is_present =
        i < call.outputs.size() && call.outputs[i].is_present();
    return is_present ? call.output<int64_t>(static_cast<int>(i)) : nullptr;
  };
  int64_t* indices = list(1);
  int64_t* inverses = list(2);
  int64_t* counts = list(3);
  ExtentCells cells(call.context);
  if (call.outputs[0].is_present()) cells.Write(extents);
  if (indices != nullptr) cells.Write({count});
  if (inverses != nullptr) cells.Write({n});
  if (counts != nullptr) cells.Write({count});

  if (counts != nullptr) std::fill_n(counts, count, 0);
  for (int64_t c = 0; c < n; ++c) {
    const int64_t place = lists.places[lists.groups[c]];
    if (inverses != nullptr) inverses[c] = place;
    if (counts != nullptr) ++counts[place];
  }
  T* y = call.outputs[0].is_present() ? call.output<T>(0) : nullptr;
  for (int64_t group = 0; group < count; ++group) {
    const int64_t place = lists.places[group];
    const int64_t first = lists.firsts[group];
    if (indices != nullptr) indices[place] = first;
    for (int64_t o = 0; y != nullptr && o < view.outer; ++o) {
      std::copy_n(x + (o * n + first) * view.inner, view.inner,
                  y + (o * count + place) * view.inner);
    }
  }
  return absl::OkStatus();
}

template absl::Status RunUnique<float>(const KernelCall&);
template absl::Status RunUnique<double>(const KernelCall&);
template absl::Status RunUnique<Float16>(const KernelCall&);
template absl::Status RunUnique<int8_t>(const KernelCall&);
template absl::Status RunUnique<int16_t>(const KernelCall&);
template absl::Status RunUnique<int32_t>(const KernelCall&);
template absl::Status RunUnique<int64_t>(const KernelCall&);
template absl::Status RunUnique<uint8_t>(const KernelCall&);
template absl::Status RunUnique<uint16_t>(const KernelCall&);
template absl::Status RunUnique<uint32_t>(const KernelCall&);
template absl::Status RunUnique<uint64_t>(const KernelCall&);

}  // namespace tensord
