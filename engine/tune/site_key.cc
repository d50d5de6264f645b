#include "engine/tune/site_key.h"

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "backends/api/content_digest.h"
#include "engine/tune/params_writer.h"

namespace tensord {
namespace {

// Of a constant whose contents count.
constexpr uint64_t kMaxContentBytes = 256;
constexpr size_t kKeyBytes = 16;

template <typename T>
void Append(T value, std::string& out) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void AppendDims(absl::Span<const int64_t> dims, std::string& out) {
  Append(dims.size(), out);
  for (int64_t dim : dims) Append(dim, out);
}

bool IsInteger(DType dtype) {
  switch (dtype) {
    case DType::kBool:
    case DType::kInt8:
    case DType::kUInt8:
    case DType::kInt32:
    case DType::kInt64:
      return true;
    default:
      return false;
  }
}

void AppendConstant(const NodeSite& site, int i, std::string& out) {
  const std::byte* constant = site.host_constant(i);
  Append(constant != nullptr, out);
  if (constant == nullptr || site.layouts.empty()) return;
  const DType dtype = site.input_dtype(i);
  const uint64_t bytes = ByteSize(dtype, site.input(i).shape.element_count());
  if (!IsInteger(dtype) || bytes > kMaxContentBytes) return;
  out.append(reinterpret_cast<const char*>(constant), bytes);
}

}  // namespace

std::string SiteKey(const NodeSite& site) {
  std::string text(OpKindName(site.op));
  text.push_back('\0');
  Append(site.precision, text);
  Append(site.input_count, text);
  Append(site.dtypes.size(), text);
  for (DType dtype : site.dtypes) Append(dtype, text);
  for (const Layout& layout : site.layouts) {
    AppendDims(layout.shape.extents(), text);
    AppendDims(layout.strides, text);
    Append(layout.offset, text);
  }
  for (int i = 0; i < site.input_count; ++i) AppendConstant(site, i, text);
  AppendParams(site.params, text);
  return ShortDigest(text);
}

std::string ShortDigest(absl::string_view text) {
  const ContentDigest digest = DigestOf(absl::MakeConstSpan(
      reinterpret_cast<const std::byte*>(text.data()), text.size()));
  return absl::BytesToHexString(absl::string_view(
      reinterpret_cast<const char*>(digest.data()), kKeyBytes));
}

}  // namespace tensord
