// Attention, for each batch and head of q:
//
//   scores = scale * q * k'               [queries, keys]
//   scores = softcap * tanh(scores / softcap), with a softcap
//   scores += masks                       (attention_mask.h)
//   y = softmax(scores) * v               [queries, value size]
//
// q and y have query heads, k and v fewer: a group of neighbouring heads of q
// shares one. All four are contiguous [batch, heads, sequence, size], or
// [batch, sequence, heads * size]; q, k and v may be parts of the rows of input
// 0. k and v are the past's, [batch, heads, past,
// size], followed by the inputs; the present outputs are both in one. The
// fourth output is the scores as they are in one of the lines above, or the
// softmax, [batch, heads, queries, keys]. No output is an input's buffer.
//
// Computes in float32, or float64 for float64; softmax in float64 where
// softmax_precision says so. 16-bit floats are rounded once. A query that sees
// no key gets zeros. A length outside [0, keys] is kInvalidArgument.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>

#include "absl/strings/str_cat.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/attention_cache.h"
#include "backends/cpu/kernels/attention_geometry.h"
#include "backends/cpu/kernels/attention_mask.h"
#include "backends/cpu/kernels/attention_products.h"
#include "backends/cpu/kernels/is_stopped.h"

namespace tensord {
namespace {

using attention::Cache;
using attention::Geometry;
using attention::Heads;

// What a kernel does not see at the run.
struct AttentionState final : KernelState {
  bool mask_is_bool = false;
};

Geometry GeometryOf(const NodeSite& site) {
  const Shape* past = site.has_input(4) ? &site.input(4).shape : nullptr;
  return Geometry(std::get<AttentionParams>(site.params), site.input(0).shape,
                  site.input(1).shape, site.input(2).shape, past);
}
Geometry GeometryOf(const KernelCall& call) {
  const Shape* past = call.has_input(4) ? &call.input_layout(4).shape : nullptr;
  return Geometry(std::get<AttentionParams>(call.params),
                  call.input_layout(0).shape, call.input_layout(1).shape,
                  call.input_layout(2).shape, past);
}

template <typename T>
T* OptionalOutput(const KernelCall& call, size_t i) {
  const bool is_present =
      i < call.outputs.size() && call.outputs[i].is_present();
  return is_present ? call.output<T>(static_cast<int>(i)) : nullptr;
}

absl::Status CheckLengths(const KernelCall& call, const Geometry& geometry) {
  if (!call.has_input(6)) return absl::OkStatus();
  const int64_t* lengths = call.input<int64_t>(6);
  for (int64_t b = 0; b < geometry.batch; ++b) {
    if (lengths[b] < 0 || lengths[b] > geometry.keys()) {
      return absl::InvalidArgumentError(
          absl::StrCat("nonpad_kv_seqlen is ", lengths[b], " at ", b,
                       ", outside [0, ", geometry.keys(), "]"));
    }
  }
  return absl::OkStatus();
}

// S is what the exponentials are computed and summed in.
template <typename S, typename C>
void Softmax(C* scores, int64_t keys) {
  C maximum = -std::numeric_limits<C>::infinity();
  for (int64_t j = 0; j < keys; ++j) maximum = std::max(maximum, scores[j]);
  if (maximum == -std::numeric_limits<C>::infinity()) maximum = 0;
  S sum = 0;
  for (int64_t j = 0; j < keys; ++j) {
    const S e = std::exp(static_cast<S>(scores[j]) - static_cast<S>(maximum));
    scores[j] = static_cast<C>(e);
    sum += e;
  }
  // All scores are -infinity.
  const S factor = sum == 0 ? S{0} : 1 / sum;
  for (int64_t j = 0; j < keys; ++j) {
    scores[j] = static_cast<C>(static_cast<S>(scores[j]) * factor);
  }
}

template <typename T>
class Attention {
 public:
  using C = ComputeType<T>;

  Attention(const KernelCall& call, const Geometry& geometry)
      : params_(std::get<AttentionParams>(call.params)),
        geometry_(geometry),
        q_(call.input<T>(0), geometry.is_packed, geometry.query_heads,
           geometry.queries, geometry.size, geometry.shared_row),
        keys_(call, geometry, 1, 4, geometry.size),
        values_(call, geometry, 2, 5, geometry.value_size),
        y_(OptionalOutput<T>(call, 0), geometry.is_packed, geometry.query_heads,
           geometry.queries, geometry.value_size),
        told_scores_(OptionalOutput<T>(call, 3)),
        masks_(call, geometry_,
               static_cast<const AttentionState*>(call.state)->mask_is_bool) {
    const auto size = static_cast<double>(geometry.size);
    scale_ = params_.scale.has_value() ? static_cast<C>(*params_.scale)
                                       : static_cast<C>(1 / std::sqrt(size));
  }
  // masks_ refers to geometry_.
  Attention(const Attention&) = delete;
  Attention& operator=(const Attention&) = delete;

  const Cache<T>& keys() const { return keys_; }
  const Cache<T>& values() const { return values_; }

  // One block of queries, with slot_elements() of scratch.
  void RunTask(int64_t task, C* scratch) const {
    const int64_t block = task % geometry_.blocks();
    const int64_t head = task / geometry_.blocks() % geometry_.query_heads;
    const int64_t batch = task / geometry_.blocks() / geometry_.query_heads;
    const int64_t first = block * Geometry::kBlockQueries;
    const int64_t rows =
        std::min(Geometry::kBlockQueries, geometry_.queries - first);
    const int64_t keys = geometry_.keys();
    C* scores = scratch;
    C* sums = scratch + geometry_.block_queries() * keys;
    T* told = told_scores_ == nullptr
                  ? nullptr
                  : told_scores_ + ((batch * geometry_.query_heads + head) *
                                        geometry_.queries +
                                    first) *
                                       keys;
    const auto tell = [&](int64_t mode) {
      if (told == nullptr || params_.matmul_output_mode != mode) return;
      std::copy_n(scores, rows * keys, told);
    };

    ScoreBlock(batch, head, first, rows, scores);
    tell(0);
    if (params_.softcap != 0) {
      const C cap = params_.softcap;
      for (int64_t i = 0; i < rows * keys; ++i) {
        scores[i] = cap * std::tanh(scores[i] / cap);
      }
    }
    tell(1);
    bool sees_any[Geometry::kBlockQueries];
    for (int64_t r = 0; r < rows; ++r) {
      sees_any[r] = masks_.Apply(batch, head, first + r, scores + r * keys);
    }
    tell(2);
    for (int64_t r = 0; r < rows; ++r) {
      C* row = scores + r * keys;
      if (!sees_any[r]) {
        std::fill_n(row, keys, C{0});
      } else if (params_.softmax_dtype == DType::kFloat64) {
        Softmax<double>(row, keys);
      } else {
        Softmax<C>(row, keys);
      }
    }
    tell(3);
    if (y_.data != nullptr) StoreBlock(batch, head, first, rows, scores, sums);
  }

 private:
  void ScoreBlock(int64_t batch, int64_t head, int64_t first, int64_t rows,
                  C* scores) const {
    const attention::RowsOf<T> q = {q_.Of(batch, head) + first * q_.row_stride,
                                    q_.row_stride};
    const int64_t own = head / geometry_.group();
    if (geometry_.past > 0) {
      attention::Score<T, C>(q, rows, keys_.PastOf(batch, own), geometry_.past,
                             geometry_.size, scale_, scores, geometry_.keys());
    }
    attention::Score<T, C>(q, rows, keys_.FreshOf(batch, own), geometry_.fresh,
                           geometry_.size, scale_, scores + geometry_.past,
                           geometry_.keys());
  }

  void StoreBlock(int64_t batch, int64_t head, int64_t first, int64_t rows,
                  const C* weights, C* sums) const {
    const int64_t own = head / geometry_.group();
    const int64_t size = geometry_.value_size;
    if (geometry_.past > 0) {
      attention::AddValues<T, C>(weights, geometry_.keys(), rows,
                                 values_.PastOf(batch, own), geometry_.past,
                                 size, /*accumulates=*/false, sums);
    }
    attention::AddValues<T, C>(weights + geometry_.past, geometry_.keys(), rows,
                               values_.FreshOf(batch, own), geometry_.fresh,
                               size, /*accumulates=*/geometry_.past > 0, sums);
    T* y = y_.Of(batch, head) + first * y_.row_stride;
    for (int64_t r = 0; r < rows; ++r) {
      std::copy_n(sums + r * size, size, y + r * y_.row_stride);
    }
  }

  const AttentionParams& params_;
  const Geometry geometry_;
  const Heads<const T> q_;
  const Cache<T> keys_;
  const Cache<T> values_;
  const Heads<T> y_;
  T* const told_scores_;
  const attention::Masks<T> masks_;
  C scale_;
};

int64_t ComputeBytes(DType dtype) {
  return dtype == DType::kFloat64 ? sizeof(double) : sizeof(float);
}

}  // namespace

uint64_t AttentionWorkspaceBytes(const NodeSite& site) {
  return static_cast<uint64_t>(
      GeometryOf(site).workspace_bytes(ComputeBytes(site.input_dtype(0))));
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareAttention(
    const NodeSite& site, Device&) {
  auto state = std::make_unique<AttentionState>();
  state->mask_is_bool =
      site.has_input(3) && site.input_dtype(3) == DType::kBool;
  return state;
}

KernelCost AttentionCost(const NodeSite& site) {
  const Geometry geometry = GeometryOf(site);
  const double scores = static_cast<double>(geometry.batch) *
                        static_cast<double>(geometry.query_heads) *
                        static_cast<double>(geometry.queries) *
                        static_cast<double>(geometry.keys());
  double elements = 0;
  for (int i = 0; i < 3; ++i) {
    if (site.has_input(i)) elements += site.input(i).shape.element_count();
  }
  return {.flops = scores * (2.0 * (geometry.size + geometry.value_size) + 14),
          .bytes = elements * ByteSize(site.input_dtype(0), 1),
          .efficiency = 0.06};
}

template <typename T>
absl::Status RunAttention(const KernelCall& call) {
  using C = ComputeType<T>;
  const Geometry geometry = GeometryOf(call);
  if (absl::Status status = CheckLengths(call, geometry); !status.ok()) {
    return status;
  }
  const Attention<T> attention(call, geometry);
  WorkerPool& workers = *call.context.workers;
  if (T* present = OptionalOutput<T>(call, 1)) {
    attention.keys().CopyTo(workers, geometry.batch, present);
  }
  if (T* present = OptionalOutput<T>(call, 2)) {
    attention.values().CopyTo(workers, geometry.batch, present);
  }
  const int64_t tasks = geometry.task_count();
  if (tasks == 0) return absl::OkStatus();
  const int64_t slots = geometry.slots(sizeof(C));
  C* workspace = geometry.slot_elements() == 0
                     ? nullptr
                     : reinterpret_cast<C*>(call.context.workspace.address());
  workers.ParallelFor(slots, 1, [&](int64_t begin, int64_t end) {
    for (int64_t slot = begin; slot < end; ++slot) {
      C* scratch = workspace + slot * geometry.slot_elements();
      for (int64_t task = slot; task < tasks; task += slots) {
        if (IsStopped(call.context)) return;
        attention.RunTask(task, scratch);
      }
    }
  });
  return absl::OkStatus();
}

template absl::Status RunAttention<float>(const KernelCall&);
template absl::Status RunAttention<double>(const KernelCall&);
template absl::Status RunAttention<Float16>(const KernelCall&);
template absl::Status RunAttention<BFloat16>(const KernelCall&);

}  // namespace tensord
