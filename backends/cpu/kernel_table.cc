#include "backends/cpu/kernel_table.h"

#include "backends/cpu/kernels/identity.h"

namespace tensord {
namespace {

constexpr KernelEntry kCpuKernels[] = {
    {.op = OpKind::kIdentity,
     .dtypes = AnyDTypes(),
     .name = "identity_bytes",
     .source = "backends/cpu/kernels/identity.cc",
     .accepts = &AcceptsIdentity,
     .run = &IdentityRun,
     .caps = {.in_place_inputs = 1}},
};

}  // namespace

absl::Span<const KernelEntry> CpuKernels() { return kCpuKernels; }

}  // namespace tensord
