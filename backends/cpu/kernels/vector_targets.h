#ifndef TENSORD_BACKENDS_CPU_KERNELS_VECTOR_TARGETS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_VECTOR_TARGETS_H_

// Compiling the same loops for several instruction sets, of which the machine
// gets the best at run time.
//
//   TENSORD_BEGIN_AVX2
//   namespace avx2 {
//   #include "backends/cpu/kernels/loops.inc"
//   }
//   TENSORD_END_TARGET
//
// and so on, in `any_machine` for every machine, in `avx512` for AVX-512; then
// TENSORD_FOR_THIS_MACHINE(Name) points to the Name of the best of them.
//
// What the loops call must be inlined into them: a template or lambda of the
// region itself, or a function that is always inlined. A lambda made outside is
// compiled for every machine, and called for each element.
//
// The build stays that for every x86-64, so these are regions rather than
// options for a file, where inline functions of the standard library, compiled
// for AVX-512, could come to be everybody's.

#if defined(__x86_64__)
#define TENSORD_HAVE_VECTOR_TARGETS 1
// clang-format off: the operand of _Pragma is one literal.
#if defined(__clang__)
#define TENSORD_BEGIN_AVX2 \
  _Pragma("clang attribute push(__attribute__((target(\"avx2,fma\"))), apply_to = function)")
#define TENSORD_BEGIN_AVX512 \
  _Pragma("clang attribute push(__attribute__((target(\"avx512f,avx512bw,avx512dq,avx512vl,avx2,fma\"))), apply_to = function)")
#define TENSORD_END_TARGET _Pragma("clang attribute pop")
#else
#define TENSORD_BEGIN_AVX2 \
  _Pragma("GCC push_options") _Pragma("GCC target(\"avx2,fma\")")
#define TENSORD_BEGIN_AVX512 \
  _Pragma("GCC push_options") \
  _Pragma("GCC target(\"avx512f,avx512bw,avx512dq,avx512vl,fma,prefer-vector-width=512\")")
#define TENSORD_END_TARGET _Pragma("GCC pop_options")
#endif
// clang-format on
#else
#define TENSORD_HAVE_VECTOR_TARGETS 0
#endif

// Before a loop whose result may be the very array of an operand, which the
// compiler's own check takes for an overlap that forbids vectors.
#if defined(__GNUC__) && !defined(__clang__)
#define TENSORD_INDEPENDENT _Pragma("GCC ivdep")
#else
#define TENSORD_INDEPENDENT
#endif

namespace tensord {

enum class VectorTarget { kAny, kAvx2, kAvx512 };

// Asked of the processor rather than left to target_clones, whose resolvers run
// before a sanitizer is ready.
inline VectorTarget ThisVectorTarget() {
#if TENSORD_HAVE_VECTOR_TARGETS
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return VectorTarget::kAvx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return VectorTarget::kAvx2;
  }
#endif
  return VectorTarget::kAny;
}

// The one for this machine.
template <typename T>
T ChooseVectorTarget(T any_machine, T avx2, T avx512) {
  switch (ThisVectorTarget()) {
    case VectorTarget::kAvx512:
      return avx512;
    case VectorTarget::kAvx2:
      return avx2;
    case VectorTarget::kAny:
      break;
  }
  return any_machine;
}

#if TENSORD_HAVE_VECTOR_TARGETS
#define TENSORD_FOR_THIS_MACHINE(...)                                          \
  ::tensord::ChooseVectorTarget(&any_machine::__VA_ARGS__, &avx2::__VA_ARGS__, \
                                &avx512::__VA_ARGS__)
#else
#define TENSORD_FOR_THIS_MACHINE(...) (&any_machine::__VA_ARGS__)
#endif

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_VECTOR_TARGETS_H_
