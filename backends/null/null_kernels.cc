#include "backends/null/null_kernels.h"

#include <cstring>

namespace tensord {
namespace {

// Extents of 0 are within every bound, and what follows is then about nothing.
absl::Status NullRun(const KernelCall& call) {
  const StorageView cells = call.context.extent_cells;
  if (cells.is_present() && cells.size_bytes != 0) {
    std::memset(cells.address(), 0, cells.size_bytes);
  }
  return absl::OkStatus();
}

// Neither arithmetic nor bytes: what is left is the launch.
KernelCost NullCost(const NodeSite&) { return {}; }

constexpr KernelEntry Row(OpKind op, const char* name) {
  return {.op = op,
          .dtypes = AnyDTypes(),
          .name = name,
          .source = "backends/null/null_kernels.cc",
          .cost = &NullCost,
          .run = &NullRun,
          .caps = {.strided_input = true, .in_place_inputs = 0xff}};
}

constexpr KernelEntry kNullKernels[] = {
#define TENSORD_NULL_ROW(name) Row(OpKind::k##name, "null_" #name),
    TENSORD_ONNX_OP_KINDS(TENSORD_NULL_ROW)
        TENSORD_OWN_OP_KINDS(TENSORD_NULL_ROW)
#undef TENSORD_NULL_ROW
};

static_assert(std::size(kNullKernels) == kOpKindCount);

}  // namespace

absl::Span<const KernelEntry> NullKernels() { return kNullKernels; }

}  // namespace tensord
