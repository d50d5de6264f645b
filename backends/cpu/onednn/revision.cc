#include "backends/cpu/onednn/revision.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "backends/cpu/kernel_revisions.h"
#include "oneapi/dnnl/dnnl.h"

namespace tensord::onednn {
namespace {

// The files here that rows of the kernel table point to.
constexpr absl::string_view kFiles[] = {
    "conv",           "conv_pointwise", "gemm",    "integer_product", "matmul",
    "matmul_integer", "primitive",      "product", "qlinear_matmul"};

// FNV-1a, the same in every process.
uint64_t StableHash(absl::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

}  // namespace

uint64_t SourceRevision() {
  const dnnl_version_t& version = *dnnl_version();
  std::string text = absl::StrCat(
      version.major, ".", version.minor, ".", version.patch, " ", version.hash,
      " ", static_cast<int>(dnnl_get_effective_cpu_isa()));
  for (absl::string_view file : kFiles) {
    absl::StrAppend(
        &text, " ",
        CpuKernelRevision(absl::StrCat("backends/cpu/onednn/", file, ".cc")));
  }
  return StableHash(text) | 1;  // 0 would say that nobody knows
}

}  // namespace tensord::onednn
