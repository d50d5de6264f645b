#include "backends/cuda/libraries/revision.h"

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "backends/api/content_digest.h"
#include "backends/cuda/kernel_revisions.h"
#include "backends/cuda/libraries/cublaslt.h"
#include "backends/cuda/libraries/cudnn.h"
#include "backends/cuda/libraries/nvrtc.h"

namespace tensord::cuda {
namespace {

// The files here that a library's rows run through.
constexpr absl::string_view kFiles[] = {
    "chain_text",   "conv_graph",    "conv_plan", "conv_problem",
    "cublaslt",     "cublaslt_rows", "cudnn",     "cudnn_descriptor",
    "cudnn_rows",   "loaded_kernel", "nvrtc",     "nvrtc_rows",
    "product_plan", "product_site"};

// Empty where it is not there.
std::string VersionOf(absl::string_view source) {
  if (source == "library:cublasLt") {
    const auto& library = CublasLt::Get();
    return library.ok() ? absl::StrCat(library->cublasLtGetVersion()) : "";
  }
  if (source == "library:cudnn") {
    const auto& library = Cudnn::Get();
    return library.ok() ? absl::StrCat(library->cudnnGetVersion()) : "";
  }
  if (source == "library:nvrtc") {
    const auto& library = Nvrtc::Get();
    return library.ok() ? library->Version() : "";
  }
  return "";
}

}  // namespace

uint64_t LibraryRevision(absl::string_view source) {
  const std::string version = VersionOf(source);
  if (version.empty()) return 0;
  std::string text = absl::StrCat(source, " ", version);
  for (absl::string_view file : kFiles) {
    absl::StrAppend(&text, " ",
                    CudaKernelRevision(
                        absl::StrCat("backends/cuda/libraries/", file, ".cc")));
  }
  const ContentDigest digest = DigestOf(absl::MakeConstSpan(
      reinterpret_cast<const std::byte*>(text.data()), text.size()));
  uint64_t revision;
  std::memcpy(&revision, digest.data(), sizeof revision);
  return revision | 1;  // 0 would say that nobody knows
}

}  // namespace tensord::cuda
