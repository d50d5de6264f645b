// LinearAttention, token by token:
//
//   S = exp(decay) * S               with a gated rule
//   w = v, or beta * (v - S' k)      the latter with a delta rule
//   S = S + k w'
//   o = scale * S' q
//
// for each batch and head of keys and values; S is its state [key size, value
// size], which starts as the past state or zeros and ends as the present one.
// Queries are [B, T, query heads * key size], keys [B, T, heads * key size],
// values [B, T, heads * value size], outputs [B, T, query heads * value size];
// query head h reads the state of head h / (query heads / heads). The decay is
// [B, T, heads * key size], of each row of S, or [B, T, heads]; beta is
// [B, T, heads] or [B, T, 1]. All are contiguous; no output is an input's
// buffer. Computes in float32, the state included, and rounds once.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/efficiency.h"
#include "backends/cpu/kernels/is_stopped.h"

namespace tensord {
namespace {

constexpr int64_t kGrainProducts = 32 * 1024;

// Columns of a state, which do not touch each other, are one thread's work this
// many at a time.
constexpr int64_t kColumns = 64;

template <typename T, typename S>
class LinearAttention {
 public:
  explicit LinearAttention(const KernelCall& call)
      : context_(call.context),
        query_(call.input<T>(0)),
        key_(call.input<T>(1)),
        value_(call.input<T>(2)),
        past_(call.has_input(3) ? call.input<S>(3) : nullptr),
        decay_(call.has_input(4) ? call.input<T>(4) : nullptr),
        beta_(call.has_input(5) ? call.input<T>(5) : nullptr),
        output_(call.outputs[0].is_present() ? call.output<T>(0) : nullptr),
        present_(call.outputs[1].is_present() ? call.output<S>(1) : nullptr),
        states_(call.context.workspace.is_present()
                    ? reinterpret_cast<float*>(call.context.workspace.address())
                    : nullptr) {
    const auto& params = std::get<LinearAttentionParams>(call.params);
    const Shape& query = call.input_layout(0).shape;
    batch_ = query[0];
    tokens_ = query[1];
    heads_ = params.key_value_heads;
    group_ = params.query_heads / heads_;
    rows_ = query[2] / params.query_heads;
    columns_ = call.input_layout(2).shape[2] / heads_;
    scale_ = params.scale != 0 ? params.scale
                               : 1 / std::sqrt(static_cast<float>(rows_));
    if (decay_ != nullptr) decays_ = call.input_layout(4).shape[2];
    if (beta_ != nullptr) betas_ = call.input_layout(5).shape[2];
  }

  void Run() const {
    const int64_t blocks = (columns_ + kColumns - 1) / kColumns;
    // In double: the extents of an empty tensor may have any product.
    const double products = static_cast<double>(tokens_) * rows_ * kColumns;
    context_.workers->ParallelFor(
        batch_ * heads_ * blocks,
        static_cast<int64_t>(kGrainProducts / (products + 1)) + 1,
        [&](int64_t begin, int64_t end) {
          for (int64_t task = begin; task < end; ++task) {
            const int64_t first = task % blocks * kColumns;
            const int64_t count = std::min(kColumns, columns_ - first);
            RunColumns(task / blocks, first, count);
          }
        });
  }

 private:
  // Columns [first, first + count) of state `pair`, which is batch * heads +
  // head.
  void RunColumns(int64_t pair, int64_t first, int64_t count) const {
    const int64_t at = pair * rows_ * columns_ + first;
    float* state = states_ + at;
    for (int64_t i = 0; i < rows_; ++i) {
      for (int64_t j = 0; j < count; ++j) {
        const int64_t element = i * columns_ + j;
        state[element] = past_ == nullptr ? 0 : float{past_[at + element]};
      }
    }
    const int64_t head = pair % heads_;
    const int64_t first_token = pair / heads_ * tokens_;
    for (int64_t t = first_token; t < first_token + tokens_; ++t) {
      if (IsStopped(context_)) return;
      Update(t, head, first, count, state);
      if (output_ == nullptr) continue;
      for (int64_t h = head * group_; h < (head + 1) * group_; ++h) {
        const int64_t query = t * heads_ * group_ + h;
        Read(query_ + query * rows_, count, state,
             output_ + query * columns_ + first);
      }
    }
    if (present_ == nullptr) return;
    for (int64_t i = 0; i < rows_; ++i) {
      for (int64_t j = 0; j < count; ++j) {
        const int64_t element = i * columns_ + j;
        present_[at + element] = static_cast<S>(state[element]);
      }
    }
  }

  // Token t, which counts the batches' tokens through.
  void Update(int64_t t, int64_t head, int64_t first, int64_t count,
              float* state) const {
    const T* key = key_ + (t * heads_ + head) * rows_;
    const T* value = value_ + (t * heads_ + head) * columns_ + first;
    float write[kColumns];
    std::copy_n(value, count, write);
    if (decay_ != nullptr) Decay(t, head, count, state);
    if (beta_ != nullptr) {
      const float beta = beta_[t * betas_ + (betas_ == 1 ? 0 : head)];
      float stored[kColumns];
      Multiply(key, count, state, stored);
      for (int64_t j = 0; j < count; ++j) {
        write[j] = beta * (write[j] - stored[j]);
      }
    }
    for (int64_t i = 0; i < rows_; ++i) {
      const float k = key[i];
      float* row = state + i * columns_;
      for (int64_t j = 0; j < count; ++j) row[j] += k * write[j];
    }
  }

  void Decay(int64_t t, int64_t head, int64_t count, float* state) const {
    // With one row to a state, a decay of the head is one of the row.
    const bool is_of_head = decays_ == heads_;
    const T* decay = decay_ + t * decays_ + (is_of_head ? head : head * rows_);
    float factor = is_of_head ? std::exp(float{decay[0]}) : 0;
    for (int64_t i = 0; i < rows_; ++i) {
      if (!is_of_head) factor = std::exp(float{decay[i]});
      float* row = state + i * columns_;
      for (int64_t j = 0; j < count; ++j) row[j] *= factor;
    }
  }

  void Read(const T* query, int64_t count, const float* state,
            T* output) const {
    float sums[kColumns];
    Multiply(query, count, state, sums);
    for (int64_t j = 0; j < count; ++j) {
      output[j] = static_cast<T>(scale_ * sums[j]);
    }
  }

  // sums = S' x
  void Multiply(const T* x, int64_t count, const float* state,
                float* sums) const {
    std::fill_n(sums, count, 0.0f);
    for (int64_t i = 0; i < rows_; ++i) {
      const float factor = x[i];
      const float* row = state + i * columns_;
      for (int64_t j = 0; j < count; ++j) sums[j] += factor * row[j];
    }
  }

  const LaunchContext& context_;
  const T* query_;
  const T* key_;
  const T* value_;
  const S* past_;   // null: zeros
  const T* decay_;  // null: the rule has none; beta_ too
  const T* beta_;
  T* output_;  // null: not wanted; present_ too
  S* present_;
  float* states_;  // of all batches and heads; null: they are empty
  int64_t batch_, tokens_, heads_, group_;
  int64_t rows_, columns_;  // of a state
  int64_t decays_ = 0;      // of a token; betas_ too
  int64_t betas_ = 0;
  float scale_;
};

// Of all batches and heads.
int64_t StateElements(const NodeSite& site) {
  const int64_t heads =
      std::get<LinearAttentionParams>(site.params).key_value_heads;
  const Shape& key = site.input(1).shape;
  return key[0] * key[2] * (site.input(2).shape[2] / heads);
}

}  // namespace

uint64_t LinearAttentionWorkspaceBytes(const NodeSite& site) {
  return ByteSize(DType::kFloat32, StateElements(site));
}

KernelCost LinearAttentionCost(const NodeSite& site) {
  const auto& params = std::get<LinearAttentionParams>(site.params);
  const double states = StateElements(site);
  const double tokens = site.input(0).shape[1];
  const double reads =
      static_cast<double>(params.query_heads) / params.key_value_heads;
  return {.flops = (5 + 2 * reads) * states * tokens,
          .bytes = 12 * states,
          .efficiency = kPortableEfficiency};
}

template <typename T, typename S>
absl::Status RunLinearAttention(const KernelCall& call) {
  LinearAttention<T, S>(call).Run();
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE(T)                                             \
  template absl::Status RunLinearAttention<T, float>(const KernelCall&);   \
  template absl::Status RunLinearAttention<T, Float16>(const KernelCall&); \
  template absl::Status RunLinearAttention<T, BFloat16>(const KernelCall&)

TENSORD_INSTANTIATE(float);
TENSORD_INSTANTIATE(Float16);
TENSORD_INSTANTIATE(BFloat16);

}  // namespace tensord
