#include "backends/vulkan/kernels/row_list.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tensord::vulkan {
namespace {

absl::string_view Suffix(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "f32";
    case DType::kFloat64:
      return "f64";
    case DType::kFloat16:
      return "f16";
    case DType::kBFloat16:
      return "bf16";
    case DType::kInt8:
      return "i8";
    case DType::kInt16:
      return "i16";
    case DType::kInt32:
      return "i32";
    case DType::kInt64:
      return "i64";
    case DType::kUInt8:
      return "u8";
    case DType::kUInt16:
      return "u16";
    case DType::kUInt32:
      return "u32";
    case DType::kUInt64:
      return "u64";
    default:
      return DTypeName(dtype);
  }
}

}  // namespace

std::string RowList::NameOf(absl::string_view name, DType dtype) {
  return absl::StrCat(name, "_", Suffix(dtype));
}

const char* RowList::Kept(absl::string_view name) {
  return (new std::string(name))->c_str();
}

std::array<uint32_t, 3> GroupsFor(int64_t count, uint32_t width) {
  const int64_t groups = (count + width - 1) / width;
  return {static_cast<uint32_t>(std::min<int64_t>(groups, kMostGroups)), 1, 1};
}

uint32_t WidthOfRow(int64_t extent) {
  if (extent <= 64) return 32;
  if (extent <= 256) return 64;
  return extent <= 1024 ? 128 : 256;
}

KernelCost CostByElements(const NodeSite& site, double flops_an_output) {
  KernelCost cost;
  for (size_t i = 0; i < site.dtypes.size(); ++i) {
    if (site.dtypes[i] == DType::kUndefined) continue;
    cost.bytes += static_cast<double>(
        ByteSize(site.dtypes[i], site.layouts[i].shape.element_count()));
  }
  cost.flops = flops_an_output *
               static_cast<double>(site.output(0).shape.element_count());
  return cost;
}

}  // namespace tensord::vulkan
