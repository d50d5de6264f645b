#ifndef TENSORD_ENGINE_GRAPH_HOST_TENSOR_H_
#define TENSORD_ENGINE_GRAPH_HOST_TENSOR_H_

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/api/dtype.h"
#include "backends/api/shape.h"

namespace tensord {

// A tensor in host memory: dense, row-major, aligned to kStorageAlignment,
// never changed once made. What weights, folded constants and attribute tensors
// are.
//
// Threading: immutable. Ownership: shares its bytes; copies are cheap.
class HostTensor {
 public:
  HostTensor() = default;  // absent: kUndefined

  // Copies `bytes`; kInvalidArgument when their number is not what dtype and
  // shape give ("16 bytes for float32 [2, 3], which takes 24"), and for a bool
  // that is not 0 or 1.
  static absl::StatusOr<HostTensor> Copy(DType dtype, Shape shape,
                                         absl::Span<const std::byte> bytes);

  // Uninitialised; `fill` gets the bytes before anyone else sees the tensor.
  template <typename Fill>
  static HostTensor Make(DType dtype, Shape shape, Fill fill) {
    HostTensor tensor(dtype, std::move(shape));
    fill(absl::MakeSpan(tensor.bytes_.get(), tensor.size_bytes()));
    return tensor;
  }

  // A small int64 vector, such as a shape.
  static HostTensor Int64s(absl::Span<const int64_t> values);

  // The same bytes under another shape of as many elements.
  HostTensor Reshaped(Shape shape) const;

  bool is_present() const { return dtype_ != DType::kUndefined; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  size_t size_bytes() const { return ByteSize(dtype_, shape_.element_count()); }
  absl::Span<const std::byte> bytes() const {
    return absl::MakeConstSpan(bytes_.get(), size_bytes());
  }
  // For importing the bytes as a storage, which must keep them alive.
  std::shared_ptr<const void> owner() const { return bytes_; }

  // The elements; T must be the C++ type of the dtype.
  template <typename T>
  absl::Span<const T> values() const {
    return absl::MakeConstSpan(reinterpret_cast<const T*>(bytes_.get()),
                               shape_.element_count());
  }

 private:
  friend class WeakHostTensor;
  HostTensor(DType dtype, Shape shape);  // allocates

  DType dtype_ = DType::kUndefined;
  Shape shape_;
  std::shared_ptr<std::byte[]> bytes_;
};

// A tensor that does not keep its bytes.
class WeakHostTensor {
 public:
  WeakHostTensor() = default;
  explicit WeakHostTensor(const HostTensor& tensor)
      : dtype_(tensor.dtype_), shape_(tensor.shape_), bytes_(tensor.bytes_) {}

  // Absent when nobody holds the tensor any more.
  HostTensor Lock() const {
    HostTensor tensor;
    tensor.bytes_ = bytes_.lock();
    if (tensor.bytes_ == nullptr) return tensor;
    tensor.dtype_ = dtype_;
    tensor.shape_ = shape_;
    return tensor;
  }

 private:
  DType dtype_ = DType::kUndefined;
  Shape shape_;
  std::weak_ptr<std::byte[]> bytes_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_GRAPH_HOST_TENSOR_H_
