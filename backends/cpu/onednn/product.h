#ifndef TENSORD_BACKENDS_CPU_ONEDNN_PRODUCT_H_
#define TENSORD_BACKENDS_CPU_ONEDNN_PRODUCT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/api/kernel.h"
#include "backends/api/storage.h"
#include "backends/cpu/kernels/epilogue.h"
#include "backends/cpu/onednn/primitive.h"
#include "backends/cpu/onednn/split.h"

// Matrix products, C [m, n] = scale * A [m, k] * B [k, n] + bias [n], in parts:
// of float32, of float32 whose factors are rounded to bfloat16, or of 8-bit
// integers with int32 sums.
namespace tensord::onednn {

struct ProductSite {
  int64_t m = 0, n = 0, k = 0;
  dnnl_data_type_t a_dtype = dnnl_f32, b_dtype = dnnl_f32, c_dtype = dnnl_f32;
  // From one element to the next row and column.
  int64_t a_row = 0, a_column = 1;
  int64_t b_row = 0, b_column = 1;
  float scale = 1;
  bool has_bias = false;
  // B is known, and will be packed.
  bool has_constant_b = false;

  double flops() const { return 2.0 * m * n * k; }
  bool is_integer() const { return c_dtype == dnnl_s32; }
  // A and B are float32, and are rounded before they are multiplied.
  bool rounds() const { return a_dtype == dnnl_bf16; }

  // The same with factors of bfloat16.
  ProductSite Rounded() const {
    ProductSite site = *this;
    site.a_dtype = site.b_dtype = dnnl_bf16;
    return site;
  }
};

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

  static int64_t PartCount(const ProductSite& site);
  int64_t part_count() const { return rows_.count() * columns_.count(); }

  struct Part {
    int64_t row, row_count, column, column_count;
  };
  Part part(int64_t index) const;
  int64_t column_count() const { return site_.n; }

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
  Product(const ProductSite& site, const Split& rows, const Split& columns)
      : site_(site), rows_(rows), columns_(columns) {}
  // A's part as the library takes it, rounded into `scratch` if need be.
  const void* PartOfA(int64_t part, const void* a, std::byte*& scratch) const;
  absl::Status PackB(const std::byte* b, Device& device);

  const ProductSite site_;
  const Split rows_;
  const Split columns_;
  // By whether the part has the rest of the rows, and of the columns.
  std::unique_ptr<Primitive> primitives_[2][2];
  dnnl_memory_desc_t packed_desc_[2] = {};
  std::vector<std::unique_ptr<Storage>> packed_;  // by part of the columns
};

// What MatMul, Gemm and the convolutions that are products keep of a node.
class ProductState final : public KernelState {
 public:
  // `b` as for Product::Create.
  static absl::StatusOr<std::unique_ptr<KernelState>> Create(
      const NodeSite& node, const ProductSite& site, const float* b,
      Device& device);

  const Product& product() const { return *product_; }
  bool has_bias() const { return has_bias_; }
  uint64_t scratch_bytes() const { return scratch_bytes_; }

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
