#ifndef TENSORD_BACKENDS_CPU_ONEDNN_INTEGER_PRODUCT_H_
#define TENSORD_BACKENDS_CPU_ONEDNN_INTEGER_PRODUCT_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "backends/api/kernel.h"
#include "backends/cpu/kernels/integer_matmul.h"
#include "backends/cpu/kernels/vector_integers.h"
#include "backends/cpu/onednn/product.h"

// Matrix products of 8-bit integers with int32 sums that wrap around, exact as
// those of integer_matmul.h:
//
//   sum over t of (a[r, t] - za[r]) * (b[t, c] - zb[c])
//     = raw[r, c] - za[r] * (B[c] - k * zb[c]) - zb[c] * A[r]
//
// with raw the product of the bytes alone, which is the library's, B[c] the sum
// of b's column, made once, and A[r] that of a's row. An unsigned b is taken as
// a signed one that is 128 less, and so is its zero point.
namespace tensord::onednn {

// Operands are a, a_zero (or none), b, b_zero (or none) of the node; b is
// constant and the same for all of a.
struct IntegerOperands {
  int a, a_zero, b, b_zero;
};

// What the integer products keep of a node.
//
// Threading: immutable once made; Run may be called by many threads at once.
class IntegerProductState final : public KernelState, public UsesPackedWeights {
 public:
  static absl::Status Accepts(const NodeSite& node,
                              const IntegerOperands& operands);
  static uint64_t WorkspaceBytes(const NodeSite& node,
                                 const IntegerOperands& operands);
  static absl::StatusOr<std::unique_ptr<KernelState>> Create(
      const NodeSite& node, const IntegerOperands& operands, Device& device);

  uint64_t footprint_bytes() const override {
    return product_->footprint_bytes();
  }
  void AppendPacked(Packed& to) const override {
    to.push_back(column_sums_);
    product_->AppendPacked(to);
  }

  // Memory of the workspace for a number of each column, beside what the parts
  // use.
  float* ColumnNumbers(const KernelCall& call) const {
    return reinterpret_cast<float*>(call.context.workspace.address() +
                                    parts_bytes_);
  }

  // The sums of the node itself, [.., m, n].
  absl::Status Run(const KernelCall& call, const IntegerMatMul& product,
                   int32_t* y) const;

  // store(index, row, column, count, sums) as IntegerMatMul::Run calls it.
  // `product` has the call's shapes and operands.
  template <typename Store>
  absl::Status Run(const KernelCall& call, const IntegerMatMul& product,
                   Store store) const {
    return ForParts(*call.context.workers, product_->part_count(), 1,
                    call.context.workspace, scratch_bytes_,
                    [&](int64_t part, std::byte* scratch) {
                      return RunPart(product, part, scratch, store);
                    });
  }

 private:
  IntegerProductState() = default;

  template <typename Store>
  absl::Status RunPart(const IntegerMatMul& product, int64_t index,
                       std::byte* scratch, Store store) const {
    const Product::Part part = product_->part(index);
    auto* raw = reinterpret_cast<int32_t*>(scratch);
    absl::Status status = product_->RunDense(
        index, product.a.elements, nullptr, nullptr, raw,
        scratch + AlignUp(part.row_count * part.column_count * sizeof(*raw)));
    if (!status.ok()) return status;
    for (int64_t i = 0; i < part.row_count; ++i, raw += part.column_count) {
      // b is the same for all matrices of a, whose rows follow each other.
      const int64_t matrix = (part.row + i) / product.m;
      const int64_t row = (part.row + i) % product.m;
      CorrectRow(product, {.a = matrix, .b = 0}, row, part, raw);
      store(matrix, row, part.column, part.column_count, raw);
    }
    return absl::OkStatus();
  }

  // Takes the zero points off a row of raw sums.
  void CorrectRow(const IntegerMatMul& product,
                  const IntegerMatMul::Matrices& at, int64_t row,
                  const Product::Part& part, int32_t* sums) const;

  std::unique_ptr<Product> product_;
  uint64_t scratch_bytes_ = 0;
  uint64_t parts_bytes_ = 0;  // of all parts
  // int32 [n], of b as a signed matrix; the device counts them.
  std::shared_ptr<const Storage> column_sums_;
  int b_shift_ = 0;  // what b's elements are above it
};

}  // namespace tensord::onednn

#endif  // TENSORD_BACKENDS_CPU_ONEDNN_INTEGER_PRODUCT_H_
