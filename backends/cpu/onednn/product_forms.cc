#include "backends/cpu/onednn/product_forms.h"

#include <algorithm>
#include <list>
#include <vector>

#include "absl/container/flat_hash_map.h"

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

// The forms of the sites that were asked for last, or why there are none.
class KeptForms {
 public:
  using Forms = absl::StatusOr<std::shared_ptr<const ProductForms>>;

  std::optional<Forms> Find(const ProductSite& site) {
    absl::MutexLock lock(&mu_);
    const auto found = by_site_.find(site);
    if (found == by_site_.end()) return std::nullopt;
    by_use_.splice(by_use_.begin(), by_use_, found->second);
    return found->second->forms;
  }

  // Of two threads that made them at once, the first one's stay.
  Forms Keep(const ProductSite& site, Forms forms) {
    const uint64_t bytes =
        sizeof(Entry) + (forms.ok() ? (*forms)->footprint_bytes() : 256);
    std::vector<Forms> dropped;  // die behind the lock
    absl::MutexLock lock(&mu_);
    const auto found = by_site_.find(site);
    if (found != by_site_.end()) return found->second->forms;
    by_use_.push_front({site, forms, bytes});
    by_site_[site] = by_use_.begin();
    bytes_ += bytes;
    while (bytes_ > ProductForms::kKeptBytes && by_use_.size() > 1) {
      Entry& last = by_use_.back();
      bytes_ -= last.bytes;
      dropped.push_back(std::move(last.forms));
      by_site_.erase(last.site);
      by_use_.pop_back();
    }
    return forms;
  }

 private:
  struct Entry {
    ProductSite site;
    Forms forms;
    uint64_t bytes;
  };
  using Entries = std::list<Entry>;

  absl::Mutex mu_;
  Entries by_use_ ABSL_GUARDED_BY(mu_);  // the latest first
  uint64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<ProductSite, Entries::iterator> by_site_
      ABSL_GUARDED_BY(mu_);
};

// As the library's own cache of primitives, the process's.
KeptForms& TheKeptForms() {
  static KeptForms* const kept = new KeptForms;
  return *kept;
}

}  // namespace

ProductParts CutProduct(const ProductSite& site) {
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

ProductForms::ProductForms(const ProductSite& site)
    : rows_(CutProduct(site).rows),
      columns_(CutProduct(site).columns),
      has_bias_(site.has_bias) {}

absl::StatusOr<std::shared_ptr<const ProductForms>> ProductForms::Of(
    const ProductSite& site) {
  if (auto kept = TheKeptForms().Find(site)) return *std::move(kept);
  auto made = Make(site);
  // That there is no code for it stays true; that there was no memory does not.
  if (!made.ok() && !absl::IsUnimplemented(made.status())) return made;
  return TheKeptForms().Keep(site, std::move(made));
}

absl::StatusOr<std::shared_ptr<const ProductForms>> ProductForms::Make(
    const ProductSite& site) {
  std::shared_ptr<ProductForms> forms(new ProductForms(site));
  if (absl::Status status = forms->Describe(site); !status.ok()) return status;
  return forms;
}

// How the first part of some columns likes B packed holds for the other, and
// that may be other code with other scratch memory than B in any format would
// get.
absl::Status ProductForms::Describe(const ProductSite& site) {
  for (bool is_rest_of_columns : {false, true}) {
    const int64_t n = is_rest_of_columns ? columns_.rest() : columns_.size;
    dnnl_memory_desc_t& packed = packed_b_[is_rest_of_columns];
    bool is_packed = false;
    for (bool is_rest_of_rows : {false, true}) {
      const int64_t m = is_rest_of_rows ? rows_.rest() : rows_.size;
      if (m == 0 || n == 0) continue;
      absl::StatusOr<PrimitiveDesc> desc =
          onednn::Describe(site, m, n, is_packed ? &packed : nullptr);
      if (!desc.ok()) return desc.status();
      if (site.has_constant_b && !is_packed) {
        packed = desc->operand(DNNL_ARG_WEIGHTS);
        is_packed = true;
      }
      scratchpad_bytes_ = std::max(scratchpad_bytes_, desc->scratchpad_bytes());
      descs_[is_rest_of_rows][is_rest_of_columns] = *std::move(desc);
    }
  }
  return absl::OkStatus();
}

uint64_t ProductForms::footprint_bytes() const {
  constexpr uint64_t kDescBytes = 8192;  // measured roughly
  uint64_t bytes = sizeof(ProductForms);
  for (const auto& of_rows : descs_) {
    for (const auto& desc : of_rows) {
      if (!desc.has_value()) continue;
      bytes += kDescBytes + Primitive::FootprintBytes(has_bias_ ? 5 : 4);
    }
  }
  return bytes;
}

absl::StatusOr<const Primitive*> ProductForms::primitive(
    bool is_rest_of_rows, bool is_rest_of_columns) const {
  const auto& desc = descs_[is_rest_of_rows][is_rest_of_columns];
  if (!desc.has_value()) return nullptr;
  Primitive::Arguments arguments = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS,
                                    DNNL_ARG_DST, DNNL_ARG_SCRATCHPAD};
  if (has_bias_) arguments.push_back(DNNL_ARG_BIAS);
  {
    absl::MutexLock lock(&mu_);
    const auto& primitive = primitives_[is_rest_of_rows][is_rest_of_columns];
    if (primitive != nullptr) return primitive.get();
  }
  // Without the lock. Of two at once, the first one stays.
  auto made = Primitive::Create(*desc, arguments);
  if (!made.ok()) return made.status();
  absl::MutexLock lock(&mu_);
  auto& primitive = primitives_[is_rest_of_rows][is_rest_of_columns];
  if (primitive == nullptr) primitive = *std::move(made);
  return primitive.get();
}

}  // namespace tensord::onednn
