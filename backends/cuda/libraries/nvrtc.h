#ifndef TENSORD_BACKENDS_CUDA_LIBRARIES_NVRTC_H_
#define TENSORD_BACKENDS_CUDA_LIBRARIES_NVRTC_H_

#include <nvrtc.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tensord::cuda {

// clang-format off
#define TENSORD_NVRTC_FUNCTIONS(X) \
  X(nvrtcCompileProgram)           \
  X(nvrtcCreateProgram)            \
  X(nvrtcDestroyProgram)           \
  X(nvrtcGetCUBIN)                 \
  X(nvrtcGetCUBINSize)             \
  X(nvrtcGetErrorString)           \
  X(nvrtcGetProgramLog)            \
  X(nvrtcGetProgramLogSize)        \
  X(nvrtcVersion)
// clang-format on

// NVRTC's functions by their own names, from the library that this machine has.
//
// Threading: immutable; made once.
struct Nvrtc {
#define TENSORD_MEMBER(name) decltype(&::name) name = nullptr;
  TENSORD_NVRTC_FUNCTIONS(TENSORD_MEMBER)
#undef TENSORD_MEMBER

  // kUnavailable with the reason on a machine without the library.
  static const absl::StatusOr<Nvrtc>& Get();

  // "13.0"
  std::string Version() const;
};

// What is compiled: a text, and the texts of what it includes by name.
// Threading and ownership: a plain value.
struct DeviceText {
  std::string text;
  std::vector<std::pair<std::string, std::string>> headers;
};

// Machine code for one architecture ("sm_90"). Needs no GPU, and takes tenths
// of a second. kInternal with the compiler's first words where the text does
// not compile, kUnavailable without the compiler.
absl::StatusOr<std::string> CompileToCubin(const DeviceText& text,
                                           absl::string_view architecture);

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_LIBRARIES_NVRTC_H_
