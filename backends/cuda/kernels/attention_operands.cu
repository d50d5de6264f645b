#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "absl/strings/str_cat.h"
#include "backends/api/attention_geometry.h"
#include "backends/cuda/kernels/attention_operands.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/number.h"

// The host's side of Attention's operands, and the copies of keys and values.
namespace tensord::cuda {
namespace {

// [batch, heads, rows, size], or packed: [batch, rows, heads * size]. A shared
// row has more elements than those of the heads.
HeadsView ViewOf(bool is_packed, int64_t heads, int64_t rows, int64_t size,
                 int64_t shared_row = 0) {
  return {rows * (shared_row > 0 ? shared_row : heads * size),
          is_packed ? size : rows * size,
          shared_row > 0 ? shared_row
          : is_packed    ? heads * size
                         : size};
}

template <typename T>
AttentionOperands<T> ExtentsOf(const NodeSite& site) {
  const Shape* past = site.has_input(4) ? &site.input(4).shape : nullptr;
  return AttentionExtents<T>(std::get<AttentionParams>(site.params),
                             site.input(0).shape, site.input(1).shape,
                             site.input(2).shape, past);
}

template <typename T>
T* OptionalOutput(const KernelCall& call, size_t i) {
  const bool is_present =
      i < call.outputs.size() && call.outputs[i].is_present();
  return is_present ? call.output<T>(static_cast<int>(i)) : nullptr;
}

AttentionMask MaskOf(const KernelCall& call, int keys, size_t element_bytes) {
  const auto& params = std::get<AttentionParams>(call.params);
  AttentionMask mask = {};
  mask.mask_keys = keys;
  mask.is_causal = params.is_causal;
  mask.left_window = params.left_window;
  mask.right_window = params.right_window;
  if (call.has_input(6)) mask.lengths = call.input<int64_t>(6);
  if (!call.has_input(3)) return mask;
  mask.is_bool = static_cast<const AttentionState*>(call.state)->mask_is_bool;
  const Layout& layout = call.input_layout(3);
  mask.mask = call.inputs[3].address() +
              layout.offset * (mask.is_bool ? 1 : element_bytes);
  const int rank = layout.shape.rank();
  mask.mask_keys = static_cast<int>(layout.shape[rank - 1]);
  int64_t stride = mask.mask_keys;
  int64_t* const strides[] = {&mask.query, &mask.head, &mask.batch};
  for (int d = rank - 2; d >= 0; --d) {
    *strides[rank - 2 - d] = layout.shape[d] == 1 ? 0 : stride;
    stride *= layout.shape[d];
  }
  return mask;
}

// present [batch, heads, keys, size]: past rows, then the new ones.
template <typename T>
__global__ void CopyPresent(const T* past, const T* fresh, HeadsView view,
                            int heads, int past_rows, int rows, int size,
                            T* present, int64_t count) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += step) {
    const int64_t row = i / size % rows;
    const int64_t head = i / size / rows;
    const int64_t d = i % size;
    present[i] =
        row < past_rows
            ? past[(head * past_rows + row) * size + d]
            : fresh[head / heads * view.batch + head % heads * view.head +
                    (row - past_rows) * view.row + d];
  }
}

}  // namespace

template <typename T>
AttentionOperands<T> AttentionExtents(const AttentionParams& params,
                                      const Shape& q, const Shape& k,
                                      const Shape& v, const Shape* past_k) {
  const AttentionGeometry from(params, q, k, v, past_k);
  AttentionOperands<T> operands = {};
  operands.batch = static_cast<int>(from.batch);
  operands.query_heads = static_cast<int>(from.query_heads);
  operands.key_heads = static_cast<int>(from.key_heads);
  operands.queries = static_cast<int>(from.queries);
  operands.past = static_cast<int>(from.past);
  operands.fresh = static_cast<int>(from.fresh);
  operands.size = static_cast<int>(from.size);
  operands.value_size = static_cast<int>(from.value_size);
  operands.scale =
      params.scale.has_value()
          ? *params.scale
          : static_cast<float>(1 / std::sqrt(static_cast<double>(from.size)));
  operands.softcap = params.softcap;
  operands.scores_mode = static_cast<int>(params.matmul_output_mode);
  operands.q_view = ViewOf(from.is_packed, from.query_heads, from.queries,
                           from.size, from.shared_row);
  operands.k_view = ViewOf(from.is_packed, from.key_heads, from.fresh,
                           from.size, from.shared_row);
  operands.v_view = ViewOf(from.is_packed, from.key_heads, from.fresh,
                           from.value_size, from.shared_row);
  operands.y_view =
      ViewOf(from.is_packed, from.query_heads, from.queries, from.value_size);
  return operands;
}

template <typename T>
AttentionOperands<T> AttentionOperandsOf(const KernelCall& call) {
  const auto& params = std::get<AttentionParams>(call.params);
  const Shape* past = call.has_input(4) ? &call.input_layout(4).shape : nullptr;
  AttentionOperands<T> operands = AttentionExtents<T>(
      params, call.input_layout(0).shape, call.input_layout(1).shape,
      call.input_layout(2).shape, past);
  operands.q = call.input<T>(0);
  if (params.packs_qkv) {
    // The keys are behind the queries, the values behind the keys.
    operands.k = operands.q + int64_t{operands.query_heads} * operands.size;
    operands.v = operands.k + int64_t{operands.key_heads} * operands.size;
  } else {
    operands.k = call.input<T>(1);
    operands.v = call.input<T>(2);
  }
  if (call.has_input(4)) operands.past_k = call.input<T>(4);
  if (call.has_input(5)) operands.past_v = call.input<T>(5);
  operands.y = OptionalOutput<T>(call, 0);
  operands.scores = OptionalOutput<T>(call, 3);
  operands.mask = MaskOf(call, operands.past + operands.fresh, sizeof(T));
  return operands;
}

absl::Status CheckAttention(const NodeSite& site) {
  const auto& params = std::get<AttentionParams>(site.params);
  if (params.softmax_dtype == DType::kFloat64) {
    return absl::UnimplementedError("its softmax is in float32");
  }
  if (site.layouts.empty()) return absl::OkStatus();
  constexpr int64_t kMaxExtent = int64_t{1} << 30;
  for (const Layout& layout : site.layouts) {
    for (int64_t extent : layout.shape.extents()) {
      if (extent <= kMaxExtent) continue;
      return absl::UnimplementedError(
          absl::StrCat("an extent of ", extent, " is above ", kMaxExtent));
    }
  }
  return absl::OkStatus();
}

KernelCost AttentionCost(const NodeSite& site) {
  const AttentionOperands<float> extents = ExtentsOf<float>(site);
  const double scores = static_cast<double>(extents.batch) *
                        extents.query_heads * extents.queries *
                        (extents.past + extents.fresh);
  double elements = 0;
  for (int i = 0; i < 3; ++i) {
    if (site.has_input(i)) elements += site.input(i).shape.element_count();
  }
  elements += static_cast<double>(extents.batch) * extents.query_heads *
              extents.queries * extents.value_size;
  return {.flops = scores * (2.0 * (extents.size + extents.value_size) + 14),
          .bytes = elements * ByteSize(site.input_dtype(0), 1),
          .efficiency = 0.05};
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareAttention(
    const NodeSite& site, Device&) {
  auto state = std::make_unique<AttentionState>();
  state->mask_is_bool =
      site.has_input(3) && site.input_dtype(3) == DType::kBool;
  return state;
}

template <typename T>
absl::Status StorePresent(const KernelCall& call,
                          const AttentionOperands<T>& operands) {
  struct Cache {
    const T* past;
    const T* fresh;
    HeadsView view;
    int size;
  };
  const Cache caches[] = {
      {operands.past_k, operands.k, operands.k_view, operands.size},
      {operands.past_v, operands.v, operands.v_view, operands.value_size}};
  for (int i = 0; i < 2; ++i) {
    T* present = OptionalOutput<T>(call, i + 1);
    const int rows = operands.past + operands.fresh;
    const int64_t count =
        int64_t{operands.batch} * operands.key_heads * rows * caches[i].size;
    if (present == nullptr || count == 0) continue;
    absl::Status status = Launch(
        call.context, &CopyPresent<T>, ForElements(count), caches[i].past,
        caches[i].fresh, caches[i].view, operands.key_heads, operands.past,
        rows, caches[i].size, present, count);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE(T)                                             \
  template AttentionOperands<T> AttentionExtents<T>(                       \
      const AttentionParams&, const Shape&, const Shape&, const Shape&,    \
      const Shape*);                                                       \
  template AttentionOperands<T> AttentionOperandsOf<T>(const KernelCall&); \
  template absl::Status StorePresent<T>(const KernelCall&,                 \
                                        const AttentionOperands<T>&);
TENSORD_INSTANTIATE(float)
TENSORD_INSTANTIATE(Half)
TENSORD_INSTANTIATE(BHalf)
#undef TENSORD_INSTANTIATE

}  // namespace tensord::cuda
