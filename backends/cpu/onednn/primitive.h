#ifndef TENSORD_BACKENDS_CPU_ONEDNN_PRIMITIVE_H_
#define TENSORD_BACKENDS_CPU_ONEDNN_PRIMITIVE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/api/backend.h"
#include "backends/api/storage.h"
#include "backends/cpu/onednn/library.h"

namespace tensord::onednn {

// A tensor as the library sees it: dense and row-major, with strides in
// elements, or in the form that a primitive likes best.
dnnl_memory_desc_t DenseDesc(absl::Span<const int64_t> dims,
                             dnnl_data_type_t dtype = dnnl_f32);
dnnl_memory_desc_t StridedDesc(absl::Span<const int64_t> dims,
                               absl::Span<const int64_t> strides,
                               dnnl_data_type_t dtype = dnnl_f32);
dnnl_memory_desc_t AnyDesc(absl::Span<const int64_t> dims,
                           dnnl_data_type_t dtype = dnnl_f32);

// The argument of Primitive::Run that is an operand's zero point.
inline int ZeroPointOf(int argument) {
  return DNNL_ARG_ATTR_ZERO_POINTS | argument;
}

// What is asked of a primitive beyond its operation.
//
// Ownership: owns the library's object. Threading: confined to one thread.
// Errors: the library's first one is kept in status(), and is that of whatever
//   is made with these attributes.
class Attributes {
 public:
  // The caller gives the scratch memory; nothing else is special.
  Attributes();
  ~Attributes();
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  // The result, before a bias is added, times `scale`.
  void ScaleOutput(float scale);
  // The same, each output channel of a convolution times its own scale, and
  // behind the bias: of sums of integers.
  void ScaleChannels(absl::Span<const float> scales);
  // What the integers of an operand, named as DNNL_ARG_SRC, are above what they
  // stand for.
  void SetZeroPoint(int argument, int32_t zero_point);
  // The same, an int32 that each run gives as its argument ZeroPointOf().
  void SetZeroPointOfRun(int argument);

  const absl::Status& status() const { return status_; }
  dnnl_primitive_attr_t get() const { return attributes_; }

 private:
  absl::Status status_;
  dnnl_primitive_attr_t attributes_ = nullptr;
};

// How the library would do an operation on this machine, with one thread.
// Cheap: tens of microseconds, and a few when the library has seen it before.
//
// Ownership: owns the library's object. Threading: immutable.
class PrimitiveDesc {
 public:
  // `operation` points to one of the library's operation descriptors.
  // kUnimplemented where all that the library has is its reference code, which
  // is slower than any kernel here.
  static absl::StatusOr<PrimitiveDesc> Create(const_dnnl_op_desc_t operation,
                                              const Attributes& attributes);
  static absl::StatusOr<PrimitiveDesc> CreateReorder(
      const dnnl_memory_desc_t& from, const dnnl_memory_desc_t& to);

  PrimitiveDesc(PrimitiveDesc&& other) noexcept
      : desc_(std::exchange(other.desc_, nullptr)) {}
  PrimitiveDesc& operator=(PrimitiveDesc&& other) noexcept {
    std::swap(desc_, other.desc_);
    return *this;
  }
  ~PrimitiveDesc();

  // The form of an operand, named as DNNL_ARG_SRC.
  const dnnl_memory_desc_t& operand(int argument) const;
  uint64_t scratchpad_bytes() const;
  std::string implementation() const;  // "brgconv:avx512_core"

  const_dnnl_primitive_desc_t get() const { return desc_; }

 private:
  explicit PrimitiveDesc(dnnl_primitive_desc_t desc) : desc_(desc) {}

  dnnl_primitive_desc_t desc_;
};

// An operation, compiled. Making one takes up to a millisecond, or some
// microseconds when the library still has it in its cache.
//
// Threading: immutable; Run may be called by many threads at once.
class Primitive {
 public:
  // Operands of Run, in its order, named as DNNL_ARG_SRC.
  using Arguments = absl::InlinedVector<int, 6>;

  static absl::StatusOr<std::unique_ptr<Primitive>> Create(
      const PrimitiveDesc& desc, const Arguments& arguments);

  Primitive(const Primitive&) = delete;
  Primitive& operator=(const Primitive&) = delete;
  ~Primitive();

  // Computes on the calling thread, denormal numbers being 0. `addresses` are
  // parallel to the arguments.
  absl::Status Run(absl::Span<void* const> addresses) const;

  // Host bytes of this object and of those that it made of the library's, but
  // for the code, which the library keeps for all.
  uint64_t footprint_bytes() const {
    return FootprintBytes(static_cast<int>(arguments_.size()));
  }
  static uint64_t FootprintBytes(int argument_count);

 private:
  // The library keeps operands' addresses in objects of its own. A few sets of
  // them are made ahead, one for each thread that may be running, so that
  // running allocates none.
  struct Slot {
    std::atomic<bool> is_taken{false};
    absl::InlinedVector<dnnl_exec_arg_t, 6> operands;
    ~Slot();
  };
  static constexpr int kSlots = 16;

  Primitive() = default;
  // How many of slots_ are made.
  static size_t SlotCount();
  absl::Span<Slot> slots() const {
    return absl::MakeSpan(slots_).first(SlotCount());
  }
  absl::Status Fill(Slot& slot) const;
  absl::Status RunIn(Slot& slot, absl::Span<void* const> addresses) const;

  dnnl_primitive_t primitive_ = nullptr;
  absl::InlinedVector<std::pair<int, dnnl_memory_desc_t>, 6> arguments_;
  mutable std::array<Slot, kSlots> slots_;
};

// Copies a tensor into another form.
absl::Status Reorder(const dnnl_memory_desc_t& from, const void* source,
                     const dnnl_memory_desc_t& to, void* destination);

// A constant operand that is to be packed.
// Ownership: borrows everything.
struct Unpacked {
  // What tells it from other operands: a constant of the node.
  absl::Span<const std::byte> content;
  // How the operand is made of that: which part it is, what is changed.
  absl::string_view change;
  // The operand itself. Called where nobody has packed it yet.
  absl::FunctionRef<const std::byte*()> elements;
};

// The operand in another form, in memory of the device that all primitives
// share that want the same.
absl::StatusOr<std::shared_ptr<const Storage>> Pack(
    const Unpacked& operand, const dnnl_memory_desc_t& from,
    const dnnl_memory_desc_t& to, Device& device);

}  // namespace tensord::onednn

#endif  // TENSORD_BACKENDS_CPU_ONEDNN_PRIMITIVE_H_
