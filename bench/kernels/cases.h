#ifndef TENSORD_BENCH_KERNELS_CASES_H_
#define TENSORD_BENCH_KERNELS_CASES_H_

#include <string>
#include <vector>

#include "backends/api/kernel.h"

namespace tensord {

// One node to time kernels on.
struct KernelCase {
  struct Operand {
    Shape shape;
    DType dtype = DType::kFloat32;  // kUndefined: absent
    bool is_constant = false;
    float low = -1, high = 1;  // of a float32's elements
  };

  std::string name;
  OpKind op;
  OpParams params = NoParams{};
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
};

// Layers of the nets that tensord is measured by, and the shapes that libraries
// are usually compared on.
std::vector<KernelCase> KernelCases();

}  // namespace tensord

#endif  // TENSORD_BENCH_KERNELS_CASES_H_
