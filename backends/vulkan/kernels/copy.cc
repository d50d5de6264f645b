// Identity, and the copies of strided_copy.h.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/vulkan/kernels/row_list.h"
#include "backends/vulkan/kernels/rows.h"
#include "backends/vulkan/kernels/strided_copy.h"
#include "vulkan/shader_codes.h"

namespace tensord::vulkan {
namespace {

constexpr uint32_t kWidth = 256;
constexpr int kMostLoops = 8;  // copy.comp's MOST_LOOPS

// copy.comp's, behind the addresses.
struct Arguments {
  uint32_t count;
  uint32_t loop_count;
  struct {
    uint32_t extent;
    int32_t from;
    int32_t to;
  } loops[kMostLoops];
};

// Loops of one round are left out, and neighbours merged that walk as one.
void Merge(StridedCopy& copy) {
  absl::InlinedVector<StridedCopy::Loop, 8> merged;
  for (const StridedCopy::Loop& loop : copy.loops) {
    if (loop.extent == 1) continue;
    if (!merged.empty()) {
      StridedCopy::Loop& outer = merged.back();
      if (outer.from == loop.from * loop.extent &&
          outer.to == loop.to * loop.extent) {
        outer = {outer.extent * loop.extent, loop.from, loop.to};
        continue;
      }
    }
    merged.push_back(loop);
  }
  if (merged.empty()) merged.push_back({1, 1, 1});
  copy.loops = std::move(merged);
}

// Two elements as one, where all that the copy touches comes in pairs. Storages
// and slots of the arena are aligned to more than 16 bytes.
bool Widen(StridedCopy& copy) {
  if (copy.element_bytes >= 16) return false;
  const int64_t wide = 2 * copy.element_bytes;
  if (copy.source.offset_bytes % wide != 0 ||
      copy.destination.offset_bytes % wide != 0) {
    return false;
  }
  StridedCopy::Loop& inner = copy.loops.back();
  if (inner.from != 1 || inner.to != 1 || inner.extent % 2 != 0) return false;
  for (size_t d = 0; d + 1 < copy.loops.size(); ++d) {
    if (copy.loops[d].from % 2 != 0 || copy.loops[d].to % 2 != 0) return false;
  }
  for (size_t d = 0; d + 1 < copy.loops.size(); ++d) {
    copy.loops[d].from /= 2;
    copy.loops[d].to /= 2;
  }
  inner.extent /= 2;
  copy.element_bytes *= 2;
  return true;
}

absl::Status PlanIdentity(const NodeSite& site, Plan& plan) {
  const Layout& x = site.input(0);
  const Layout& y = site.output(0);
  StridedCopy copy = {
      plan.In(0), plan.Out(0), BytesOf(site.input_dtype(0)), {}};
  for (int d = 0; d < x.shape.rank(); ++d) {
    copy.loops.push_back({x.shape[d], x.strides[d], y.strides[d]});
  }
  return AddCopy(std::move(copy), plan);
}

RowList Rows() {
  RowList rows;
  rows.AddAll<&PlanIdentity>(
      OpKind::kIdentity, "identity", kBytes,
      {.source = "backends/vulkan/kernels/copy.cc",
       .caps = {.strided_input = true, .in_place_inputs = 0b1}});
  return rows;
}

}  // namespace

absl::Status AddCopy(StridedCopy copy, Plan& plan) {
  int64_t count = 1;
  for (const StridedCopy::Loop& loop : copy.loops) count *= loop.extent;
  Merge(copy);
  while (Widen(copy)) {
  }
  if (copy.loops.size() > kMostLoops) {
    return absl::UnimplementedError(absl::StrCat(
        "a copy in ", copy.loops.size(), " loops, above ", kMostLoops));
  }
  Arguments arguments = {};
  arguments.count = count == 0 ? 0 : 1;
  for (const StridedCopy::Loop& loop : copy.loops) {
    arguments.count *= static_cast<uint32_t>(loop.extent);
  }
  arguments.loop_count = static_cast<uint32_t>(copy.loops.size());
  for (uint32_t d = 0; d < arguments.loop_count; ++d) {
    const StridedCopy::Loop& loop = copy.loops[arguments.loop_count - 1 - d];
    arguments.loops[d] = {static_cast<uint32_t>(loop.extent),
                          static_cast<int32_t>(loop.from),
                          static_cast<int32_t>(loop.to)};
  }
  plan.Add(shaders::k_copy, {kWidth, static_cast<uint32_t>(copy.element_bytes)},
           GroupsFor(arguments.count, kWidth), {copy.source, copy.destination},
           arguments);
  return absl::OkStatus();
}

absl::Span<const KernelEntry> CopyRows() {
  static const auto* const rows = new RowList(Rows());
  return rows->rows();
}

}  // namespace tensord::vulkan
