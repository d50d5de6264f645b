#ifndef TENSORD_TESTS_BACKENDS_CPU_KERNELS_BROADCASTING_H_
#define TENSORD_TESTS_BACKENDS_CPU_KERNELS_BROADCASTING_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "tests/support/tensor.h"

namespace tensord {

// The definition of broadcasting, by indices: element `flat` of the shape y, as
// a tensor that broadcasts to y has it.
inline double BroadcastAt(const TestTensor& tensor, const Shape& y,
                          int64_t flat) {
  int64_t index = 0;
  int64_t stride = 1;
  for (int i = 1; i <= y.rank(); ++i) {
    const int64_t position = flat % y[y.rank() - i];
    flat /= y[y.rank() - i];
    if (i > tensor.shape.rank()) continue;
    const int64_t extent = tensor.shape[tensor.shape.rank() - i];
    if (extent != 1) index += position * stride;
    stride *= extent;
  }
  return tensor.At(index);
}

// f of each pair of elements.
inline std::vector<double> MapBroadcast(
    const TestTensor& a, const TestTensor& b, const Shape& y,
    const std::function<double(double, double)>& f) {
  std::vector<double> values;
  for (int64_t i = 0; i < y.element_count(); ++i) {
    values.push_back(f(BroadcastAt(a, y, i), BroadcastAt(b, y, i)));
  }
  return values;
}

struct Broadcast {
  Shape a, b, y;
};

// Several ranges of work: worth the time for one dtype of each operator.
inline bool IsLarge(const Shape& y) { return y.element_count() > 10000; }

inline const Broadcast kBroadcasts[] = {
    {{}, {}, {}},
    {{0}, {1}, {0}},
    {{1, 0}, {3, 1}, {3, 0}},
    {{17}, {17}, {17}},
    {{17}, {}, {17}},
    {{}, {17}, {17}},
    {{2, 3}, {3}, {2, 3}},
    {{2, 1}, {3}, {2, 3}},
    {{2, 3, 4}, {3, 1}, {2, 3, 4}},
    {{3, 1}, {2, 3, 4}, {2, 3, 4}},
    {{2, 1, 4, 1}, {1, 3, 1, 5}, {2, 3, 4, 5}},
    {{2, 3, 1, 1}, {2, 3, 4, 5}, {2, 3, 4, 5}},
    {{1, 1}, {1}, {1, 1}},
    {{8, 4200}, {8, 1}, {8, 4200}},
};

}  // namespace tensord

#endif  // TENSORD_TESTS_BACKENDS_CPU_KERNELS_BROADCASTING_H_
