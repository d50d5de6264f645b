#ifndef TENSORD_BACKENDS_VULKAN_KERNELS_ROW_LIST_H_
#define TENSORD_BACKENDS_VULKAN_KERNELS_ROW_LIST_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/api/kernel.h"
#include "backends/vulkan/plan.h"

// How families write their rows: one call for an operator over a set of dtypes.
namespace tensord::vulkan {

// What rows of a family have in common.
struct RowTraits {
  const char* source;  // "backends/vulkan/kernels/unary.cc"
  KernelCost (*cost)(const NodeSite& site) = nullptr;
  KernelCaps caps = {};
};

// Rows whose functions come from a PlanFunction.
// Threading: one thread, once. Ownership: names live as long as the process.
class RowList {
 public:
  template <PlanFunction* kPlan>
  void Add(OpKind op, absl::string_view name, const DTypeSignature& dtypes,
           const RowTraits& traits) {
    rows_.push_back(
        {.op = op,
         .dtypes = dtypes,
         .name = Kept(name),
         .source = traits.source,
         .accepts = [](const NodeSite& s) { return AcceptsByPlan(s, kPlan); },
         .workspace_bytes =
             [](const NodeSite& s) { return WorkspaceByPlan(s, kPlan); },
         .prepare = [](const NodeSite& s,
                       Device& d) { return PrepareByPlan(s, d, kPlan); },
         .cost = traits.cost,
         .run = &RunPlan,
         .caps = traits.caps});
  }

  // A row NAME_DTYPE for each dtype, all of whose operands have it.
  template <PlanFunction* kPlan>
  void AddAll(OpKind op, absl::string_view name, absl::Span<const DType> dtypes,
              const RowTraits& traits) {
    for (const DType dtype : dtypes) {
      Add<kPlan>(op, NameOf(name, dtype), tensord::All(dtype), traits);
    }
  }

  absl::Span<const KernelEntry> rows() const { return rows_; }

  // "add_f32".
  static std::string NameOf(absl::string_view name, DType dtype);

 private:
  static const char* Kept(absl::string_view name);

  std::vector<KernelEntry> rows_;
};

inline constexpr DType kFloats[] = {DType::kFloat32, DType::kFloat16,
                                    DType::kBFloat16};
inline constexpr DType kSignedIntegers[] = {DType::kInt8, DType::kInt16,
                                            DType::kInt32, DType::kInt64};
inline constexpr DType kUnsignedIntegers[] = {DType::kUInt8, DType::kUInt16,
                                              DType::kUInt32, DType::kUInt64};
// Of whole bytes and with arithmetic somewhere: what is only moved.
inline constexpr DType kBytes[] = {
    DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,
    DType::kInt8,    DType::kInt16,   DType::kInt32,   DType::kInt64,
    DType::kUInt8,   DType::kUInt16,  DType::kUInt32,  DType::kUInt64,
    DType::kBool};

inline bool IsFloat(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 ||
         dtype == DType::kBFloat16;
}
inline bool IsUnsigned(DType dtype) {
  return dtype == DType::kUInt8 || dtype == DType::kUInt16 ||
         dtype == DType::kUInt32 || dtype == DType::kUInt64 ||
         dtype == DType::kBool;
}
inline int BytesOf(DType dtype) { return BitWidth(dtype) / 8; }

// Work groups for so many invocations, `width` in a group. Kernels walk what is
// above the most groups in strides of the grid.
std::array<uint32_t, 3> GroupsFor(int64_t count, uint32_t width = 256);
inline constexpr uint32_t kMostGroups = 65535;  // that every device takes

// How many invocations go along a row of so many elements: a power of two, at
// most 256.
uint32_t WidthOfRow(int64_t extent);

// Bytes read and written, and so many operations for each output.
KernelCost CostByElements(const NodeSite& site, double flops_an_output);

}  // namespace tensord::vulkan

#endif  // TENSORD_BACKENDS_VULKAN_KERNELS_ROW_LIST_H_
