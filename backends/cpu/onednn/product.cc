#include "backends/cpu/onednn/product.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/cpu/kernels/vector_bfloat16.h"

namespace tensord::onednn {
namespace {

// With less arithmetic the call itself is what costs.
constexpr double kMinFlops = 32 * 1024;

// Of an element in memory.
int64_t BytesOf(const ProductSite& site, dnnl_data_type_t dtype) {
  return site.rounds() ? sizeof(float)
                       : static_cast<int64_t>(dnnl_data_type_size(dtype));
}

// A part of A, rounded.
uint64_t RoundedBytes(const ProductSite& site, const Split& rows) {
  return site.rounds() ? AlignUp(rows.size * site.k * sizeof(BFloat16)) : 0;
}

}  // namespace

absl::Status Product::Accepts(const ProductSite& site) {
  if (site.flops() < kMinFlops) {
    return absl::FailedPreconditionError(
        absl::StrCat("a product of ", site.m, " x ", site.k, " x ", site.n,
                     " is too small for a call of oneDNN"));
  }
  if (site.rounds() && !(site.has_constant_b && site.a_column == 1)) {
    return absl::FailedPreconditionError(
        "to round A and B, B would have to be constant and rows of A dense");
  }
  constexpr int64_t kMaxExtent = std::numeric_limits<int32_t>::max() / 4;
  if (std::max({site.m * site.k, site.k * site.n, site.m * site.n}) >
      kMaxExtent) {
    return absl::FailedPreconditionError(
        absl::StrCat("a matrix of ", site.m, " x ", site.k, " x ", site.n,
                     " has above ", kMaxExtent, " elements"));
  }
  return ProductForms::Of(site).status();
}

int64_t Product::PartCount(const ProductSite& site) {
  const ProductParts parts = CutProduct(site);
  return parts.rows.count() * parts.columns.count();
}

uint64_t Product::ScratchBytes(const ProductSite& site) {
  const ProductParts parts = CutProduct(site);
  const auto forms = ProductForms::Of(site);
  // Create() will say what is wrong.
  uint64_t bytes = forms.ok() ? (*forms)->scratchpad_bytes() : 0;
  if (parts.columns.count() > 1 || site.is_integer()) {
    bytes =
        AlignUp(bytes) + parts.rows.size * parts.columns.size * sizeof(float);
  }
  return AlignUp(bytes) + RoundedBytes(site, parts.rows);
}

absl::StatusOr<std::unique_ptr<Product>> Product::Create(
    const ProductSite& site, const void* b, Device& device) {
  const auto* bytes = static_cast<const std::byte*>(b);
  const uint64_t size_bytes =
      b == nullptr ? 0 : site.k * site.n * BytesOf(site, site.b_dtype);
  return Create(site,
                Unpacked{.content = absl::MakeConstSpan(bytes, size_bytes),
                         .change = "",
                         .elements = [bytes] { return bytes; }},
                device);
}

absl::StatusOr<std::unique_ptr<Product>> Product::Create(
    const ProductSite& site, const Unpacked& b, Device& device) {
  auto forms = ProductForms::Of(site);
  if (!forms.ok()) return forms.status();
  std::unique_ptr<Product> result(new Product(site, *std::move(forms)));
  for (bool j : {false, true}) {
    for (bool i : {false, true}) {
      auto primitive = result->forms_->primitive(j, i);
      if (!primitive.ok()) return primitive.status();
      result->primitives_[j][i] = *primitive;
    }
  }
  if (site.has_constant_b) {
    if (absl::Status status = result->PackB(b, device); !status.ok()) {
      return status;
    }
  }
  return result;
}

absl::Status Product::PackB(const Unpacked& b, Device& device) {
  const int64_t column_bytes = site_.b_column * BytesOf(site_, site_.b_dtype);
  const dnnl_data_type_t dtype = site_.rounds() ? dnnl_f32 : site_.b_dtype;
  std::vector<std::byte> dense;
  for (int64_t i = 0; i < columns_.count(); ++i) {
    const int64_t width = columns_.length(i);
    // With signed factors the library adds sums up as it packs, which it does
    // for dense rows alone.
    const bool is_made_dense = site_.a_dtype == dnnl_s8 && width != site_.n;
    const auto part = [&]() -> const std::byte* {
      const std::byte* columns =
          b.elements() + columns_.begin(i) * column_bytes;
      if (!is_made_dense) return columns;
      dense.resize(site_.k * width);
      for (int64_t t = 0; t < site_.k; ++t) {
        std::copy_n(columns + t * site_.b_row, width, dense.data() + t * width);
      }
      return dense.data();
    };
    const Dims strides =
        is_made_dense ? Dims{width, 1} : Dims{site_.b_row, site_.b_column};
    // Of a B with other rows the same columns would be others.
    const std::string change =
        absl::StrCat(b.change, " ", columns_.begin(i), " ", site_.b_row, " ",
                     site_.b_column);
    auto packed =
        Pack({.content = b.content, .change = change, .elements = part},
             StridedDesc({site_.k, width}, strides, dtype),
             forms_->packed_b(columns_.is_rest(i)), device);
    if (!packed.ok()) return packed.status();
    packed_.push_back(*std::move(packed));
  }
  return absl::OkStatus();
}

uint64_t Product::footprint_bytes() const {
  return sizeof(Product) + packed_.size() * sizeof(packed_[0]);
}

Product::Part Product::part(int64_t index) const {
  const int64_t i = index % columns_.count();
  const int64_t j = index / columns_.count();
  return {.row = rows_.begin(j),
          .row_count = rows_.length(j),
          .column = columns_.begin(i),
          .column_count = columns_.length(i)};
}

const void* Product::PartOfA(int64_t part, const void* a,
                             std::byte*& scratch) const {
  const int64_t j = part / columns_.count();
  const std::byte* own =
      static_cast<const std::byte*>(a) +
      rows_.begin(j) * site_.a_row * BytesOf(site_, site_.a_dtype);
  if (!site_.rounds()) return own;
  auto* rounded = reinterpret_cast<BFloat16*>(scratch);
  scratch += RoundedBytes(site_, rows_);
  const auto* rows = reinterpret_cast<const float*>(own);
  const int64_t count = rows_.length(j);
  if (site_.a_row == site_.k) {
    RoundToBFloat16(rows, count * site_.k, rounded);
    return rounded;
  }
  for (int64_t i = 0; i < count; ++i) {
    RoundToBFloat16(rows + i * site_.a_row, site_.k, rounded + i * site_.k);
  }
  return rounded;
}

absl::Status Product::RunDense(int64_t part, const void* a, const void* b,
                               const float* bias, void* dense,
                               std::byte* scratch) const {
  const int64_t i = part % columns_.count();
  const int64_t j = part / columns_.count();
  const void* a_part = PartOfA(part, a, scratch);
  const std::byte* b_part = site_.has_constant_b
                                ? packed_[i]->address()
                                : static_cast<const std::byte*>(b) +
                                      columns_.begin(i) * site_.b_column *
                                          BytesOf(site_, site_.b_dtype);
  // The library takes addresses of what it only reads without a const.
  absl::InlinedVector<void*, 6> addresses = {const_cast<void*>(a_part),
                                             const_cast<std::byte*>(b_part),
                                             dense, scratch};
  if (site_.has_bias) {
    addresses.push_back(const_cast<float*>(bias + columns_.begin(i)));
  }
  return primitives_[rows_.is_rest(j)][columns_.is_rest(i)]->Run(addresses);
}

absl::Status Product::Run(int64_t part, const float* a, const float* b,
                          const float* bias, float* c,
                          std::byte* scratch) const {
  const auto [row, row_count, column, width] = this->part(part);
  c += row * site_.n + column;
  if (columns_.count() == 1) return RunDense(part, a, b, bias, c, scratch);
  auto* dense = reinterpret_cast<float*>(scratch);
  scratch += AlignUp(rows_.size * columns_.size * sizeof(float));
  absl::Status status = RunDense(part, a, b, bias, dense, scratch);
  if (!status.ok()) return status;
  for (int64_t i = 0; i < row_count; ++i) {
    std::copy_n(dense + i * width, width, c + i * site_.n);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<KernelState>> ProductState::Create(
    const NodeSite& node, const ProductSite& site, const float* b,
    Device& device) {
  auto product = Product::Create(site, b, device);
  if (!product.ok()) return product.status();
  std::unique_ptr<ProductState> state(new ProductState);
  state->product_ = *std::move(product);
  state->epilogue_ = MakeEpiloguePlan(node);
  state->has_bias_ = site.has_bias;
  state->scratch_bytes_ = Product::ScratchBytes(site);
  return state;
}

uint64_t ProductState::footprint_bytes() const {
  return product_->footprint_bytes() +
         (epilogue_ == nullptr ? 0 : epilogue_->footprint_bytes());
}

void ProductState::Finish(const KernelCall& call, int64_t part,
                          int64_t first) const {
  if (epilogue_ == nullptr) return;
  const int64_t n = product_->column_count();
  const auto [row, row_count, column, column_count] = product_->part(part);
  if (column_count == n) {
    epilogue_->Apply(call, first + row * n, first + (row + row_count) * n);
    return;
  }
  for (int64_t i = row; i < row + row_count; ++i) {
    const int64_t begin = first + i * n + column;
    epilogue_->Apply(call, begin, begin + column_count);
  }
}

uint64_t ProductWorkspaceBytes(const ProductSite& site, int64_t batch) {
  return ScratchBytesForParts(batch * Product::PartCount(site),
                              Product::ScratchBytes(site));
}

KernelCost ProductCost(const NodeSite& node, const ProductSite& site,
                       int64_t batch) {
  double bytes = 0;
  for (size_t i = 0; i < node.layouts.size(); ++i) {
    bytes += ByteSize(node.dtypes[i], node.layouts[i].shape.element_count());
  }
  // With few rows every weight is read for little.
  constexpr double kRowSpeedup = 0.07;
  const double speedup =
      std::min(site.rounds() ? kRoundedSpeedup : kSpeedup,
               kRowSpeedup * static_cast<double>(std::max<int64_t>(site.m, 1)));
  const double efficiency = std::min(speedup, 1.0);
  const double flops =
      batch * (site.flops() / speedup + kCallFlops) + EpilogueFlops(node);
  return {
      .flops = efficiency * flops, .bytes = bytes, .efficiency = efficiency};
}

}  // namespace tensord::onednn
