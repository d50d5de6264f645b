#include "engine/graph/host_tensor.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/api/storage.h"

namespace tensord {
namespace {

constexpr std::align_val_t kAlignment{kStorageAlignment};

struct AlignedDelete {
  void operator()(std::byte* bytes) const {
    ::operator delete[](bytes, kAlignment);
  }
};

// Whole cache lines, at least one: the address is never null, and a vector
// kernel may read the last line to its end.
size_t AllocationSize(size_t size_bytes) {
  const size_t lines = (size_bytes + kStorageAlignment - 1) / kStorageAlignment;
  return (lines == 0 ? 1 : lines) * kStorageAlignment;
}

}  // namespace

HostTensor::HostTensor(DType dtype, Shape shape)
    : dtype_(dtype),
      shape_(std::move(shape)),
      bytes_(static_cast<std::byte*>(
                 ::operator new[](AllocationSize(size_bytes()), kAlignment)),
             AlignedDelete()) {}

absl::StatusOr<HostTensor> HostTensor::Copy(DType dtype, Shape shape,
                                            absl::Span<const std::byte> bytes) {
  if (BitWidth(dtype) == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "elements of dtype ", DTypeName(dtype), " have no fixed size, so ",
        bytes.size(), " bytes cannot be a tensor of it"));
  }
  const uint64_t expected = ByteSize(dtype, shape.element_count());
  if (bytes.size() != expected) {
    return absl::InvalidArgumentError(
        absl::StrCat(bytes.size(), " bytes for ", DTypeName(dtype), " ",
                     shape.ToString(), ", which takes ", expected));
  }
  // Kernels read bool, for which another byte is undefined behaviour.
  if (dtype == DType::kBool) {
    const auto* wrong =
        std::find_if(bytes.begin(), bytes.end(),
                     [](std::byte byte) { return byte > std::byte{1}; });
    if (wrong != bytes.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "element ", wrong - bytes.begin(), " of bool ", shape.ToString(),
          " is ", static_cast<int>(*wrong), ", not 0 or 1"));
    }
  }
  return Make(dtype, std::move(shape), [&](absl::Span<std::byte> destination) {
    if (!bytes.empty()) {
      std::memcpy(destination.data(), bytes.data(), bytes.size());
    }
  });
}

HostTensor HostTensor::Int64s(absl::Span<const int64_t> values) {
  return Make(DType::kInt64, Shape({static_cast<int64_t>(values.size())}),
              [&](absl::Span<std::byte> destination) {
                if (!values.empty()) {
                  std::memcpy(destination.data(), values.data(),
                              values.size() * sizeof(int64_t));
                }
              });
}

HostTensor HostTensor::Reshaped(Shape shape) const {
  // A larger shape would read past the end, whoever is wrong.
  if (shape.element_count() != shape_.element_count()) std::abort();
  HostTensor reshaped = *this;
  reshaped.shape_ = std::move(shape);
  return reshaped;
}

}  // namespace tensord
