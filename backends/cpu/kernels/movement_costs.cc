#include "backends/cpu/kernels/movement_costs.h"

#include <cstdint>

namespace tensord {
namespace {

double BytesOf(const NodeSite& site, int operand) {
  return static_cast<double>(ByteSize(
      site.dtypes[operand], site.layouts[operand].shape.element_count()));
}

// Input 0 and output 0.
double MovedBytes(const NodeSite& site) {
  return BytesOf(site, 0) + BytesOf(site, site.input_count);
}

// The elements of y that lie side by side in x too, where y is a part of x: the
// last dimensions as far as they are whole, and the one before.
int64_t RunElements(const Shape& x, const Shape& y) {
  int64_t elements = 1;
  for (int d = y.rank() - 1; d >= 0; --d) {
    elements *= y[d];
    if (x[d] != y[d]) break;
  }
  return elements;
}

}  // namespace

KernelCost ConcatCost(const NodeSite& site) {
  constexpr double kRunFlops = 1100;  // 4 ns
  const Shape& y = site.output(0).shape;
  const int64_t axis = std::get<AxisParams>(site.params).axis;
  const double rows = static_cast<double>(
      y.ElementCount(0, static_cast<int>(axis < 0 ? axis + y.rank() : axis)));
  return {.flops = kRunFlops * rows * site.input_count,
          .bytes = 2 * BytesOf(site, site.input_count)};
}

KernelCost SliceCost(const NodeSite& site) {
  constexpr double kRunFlops = 700;  // 3 ns
  const Shape& y = site.output(0).shape;
  const double elements = static_cast<double>(y.element_count());
  if (elements == 0) return {};
  return {.flops = kRunFlops * elements /
                   static_cast<double>(RunElements(site.input(0).shape, y)),
          .bytes = 2 * BytesOf(site, site.input_count)};
}

KernelCost TransposeCost(const NodeSite& site) {
  return {.flops = static_cast<double>(site.output(0).shape.element_count()),
          .bytes = MovedBytes(site),
          .efficiency = 0.0165};
}

KernelCost GlobalPoolCost(const NodeSite& site) {
  return {.flops = static_cast<double>(site.input(0).shape.element_count()),
          .bytes = MovedBytes(site),
          .efficiency = 0.035};
}

}  // namespace tensord
