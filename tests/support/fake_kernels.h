#ifndef TENSORD_TESTS_SUPPORT_FAKE_KERNELS_H_
#define TENSORD_TESTS_SUPPORT_FAKE_KERNELS_H_

#include "absl/types/span.h"
#include "backends/api/kernel.h"

namespace tensord {

// The fake backend's table: few operators, each there for something that the
// engine must do.
//
//   Add, Mul      f32, broadcast, strided inputs, in place; prepared
//   MatMul        f32, rank 2; prepared; needs workspace (a row of y)
//   Relu          f32; two siblings, of which the first takes only multiples of
//                 4 elements
//   Identity      any dtype of whole bytes, dense
//   NonZero       f32 and bool; data-dependent: writes one extent cell
//
// Constant data.
absl::Span<const KernelEntry> FakeKernels();

}  // namespace tensord

#endif  // TENSORD_TESTS_SUPPORT_FAKE_KERNELS_H_
