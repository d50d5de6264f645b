#ifndef TENSORD_BACKENDS_CPU_KERNELS_INSTANTIATE_H_
#define TENSORD_BACKENDS_CPU_KERNELS_INSTANTIATE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "backends/api/float16.h"
#include "backends/api/kernel.h"

// Instantiations of a kernel template, for the end of its file:
// TENSORD_INSTANTIATE_FLOATS(RunExp) makes RunExp<float> and so on. The sets
// are those of the rows in kernel_table.cc: ALL_FLOATS, ALL_SIGNED,
// ALL_NUMBERS.
#define TENSORD_INSTANTIATE(Run, T) \
  template absl::Status Run<T>(const KernelCall&)

#define TENSORD_INSTANTIATE_FLOATS(Run) \
  TENSORD_INSTANTIATE(Run, float);      \
  TENSORD_INSTANTIATE(Run, double);     \
  TENSORD_INSTANTIATE(Run, Float16);    \
  TENSORD_INSTANTIATE(Run, BFloat16)

#define TENSORD_INSTANTIATE_SIGNED_INTEGERS(Run) \
  TENSORD_INSTANTIATE(Run, int8_t);              \
  TENSORD_INSTANTIATE(Run, int16_t);             \
  TENSORD_INSTANTIATE(Run, int32_t);             \
  TENSORD_INSTANTIATE(Run, int64_t)

#define TENSORD_INSTANTIATE_INTEGERS(Run)   \
  TENSORD_INSTANTIATE_SIGNED_INTEGERS(Run); \
  TENSORD_INSTANTIATE(Run, uint8_t);        \
  TENSORD_INSTANTIATE(Run, uint16_t);       \
  TENSORD_INSTANTIATE(Run, uint32_t);       \
  TENSORD_INSTANTIATE(Run, uint64_t)

#define TENSORD_INSTANTIATE_SIGNED(Run) \
  TENSORD_INSTANTIATE_FLOATS(Run);      \
  TENSORD_INSTANTIATE_SIGNED_INTEGERS(Run)

#define TENSORD_INSTANTIATE_NUMBERS(Run) \
  TENSORD_INSTANTIATE_FLOATS(Run);       \
  TENSORD_INSTANTIATE_INTEGERS(Run)

#endif  // TENSORD_BACKENDS_CPU_KERNELS_INSTANTIATE_H_
