// Attention, for each batch and head of q:
//
//   scores = scale * q * k'               [queries, keys]
//   scores = softcap * tanh(scores / softcap), with a softcap
//   scores += masks
//   y = softmax(scores) * v               [queries, value size]
//
// q and y have query heads, k and v fewer: a group of neighbouring heads of q
// shares one. All four are contiguous [batch, heads, sequence, size], or
// [batch, sequence, heads * size]; q, k and v may be parts of the rows of input
// 0. Computes in float32; 16-bit floats are rounded once. A query that sees no
// key gets zeros. Keys and values of earlier runs come ahead of the inputs':
// both are copied one behind the other, to the present outputs or, where nobody
// asked for these, to the workspace. The scores are there too; as an output
// they are left to the host.

#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "backends/api/attention_geometry.h"
#include "backends/vulkan/kernels/row_list.h"
#include "backends/vulkan/kernels/rows.h"
#include "backends/vulkan/kernels/strided_copy.h"
#include "vulkan/shader_codes.h"

namespace tensord::vulkan {
namespace {

struct Heads {
  uint32_t batch, head, row;
};

// attention.comp's table.
struct Extents {
  uint32_t batch, query_heads, group;
  uint32_t queries, keys, past;
  uint32_t size, value_size;
  float scale, softcap;
  Heads q, k, v, y;
  Heads mask;
  int32_t mask_keys;
  uint32_t is_causal;
  int32_t left_window, right_window;
};

// [batch, heads, rows, size], or packed: [batch, rows, heads * size]. A shared
// row has more elements than those of the heads.
Heads ViewOf(bool is_packed, int64_t heads, int64_t rows, int64_t size,
             int64_t shared_row = 0) {
  return {static_cast<uint32_t>(rows *
                                (shared_row > 0 ? shared_row : heads * size)),
          static_cast<uint32_t>(is_packed ? size : rows * size),
          static_cast<uint32_t>(shared_row > 0 ? shared_row
                                : is_packed    ? heads * size
                                               : size)};
}

absl::Status CheckForm(const NodeSite& site, const Plan& plan) {
  const auto& params = std::get<AttentionParams>(site.params);
  if (params.softmax_dtype == DType::kFloat64) {
    return absl::UnimplementedError("its softmax is in float32");
  }
  if (site.has_input(4) != site.has_input(5)) {
    return absl::UnimplementedError("keys of earlier runs without values");
  }
  if (plan.Out(3).kind != Operand::Kind::kAbsent) {
    return absl::UnimplementedError("its scores are an output");
  }
  if (plan.Out(0).kind == Operand::Kind::kAbsent) {
    return absl::UnimplementedError("nobody asks for its result");
  }
  if (!site.has_input(3)) return absl::OkStatus();
  if (site.input(3).shape.rank() == 0 || site.input(3).shape.rank() > 4) {
    return absl::UnimplementedError(
        absl::StrCat("a mask of rank ", site.input(3).shape.rank()));
  }
  const DType mask = site.input_dtype(3);
  if (mask == DType::kBool || mask == site.input_dtype(0)) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError(absl::StrCat("a mask of ", DTypeName(mask)));
}

Extents ExtentsOf(const NodeSite& site, const AttentionGeometry& from) {
  const auto& params = std::get<AttentionParams>(site.params);
  const auto narrow = [](int64_t x) { return static_cast<uint32_t>(x); };
  Extents extents = {};
  extents.batch = narrow(from.batch);
  extents.query_heads = narrow(from.query_heads);
  extents.group = narrow(from.group());
  extents.queries = narrow(from.queries);
  extents.keys = narrow(from.keys());
  extents.past = narrow(from.past);
  extents.size = narrow(from.size);
  extents.value_size = narrow(from.value_size);
  extents.scale =
      params.scale.has_value()
          ? *params.scale
          : static_cast<float>(1 / std::sqrt(static_cast<double>(from.size)));
  extents.softcap = params.softcap;
  extents.q = ViewOf(from.is_packed, from.query_heads, from.queries, from.size,
                     from.shared_row);
  extents.k = ViewOf(from.is_packed, from.key_heads, from.fresh, from.size,
                     from.shared_row);
  extents.v = ViewOf(from.is_packed, from.key_heads, from.fresh,
                     from.value_size, from.shared_row);
  extents.y =
      ViewOf(from.is_packed, from.query_heads, from.queries, from.value_size);
  extents.is_causal = params.is_causal ? 1 : 0;
  extents.left_window = static_cast<int32_t>(params.left_window);
  extents.right_window = static_cast<int32_t>(params.right_window);
  extents.mask_keys = static_cast<int32_t>(from.keys());
  if (!site.has_input(3)) return extents;
  const Shape& mask = site.input(3).shape;
  const int rank = mask.rank();
  extents.mask_keys = static_cast<int32_t>(mask[rank - 1]);
  int64_t stride = mask[rank - 1];
  uint32_t* const strides[] = {&extents.mask.row, &extents.mask.head,
                               &extents.mask.batch};
  for (int d = rank - 2; d >= 0; --d) {
    *strides[rank - 2 - d] = mask[d] == 1 ? 0 : narrow(stride);
    stride *= mask[d];
  }
  return extents;
}

AttentionGeometry GeometryOf(const NodeSite& site) {
  const Shape* past = site.has_input(4) ? &site.input(4).shape : nullptr;
  return AttentionGeometry(std::get<AttentionParams>(site.params),
                           site.input(0).shape, site.input(1).shape,
                           site.input(2).shape, past);
}

// Keys or values as one tensor [batch, heads, keys, size].
struct Joined {
  Operand operand;     // to be read
  uint32_t first = 0;  // element in it
  Heads view;
};

// Copies `past` and what is at `fresh` to `present`.
absl::Status AddJoined(const NodeSite& site, const AttentionGeometry& from,
                       int64_t size, const Operand& past, const Joined& fresh,
                       const Operand& present, Plan& plan) {
  const int bytes = BytesOf(site.output_dtype(0));
  const int64_t keys = from.keys();
  StridedCopy copy = {past, present, bytes, {}};
  if (from.past > 0) {
    copy.loops = {{from.batch * from.key_heads, from.past * size, keys * size},
                  {from.past * size, 1, 1}};
    if (absl::Status s = AddCopy(copy, plan); !s.ok()) return s;
  }
  copy.source = fresh.operand;
  copy.source.offset_bytes += int64_t{fresh.first} * bytes;
  copy.destination.offset_bytes += from.past * size * bytes;
  copy.loops = {{from.batch, fresh.view.batch, from.key_heads * keys * size},
                {from.key_heads, fresh.view.head, keys * size},
                {from.fresh, fresh.view.row, size},
                {size, 1, 1}};
  return AddCopy(copy, plan);
}

uint64_t RoundUp(uint64_t bytes) {
  return (bytes + kStorageAlignment - 1) / kStorageAlignment *
         kStorageAlignment;
}

absl::Status PlanAttention(const NodeSite& site, Plan& plan) {
  if (absl::Status s = CheckForm(site, plan); !s.ok()) return s;
  const auto& params = std::get<AttentionParams>(site.params);
  const AttentionGeometry from = GeometryOf(site);
  const int64_t rows = from.batch * from.query_heads * from.queries;
  constexpr int64_t kMostScores = int64_t{1} << 28;
  if (rows * from.keys() > kMostScores) {
    return absl::UnimplementedError(absl::StrCat(
        rows, " rows of ", from.keys(), " scores do not fit the workspace"));
  }
  uint64_t workspace =
      RoundUp(static_cast<uint64_t>(rows * from.keys()) * sizeof(float));
  Extents extents = ExtentsOf(site, from);
  Joined keys = {plan.In(1), 0, extents.k};
  Joined values = {plan.In(2), 0, extents.v};
  if (params.packs_qkv) {
    // The keys are behind the queries, the values behind the keys.
    keys.operand = values.operand = plan.In(0);
    keys.first = static_cast<uint32_t>(from.query_heads * from.size);
    values.first =
        keys.first + static_cast<uint32_t>(from.key_heads * from.size);
  }
  struct Part {
    Joined& joined;
    int past;
    int present;
    int64_t size;
  };
  for (const Part& part :
       {Part{keys, 4, 1, from.size}, Part{values, 5, 2, from.value_size}}) {
    Operand present = plan.Out(part.present);
    const bool is_asked_for = present.kind != Operand::Kind::kAbsent;
    if (!is_asked_for && !site.has_input(part.past)) continue;
    if (!is_asked_for) {
      present = plan.Workspace(workspace, Operand::Access::kWrite);
      workspace +=
          RoundUp(ByteSize(site.output_dtype(0), from.batch * from.key_heads *
                                                     from.keys() * part.size));
    }
    absl::Status status = AddJoined(site, from, part.size, plan.In(part.past),
                                    part.joined, present, plan);
    if (!status.ok()) return status;
    present.access = Operand::Access::kRead;
    part.joined = {
        present, 0,
        ViewOf(/*is_packed=*/false, from.key_heads, from.keys(), part.size)};
  }
  extents.k = keys.view;
  extents.v = values.view;
  plan.NeedWorkspace(workspace);
  struct {
    uint32_t q_offset, k_offset, v_offset;
  } arguments = {0, keys.first, values.first};
  const bool mask_is_bool =
      site.has_input(3) && site.input_dtype(3) == DType::kBool;
  const bool is_empty = rows == 0 || from.value_size == 0;
  plan.Add(
      shaders::k_attention,
      {WidthOfRow(from.keys()), static_cast<uint32_t>(site.output_dtype(0)),
       mask_is_bool ? 1u : 0u},
      GroupsFor(is_empty ? 0 : rows, 1),
      {plan.In(0), keys.operand, values.operand, plan.Out(0), plan.In(3),
       plan.In(6), plan.Workspace(0, Operand::Access::kReadWrite),
       plan.Table(extents)},
      arguments);
  return absl::OkStatus();
}

KernelCost AttentionCost(const NodeSite& site) {
  constexpr double kEfficiency = 0.05;
  const AttentionGeometry from = GeometryOf(site);
  KernelCost cost = CostByElements(site, 0);
  cost.flops = 2.0 * static_cast<double>(from.batch * from.query_heads) *
               static_cast<double>(from.queries * from.keys()) *
               static_cast<double>(from.size + from.value_size);
  cost.efficiency = kEfficiency;
  return cost;
}

RowList Rows() {
  RowList rows;
  for (const DType dtype : kFloats) {
    rows.Add<&PlanAttention>(OpKind::kAttention,
                             RowList::NameOf("attention", dtype),
                             Takes({dtype, dtype, dtype, DType::kUndefined,
                                    dtype, dtype, DType::kInt64},
                                   {dtype}),
                             {.source = "backends/vulkan/kernels/attention.cc",
                              .cost = &AttentionCost,
                              .caps = {.takes_packed_qkv = true}});
  }
  return rows;
}

}  // namespace

absl::Span<const KernelEntry> AttentionRows() {
  static const auto* const rows = new RowList(Rows());
  return rows->rows();
}

}  // namespace tensord::vulkan
