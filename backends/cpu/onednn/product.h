#ifndef TENSORD_BACKENDS_CPU_ONEDNN_PRODUCT_H_
#define TENSORD_BACKENDS_CPU_ONEDNN_PRODUCT_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/api/kernel.h"
#include "backends/api/packed_weights.h"
#include "backends/api/storage.h"
#include "backends/cpu/kernels/epilogue.h"
#include "backends/cpu/onednn/primitive.h"
#include "backends/cpu/onednn/product_forms.h"
#include "backends/cpu/onednn/split.h"

// Matrix products, C [m, n] = scale * A [m, k] * B [k, n] + bias [n], in parts:
// of float32, of float32 whose factors are rounded to bfloat16, or of 8-bit
// integers with int32 sums.
namespace tensord::onednn {

// One site's primitives, one for each size of a part.
//
// Threading: immutable once made; Run may be called by many threads at once.
class Product {
 public:
  // OK, or why the library is no use for such products.
  static absl::Status Accepts(const ProductSite& site);

  // Of Run, for each part.
  static uint64_t ScratchBytes(const ProductSite& site);

  // `b` is null, or B itself, which is packed into memory of the device.
  static absl::StatusOr<std::unique_ptr<Product>> Create(
      const ProductSite& site, const void* b, Device& device);
  // The same for a B that the caller makes of a constant.
  static absl::StatusOr<std::unique_ptr<Product>> Create(
      const ProductSite& site, const Unpacked& b, Device& device);

  static int64_t PartCount(const ProductSite& site);
  int64_t part_count() const { return rows_.count() * columns_.count(); }

  struct Part {
    int64_t row, row_count, column, column_count;
  };
  Part part(int64_t index) const;
  int64_t column_count() const { return site_.n; }
  // Without the forms: few are kept, for all nodes.
  uint64_t footprint_bytes() const;
  void AppendPacked(UsesPackedWeights::Packed& to) const {
    to.insert(to.end(), packed_.begin(), packed_.end());
  }

  // C's part. `b` and `bias` are null where the site does not have them; rows
  // of `c` are n elements apart. `scratch` is aligned to kStorageAlignment.
  absl::Status Run(int64_t part, const float* a, const float* b,
                   const float* bias, float* c, std::byte* scratch) const;

  // The same, C's part into `dense`, where rows follow each other. Elements are
  // of the site's dtypes, but float32 where it rounds A's and B's.
  absl::Status RunDense(int64_t part, const void* a, const void* b,
                        const float* bias, void* dense,
                        std::byte* scratch) const;

 private:
  Product(const ProductSite& site, std::shared_ptr<const ProductForms> forms)
      : site_(site),
        forms_(std::move(forms)),
        rows_(forms_->rows()),
        columns_(forms_->columns()) {}
  // A's part as the library takes it, rounded into `scratch` if need be.
  const void* PartOfA(int64_t part, const void* a, std::byte*& scratch) const;
  absl::Status PackB(const Unpacked& b, Device& device);

  const ProductSite site_;
  const std::shared_ptr<const ProductForms> forms_;
  const Split rows_;
  const Split columns_;
  // By whether the part has the rest of the rows, and of the columns; of the
  // forms, which other nodes may share.
  const Primitive* primitives_[2][2] = {};
  // By part of the columns; the device counts them.
  std::vector<std::shared_ptr<const Storage>> packed_;
};

// What MatMul, Gemm and the convolutions that are products keep of a node.
class ProductState final : public KernelState, public UsesPackedWeights {
 public:
  // `b` as for Product::Create.
  static absl::StatusOr<std::unique_ptr<KernelState>> Create(
      const NodeSite& node, const ProductSite& site, const float* b,
      Device& device);

  const Product& product() const { return *product_; }
  bool has_bias() const { return has_bias_; }
  uint64_t scratch_bytes() const { return scratch_bytes_; }
  uint64_t footprint_bytes() const override;
  void AppendPacked(Packed& to) const override { product_->AppendPacked(to); }

  // The node's epilogue, if it has one, over a part of the output. The matrix
  // begins at its element `first`.
  void Finish(const KernelCall& call, int64_t part, int64_t first) const;

 private:
  ProductState() = default;

  std::unique_ptr<Product> product_;
  std::unique_ptr<const EpiloguePlan> epilogue_;  // null without one
  bool has_bias_ = false;
  uint64_t scratch_bytes_ = 0;
};

// Of a node that computes `batch` products of one size.
uint64_t ProductWorkspaceBytes(const ProductSite& site, int64_t batch);
KernelCost ProductCost(const NodeSite& node, const ProductSite& site,
                       int64_t batch);

}  // namespace tensord::onednn

#endif  // TENSORD_BACKENDS_CPU_ONEDNN_PRODUCT_H_
