#include "backends/cuda/libraries/nvrtc.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "backends/cuda/libraries/dynamic_library.h"

namespace tensord::cuda {
namespace {

absl::StatusOr<Nvrtc> Load() {
  absl::StatusOr<DynamicLibrary> library =
      DynamicLibrary::Open({"libnvrtc.so.13", "libnvrtc.so.12"});
  if (!library.ok()) return library.status();
  Nvrtc functions;
  absl::Status status;
#define TENSORD_FIND(name) \
  if (status.ok()) status = library->Find(#name, functions.name);
  TENSORD_NVRTC_FUNCTIONS(TENSORD_FIND)
#undef TENSORD_FIND
  if (!status.ok()) return status;
  return functions;
}

// The one place where the library's codes become statuses.
absl::Status NvrtcStatus(nvrtcResult result, absl::string_view call) {
  if (result == NVRTC_SUCCESS) return absl::OkStatus();
  const std::string text =
      absl::StrCat(call, ": ", Nvrtc::Get()->nvrtcGetErrorString(result));
  switch (result) {
    case NVRTC_ERROR_OUT_OF_MEMORY:
      return absl::ResourceExhaustedError(text);
    case NVRTC_ERROR_INVALID_OPTION:  // an architecture that it does not know
      return absl::UnimplementedError(text);
    default:
      return absl::InternalError(text);
  }
}

// A program of the compiler. Ownership: owns the library's object.
class Program {
 public:
  explicit Program(const Nvrtc& library) : library_(library) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (program_ != nullptr) (void)library_.nvrtcDestroyProgram(&program_);
  }

  absl::Status Create(const DeviceText& text) {
    std::vector<const char*> names;
    std::vector<const char*> texts;
    for (const auto& [name, header] : text.headers) {
      names.push_back(name.c_str());
      texts.push_back(header.c_str());
    }
    return NvrtcStatus(
        library_.nvrtcCreateProgram(&program_, text.text.c_str(), "kernel.cu",
                                    static_cast<int>(names.size()),
                                    texts.data(), names.data()),
        "nvrtcCreateProgram");
  }

  absl::Status Compile(absl::string_view architecture) {
    const std::string target =
        absl::StrCat("--gpu-architecture=", architecture);
    // Functions without a word for where they run are the device's.
    const std::array<const char*, 3> options = {
        target.c_str(), "--std=c++17", "--device-as-default-execution-space"};
    const nvrtcResult result = library_.nvrtcCompileProgram(
        program_, static_cast<int>(options.size()), options.data());
    if (result != NVRTC_ERROR_COMPILATION) {
      return NvrtcStatus(result, "nvrtcCompileProgram");
    }
    return absl::InternalError(
        absl::StrCat("nvrtcCompileProgram: ", FirstWords()));
  }

  absl::StatusOr<std::string> Cubin() {
    size_t size = 0;
    absl::Status status = NvrtcStatus(
        library_.nvrtcGetCUBINSize(program_, &size), "nvrtcGetCUBINSize");
    std::string cubin(size, '\0');
    if (status.ok()) {
      status = NvrtcStatus(library_.nvrtcGetCUBIN(program_, cubin.data()),
                           "nvrtcGetCUBIN");
    }
    if (!status.ok()) return status;
    return cubin;
  }

 private:
  std::string FirstWords() {
    constexpr size_t kMaxBytes = 300;
    size_t size = 0;
    if (library_.nvrtcGetProgramLogSize(program_, &size) != NVRTC_SUCCESS ||
        size == 0) {
      return "";
    }
    std::string log(size, '\0');
    (void)library_.nvrtcGetProgramLog(program_, log.data());
    log.resize(std::min(log.find('\0'), kMaxBytes));
    return log;
  }

  const Nvrtc& library_;
  nvrtcProgram program_ = nullptr;
};

}  // namespace

const absl::StatusOr<Nvrtc>& Nvrtc::Get() {
  static const auto* const functions = new absl::StatusOr<Nvrtc>(Load());
  return *functions;
}

std::string Nvrtc::Version() const {
  int major = 0;
  int minor = 0;
  (void)nvrtcVersion(&major, &minor);
  return absl::StrCat(major, ".", minor);
}

absl::StatusOr<std::string> CompileToCubin(const DeviceText& text,
                                           absl::string_view architecture) {
  const absl::StatusOr<Nvrtc>& library = Nvrtc::Get();
  if (!library.ok()) return library.status();
  Program program(*library);
  absl::Status status = program.Create(text);
  if (status.ok()) status = program.Compile(architecture);
  if (!status.ok()) return status;
  return program.Cubin();
}

}  // namespace tensord::cuda
