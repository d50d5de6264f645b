// Resize and Upsample.
//
//   y[i0, i1, ...] = sum over taps k0, k1, ... of
//                    w0[i0, k0] * w1[i1, k1] * ... * x[j0[i0, k0], ...]
//
// where each dimension's indices j and weights w are made ahead of the run
// (backends/api/resize_plan.h) and kept on the device. x and y are contiguous
// and different buffers. Sums are float32, nested as separate passes would be;
// nearest only copies elements. Up to four dimensions may change; outputs
// outside of a region are left to the host. The scales, the sizes and the
// region must be known before the run.

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/api/resize_plan.h"
#include "backends/vulkan/kernels/row_list.h"
#include "backends/vulkan/kernels/rows.h"
#include "vulkan/shader_codes.h"

namespace tensord::vulkan {
namespace {

// resize.comp's.
constexpr int kMostPasses = 4;
constexpr int kMostDimensions = 8;
constexpr uint32_t kStays = 0xffffffffu;

struct ResizeTable {
  uint32_t rank;
  struct {
    uint32_t extent, stride, pass;
  } dimensions[kMostDimensions];
  struct {
    uint32_t taps, stride, indices, weights;
  } passes[kMostPasses];
};

template <typename T>
Operand TableOf(const std::vector<T>& values, Plan& plan) {
  if (values.empty()) return {};
  return plan.Table(
      absl::MakeConstSpan(reinterpret_cast<const std::byte*>(values.data()),
                          values.size() * sizeof(T)));
}

void SetDimensions(const Layout& x, const Shape& y,
                   const std::vector<int>& passes, ResizeTable& table) {
  table.rank = static_cast<uint32_t>(y.rank());
  for (int d = 0; d < y.rank(); ++d) {
    const int from = y.rank() - 1 - d;
    table.dimensions[d] = {static_cast<uint32_t>(y[from]),
                           static_cast<uint32_t>(x.strides[from]), kStays};
    for (size_t p = 0; p < passes.size(); ++p) {
      if (passes[p] == from) {
        table.dimensions[d].pass = static_cast<uint32_t>(p);
      }
    }
  }
}

absl::Status PlanResize(const NodeSite& site, Plan& plan) {
  if (absl::Status s = ResizePlan::AcceptsArguments(site); !s.ok()) return s;
  const auto& params = std::get<ResizeParams>(site.params);
  const Shape& y = site.output(0).shape;
  const bool is_nearest = params.mode == ResizeMode::kNearest;
  const DType dtype = site.input_dtype(0);
  if (!is_nearest && !IsFloat(dtype) && dtype != DType::kInt8 &&
      dtype != DType::kUInt8 && dtype != DType::kInt32) {
    return absl::UnimplementedError(
        absl::StrCat("there are no weighted sums of ", DTypeName(dtype)));
  }
  const ResizePlan resize(site);
  if (resize.has_outside) {
    return absl::UnimplementedError("it has outputs outside of the region");
  }
  if (resize.passes.size() > kMostPasses || y.rank() > kMostDimensions) {
    return absl::UnimplementedError(absl::StrCat(
        resize.passes.size(), " of ", y.rank(), " dimensions change; ",
        kMostPasses, " of ", kMostDimensions, " may"));
  }
  ResizeTable table = {};
  SetDimensions(site.input(0), y, resize.passes, table);
  std::vector<uint32_t> numbers;
  std::vector<float> weights;
  for (size_t p = 0; p < resize.passes.size(); ++p) {
    const int d = resize.passes[p];
    const ResizeAxis& axis = resize.axes[d];
    table.passes[p] = {static_cast<uint32_t>(axis.taps),
                       static_cast<uint32_t>(site.input(0).strides[d]),
                       static_cast<uint32_t>(numbers.size()),
                       static_cast<uint32_t>(weights.size())};
    numbers.insert(numbers.end(), axis.indices.begin(), axis.indices.end());
    weights.insert(weights.end(), axis.weights.begin(), axis.weights.end());
  }
  const Operand operands[] = {plan.Table(table), TableOf(numbers, plan),
                              TableOf(weights, plan)};
  plan.Add(shaders::k_resize,
           {256, static_cast<uint32_t>(dtype),
            static_cast<uint32_t>(BytesOf(dtype)), is_nearest ? 1u : 0u},
           GroupsFor(y.element_count()),
           {plan.In(0), plan.Out(0), operands[0], operands[1], operands[2]},
           static_cast<uint32_t>(y.element_count()));
  return absl::OkStatus();
}

KernelCost ResizeCost(const NodeSite& site) {
  constexpr double kEfficiency = 0.1;
  KernelCost cost = CostByElements(site, 16);
  cost.efficiency = kEfficiency;
  return cost;
}

RowList Rows() {
  const RowTraits traits = {.source = "backends/vulkan/kernels/resize.cc",
                            .cost = &ResizeCost};
  RowList rows;
  for (const DType dtype : kBytes) {
    const DTypeSignature dtypes = Takes(
        {dtype, DType::kFloat32, DType::kFloat32, DType::kInt64}, {dtype});
    rows.Add<&PlanResize>(OpKind::kResize, RowList::NameOf("resize", dtype),
                          dtypes, traits);
    rows.Add<&PlanResize>(OpKind::kUpsample, RowList::NameOf("upsample", dtype),
                          dtypes, traits);
  }
  return rows;
}

}  // namespace

absl::Span<const KernelEntry> ResizeRows() {
  static const auto* const rows = new RowList(Rows());
  return rows->rows();
}

}  // namespace tensord::vulkan
