#include "backends/cpu/onednn/product.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "backends/cpu/kernels/vector_bfloat16.h"

namespace tensord::onednn {
namespace {

constexpr int64_t kRowMultiple = 16;
constexpr int64_t kColumnMultiple = 64;

// Each part of the rows reads all of B. Where that does not fit a second-level
// cache, a part has enough rows to make up for it.
constexpr int64_t kResidentElements = 256 * 1024;
constexpr int64_t kMinRows = 16;
constexpr int64_t kMinRowsOfLargeB = 64;
// Of bytes, which are multiplied faster than they are read.
constexpr int64_t kMinRowsOfLargeBytes = 256;

// With less arithmetic the call itself is what costs.
constexpr double kMinFlops = 32 * 1024;

struct Parts {
  Split rows, columns;
};

// Of an element in memory.
int64_t BytesOf(const ProductSite& site, dnnl_data_type_t dtype) {
  return site.rounds() ? sizeof(float)
                       : static_cast<int64_t>(dnnl_data_type_size(dtype));
}

// A part of A, rounded.
uint64_t RoundedBytes(const ProductSite& site, const Split& rows) {
  return site.rounds() ? AlignUp(rows.size * site.k * sizeof(BFloat16)) : 0;
}

Parts Cut(const ProductSite& site) {
  const int64_t wanted = onednn::PartCount(
      site.flops(), site.is_integer() ? kIntegerPartFlops : kPartFlops);
  int64_t min_rows = kMinRows;
  if (site.k * site.n > kResidentElements) {
    min_rows = site.is_integer() ? kMinRowsOfLargeBytes : kMinRowsOfLargeB;
  }
  const Split rows =
      Split::About(site.m, std::min(wanted, site.m / min_rows), kRowMultiple);
  const Split columns =
      Split::About(site.n, FurtherParts(wanted, rows.count()), kColumnMultiple);
  return {rows, columns};
}

absl::StatusOr<PrimitiveDesc> Describe(const ProductSite& site, int64_t m,
                                       int64_t n,
                                       const dnnl_memory_desc_t* packed_b) {
  const dnnl_memory_desc_t a = StridedDesc(
      {m, site.k}, {site.rounds() ? site.k : site.a_row, site.a_column},
      site.a_dtype);
  dnnl_memory_desc_t b =
      site.has_constant_b
          ? AnyDesc({site.k, n}, site.b_dtype)
          : StridedDesc({site.k, n}, {site.b_row, site.b_column}, site.b_dtype);
  if (packed_b != nullptr) b = *packed_b;
  const dnnl_memory_desc_t bias = DenseDesc({1, n});
  // Not in place among C's other columns, for which there is no fast
  // implementation.
  const dnnl_memory_desc_t c = DenseDesc({m, n}, site.c_dtype);
  dnnl_matmul_desc_t desc;
  absl::Status status = ToStatus(
      dnnl_matmul_desc_init(&desc, &a, &b, site.has_bias ? &bias : nullptr, &c),
      "dnnl_matmul_desc_init");
  if (!status.ok()) return status;
  Attributes attributes;
  if (site.scale != 1) attributes.ScaleOutput(site.scale);
  return PrimitiveDesc::Create(&desc, attributes);
}

// Calls visit(is_rest_of_rows, is_rest_of_columns, desc) for a part of each
// extent that there is. What accepts, plans and makes a node walks the same
// descriptions: how the first part of some columns likes B packed holds for the
// other, and that may be other code with other scratch memory than B in any
// format would get.
template <typename Visit>
absl::Status ForEachForm(const ProductSite& site, const Parts& parts,
                         Visit visit) {
  for (bool is_rest_of_columns : {false, true}) {
    const int64_t n =
        is_rest_of_columns ? parts.columns.rest() : parts.columns.size;
    dnnl_memory_desc_t packed;
    bool is_packed = false;
    for (bool is_rest_of_rows : {false, true}) {
      const int64_t m = is_rest_of_rows ? parts.rows.rest() : parts.rows.size;
      if (m == 0 || n == 0) continue;
      absl::StatusOr<PrimitiveDesc> desc =
          Describe(site, m, n, is_packed ? &packed : nullptr);
      if (!desc.ok()) return desc.status();
      if (site.has_constant_b && !is_packed) {
        packed = desc->operand(DNNL_ARG_WEIGHTS);
        is_packed = true;
      }
      absl::Status status = visit(is_rest_of_rows, is_rest_of_columns, *desc);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
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
  return ForEachForm(site, Cut(site), [](bool, bool, const PrimitiveDesc&) {
    return absl::OkStatus();
  });
}

int64_t Product::PartCount(const ProductSite& site) {
  const Parts parts = Cut(site);
  return parts.rows.count() * parts.columns.count();
}

uint64_t Product::ScratchBytes(const ProductSite& site) {
  const Parts parts = Cut(site);
  uint64_t bytes = 0;
  // Create() will say what is wrong.
  ForEachForm(site, parts, [&](bool, bool, const PrimitiveDesc& desc) {
    bytes = std::max(bytes, desc.scratchpad_bytes());
    return absl::OkStatus();
  }).IgnoreError();
  if (parts.columns.count() > 1 || site.is_integer()) {
    bytes =
        AlignUp(bytes) + parts.rows.size * parts.columns.size * sizeof(float);
  }
  return AlignUp(bytes) + RoundedBytes(site, parts.rows);
}

absl::StatusOr<std::unique_ptr<Product>> Product::Create(
    const ProductSite& site, const void* b, Device& device) {
  const Parts parts = Cut(site);
  std::unique_ptr<Product> result(new Product(site, parts.rows, parts.columns));
  Primitive::Arguments arguments = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS,
                                    DNNL_ARG_DST, DNNL_ARG_SCRATCHPAD};
  if (site.has_bias) arguments.push_back(DNNL_ARG_BIAS);
  absl::Status status =
      ForEachForm(site, parts, [&](bool j, bool i, const PrimitiveDesc& desc) {
        if (site.has_constant_b) {
          result->packed_desc_[i] = desc.operand(DNNL_ARG_WEIGHTS);
        }
        auto primitive = Primitive::Create(desc, arguments);
        if (!primitive.ok()) return primitive.status();
        result->primitives_[j][i] = *std::move(primitive);
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  if (site.has_constant_b) {
    if (absl::Status status =
            result->PackB(static_cast<const std::byte*>(b), device);
        !status.ok()) {
      return status;
    }
  }
  return result;
}

absl::Status Product::PackB(const std::byte* b, Device& device) {
  const int64_t column_bytes = site_.b_column * BytesOf(site_, site_.b_dtype);
  const dnnl_data_type_t dtype = site_.rounds() ? dnnl_f32 : site_.b_dtype;
  std::vector<std::byte> dense;
  for (int64_t i = 0; i < columns_.count(); ++i) {
    const int64_t width = columns_.length(i);
    const std::byte* columns = b + columns_.begin(i) * column_bytes;
    Dims strides = {site_.b_row, site_.b_column};
    if (site_.a_dtype == dnnl_s8 && width != site_.n) {
      // With signed factors the library adds sums up as it packs, which it does
      // for dense rows alone.
      dense.resize(site_.k * width);
      for (int64_t t = 0; t < site_.k; ++t) {
        std::copy_n(columns + t * site_.b_row, width, dense.data() + t * width);
      }
      columns = dense.data();
      strides = {width, 1};
    }
    auto packed = Pack(StridedDesc({site_.k, width}, strides, dtype), columns,
                       packed_desc_[columns_.is_rest(i)], device);
    if (!packed.ok()) return packed.status();
    packed_.push_back(*std::move(packed));
  }
  return absl::OkStatus();
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
  const double speedup = site.rounds() ? kRoundedSpeedup : kSpeedup;
  return {.flops = batch * site.flops() / speedup + EpilogueFlops(node),
          .bytes = bytes};
}

}  // namespace tensord::onednn
