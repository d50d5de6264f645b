// Identity: y = x, byte for byte. y is contiguous; x has any strides, a stride
// of 0 among them, and may be the same buffer when it is contiguous. Indices
// are of 64 bits: the kernel waits for memory, not for arithmetic.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "backends/api/kernel.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/rows.h"

namespace tensord::cuda {
namespace {

constexpr int kVectorBytes = 16;

__global__ void CopyBytes(const unsigned char* x, unsigned char* y,
                          int64_t count) {
  const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  const int64_t vectors = count / kVectorBytes;
  for (int64_t i = first; i < vectors; i += step) {
    reinterpret_cast<uint4*>(y)[i] = reinterpret_cast<const uint4*>(x)[i];
  }
  for (int64_t i = vectors * kVectorBytes + first; i < count; i += step) {
    y[i] = x[i];
  }
}

__global__ void CopySingleBytes(const unsigned char* x, unsigned char* y,
                                int64_t count) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += step) {
    y[i] = x[i];
  }
}

// Where the elements of x lie, innermost dimension last.
struct Strides {
  int rank = 0;
  int64_t extents[kMaxRank];
  int64_t strides[kMaxRank];
};

template <typename T>
__global__ void CopyStrided(const T* x, T* y, int64_t count, Strides from) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += step) {
    int64_t rest = i;
    int64_t at = 0;
    for (int d = from.rank - 1; d >= 0; --d) {
      at += rest % from.extents[d] * from.strides[d];
      rest /= from.extents[d];
    }
    y[i] = x[at];
  }
}

absl::Status CopyContiguous(const KernelCall& call, int64_t offset_bytes) {
  const auto* x =
      reinterpret_cast<const unsigned char*>(call.inputs[0].address()) +
      offset_bytes;
  auto* y = reinterpret_cast<unsigned char*>(call.outputs[0].address());
  const auto count = static_cast<int64_t>(call.outputs[0].size_bytes);
  if (count == 0 || x == y) return absl::OkStatus();
  const bool is_aligned =
      (reinterpret_cast<uintptr_t>(x) | reinterpret_cast<uintptr_t>(y)) %
          kVectorBytes ==
      0;
  if (!is_aligned) {
    return Launch(call.context, &CopySingleBytes, ForElements(count), x, y,
                  count);
  }
  const int64_t steps = std::max<int64_t>(count / kVectorBytes, 1);
  return Launch(call.context, &CopyBytes, ForElements(steps), x, y, count);
}

template <typename T>
absl::Status CopyElements(const KernelCall& call) {
  const Layout& layout = call.input_layout(0);
  if (layout.IsContiguous()) {
    return CopyContiguous(call, layout.offset * sizeof(T));
  }
  Strides from;
  from.rank = layout.shape.rank();
  for (int d = 0; d < from.rank; ++d) {
    from.extents[d] = layout.shape[d];
    from.strides[d] = layout.strides[d];
  }
  const int64_t count = layout.shape.element_count();
  return Launch(call.context, &CopyStrided<T>, ForElements(count),
                call.input<T>(0), call.output<T>(0), count, from);
}

absl::Status RunSmallIdentity(const KernelCall& call) {
  return CopyContiguous(call, 0);
}

// Elements of less than a byte have no addresses, so they are copied whole.
absl::Status AcceptsSmallIdentity(const NodeSite& site) {
  if (site.input_dtype(0) == DType::kString) {
    return absl::UnimplementedError("strings have no bytes on a device");
  }
  return absl::OkStatus();
}

template <typename T>
constexpr KernelEntry Row(DType dtype, const char* name) {
  return {.op = OpKind::kIdentity,
          .dtypes = All(dtype),
          .name = name,
          .source = "backends/cuda/kernels/identity.cu",
          .run = &CopyElements<T>,
          .caps = {.strided_input = true, .in_place_inputs = 0b1}};
}

constexpr KernelEntry kRows[] = {
    Row<uint8_t>(DType::kBool, "identity_bool"),
    Row<uint8_t>(DType::kInt8, "identity_i8"),
    Row<uint8_t>(DType::kUInt8, "identity_u8"),
    Row<uint16_t>(DType::kInt16, "identity_i16"),
    Row<uint16_t>(DType::kUInt16, "identity_u16"),
    Row<uint16_t>(DType::kFloat16, "identity_f16"),
    Row<uint16_t>(DType::kBFloat16, "identity_bf16"),
    Row<uint32_t>(DType::kInt32, "identity_i32"),
    Row<uint32_t>(DType::kUInt32, "identity_u32"),
    Row<uint32_t>(DType::kFloat32, "identity_f32"),
    Row<uint64_t>(DType::kInt64, "identity_i64"),
    Row<uint64_t>(DType::kUInt64, "identity_u64"),
    Row<uint64_t>(DType::kFloat64, "identity_f64"),
    {.op = OpKind::kIdentity,
     .dtypes = AnyDTypes(),
     .name = "identity_bytes",
     .source = "backends/cuda/kernels/identity.cu",
     .accepts = &AcceptsSmallIdentity,
     .run = &RunSmallIdentity,
     .caps = {.in_place_inputs = 0b1}},
};

}  // namespace

absl::Span<const KernelEntry> IdentityRows() { return kRows; }

}  // namespace tensord::cuda
