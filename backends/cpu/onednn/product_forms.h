#ifndef TENSORD_BACKENDS_CPU_ONEDNN_PRODUCT_FORMS_H_
#define TENSORD_BACKENDS_CPU_ONEDNN_PRODUCT_FORMS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/base/casts.h"
#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "backends/cpu/onednn/primitive.h"
#include "backends/cpu/onednn/split.h"

namespace tensord::onednn {

// A matrix product as the library is asked for it: see product.h.
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

  // A NaN is the same scale as itself.
  friend bool operator==(const ProductSite& a, const ProductSite& b) {
    const auto fields = [](const ProductSite& site) {
      return std::make_tuple(site.m, site.n, site.k, site.a_dtype, site.b_dtype,
                             site.c_dtype, site.a_row, site.a_column,
                             site.b_row, site.b_column,
                             absl::bit_cast<uint32_t>(site.scale),
                             site.has_bias, site.has_constant_b);
    };
    return fields(a) == fields(b);
  }
  // Sites that differ in more than this are told apart by comparing them.
  template <typename H>
  friend H AbslHashValue(H h, const ProductSite& site) {
    return H::combine(std::move(h), site.m, site.n, site.k, site.b_row,
                      site.has_constant_b);
  }
};

// How a product is cut into parts, and how the library computes a part of each
// size: one form for the rows of most parts and one for those of a shorter last
// one, and the same of the columns.
//
// The nodes of a graph have few different products among them, and each is
// asked for again and again: when a kernel is looked for, when scratch memory
// is planned, when a node is prepared. So forms are kept, and so are their
// primitives once a node has asked for them, within a limit for the process.
//
// Threading: thread-safe. Ownership: shared by all nodes with such a product.
class ProductForms {
 public:
  // The same ones while they are kept: those that were asked for last, as many
  // as take kKeptBytes. Others are made anew.
  // Errors: kUnimplemented where the library is of no use for such products.
  static absl::StatusOr<std::shared_ptr<const ProductForms>> Of(
      const ProductSite& site);
  static constexpr uint64_t kKeptBytes = uint64_t{16} << 20;

  const Split& rows() const { return rows_; }
  const Split& columns() const { return columns_; }
  // The library's, for the form that needs most.
  uint64_t scratchpad_bytes() const { return scratchpad_bytes_; }
  // How B is packed, for parts with the rest of the columns or the others.
  const dnnl_memory_desc_t& packed_b(bool is_rest_of_columns) const {
    return packed_b_[is_rest_of_columns];
  }

  // Host bytes with all primitives, made or not; without their code, which the
  // library's cache keeps.
  uint64_t footprint_bytes() const;

  // Null for a form that no part has. Operands are A, B, C, scratch memory, and
  // the bias where there is one. Made when it is asked for first.
  absl::StatusOr<const Primitive*> primitive(bool is_rest_of_rows,
                                             bool is_rest_of_columns) const;

 private:
  explicit ProductForms(const ProductSite& site);
  static absl::StatusOr<std::shared_ptr<const ProductForms>> Make(
      const ProductSite& site);
  absl::Status Describe(const ProductSite& site);

  Split rows_, columns_;
  const bool has_bias_;
  uint64_t scratchpad_bytes_ = 0;
  dnnl_memory_desc_t packed_b_[2] = {};
  // By whether it is the rest of the rows, and of the columns.
  std::optional<PrimitiveDesc> descs_[2][2];
  mutable absl::Mutex mu_;
  mutable std::unique_ptr<Primitive> primitives_[2][2] ABSL_GUARDED_BY(mu_);
};

// How the product is cut, whether or not the library has code for it.
struct ProductParts {
  Split rows, columns;
};
ProductParts CutProduct(const ProductSite& site);

}  // namespace tensord::onednn

#endif  // TENSORD_BACKENDS_CPU_ONEDNN_PRODUCT_FORMS_H_
