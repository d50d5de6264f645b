// Operators over sequences of tokens that are no attention: RotaryEmbedding,
// CausalConvWithState, TensorScatter.
//
//   RotaryEmbedding      y[a] = x[a] * cos - x[b] * sin
//                        y[b] = x[a] * sin + x[b] * cos
//   CausalConvWithState  y[b, c, t] = f(bias[c] + sum over j of w[c, 0, j] *
//                                       p[b, c, t + j])
//                        present[b, c, i] = p[b, c, L + i]
//   TensorScatter        y = cache; y[b, p, places[b] + s, i] =
//                        update[b, p, s, i]
//
// RotaryEmbedding: for each pair (a, b) of a head's first elements: (i, i +
// pairs), or (2 * i, 2 * i + 1) interleaved; the head's other elements are
// copied. x and y are [batch, heads, sequence, head] or [batch, sequence, heads
// * head], and may be the same buffer. cos and sin are row i of their tables at
// the token's position ([positions, pairs], input 3 holds the positions) or at
// the token itself ([batch, sequence, pairs]). A position outside the table
// counts as the nearest in it.
//
// CausalConvWithState: p is the past state, or zeros, and then x along the last
// dimension. y and x are [B, C, L], w is [C, 1, K], the bias [C] and 0 where
// absent; the states are [B, C, K - 1]. f is x * sigmoid(x), or nothing.
//
// TensorScatter: the cache and y are [batch, P, length, inner] and may be the
// same buffer, the update is shorter along the sequence, or as long; places are
// [batch], 0 where absent. A circular place is counted modulo the length, and
// so is what follows it; of any other what does not fit is left out.
//
// All are contiguous. Computes in float32.

#include <math.h>

#include <algorithm>
#include <cstdint>

#include "backends/api/axis_view.h"
#include "backends/api/host_arguments.h"
#include "backends/api/kernel.h"
#include "backends/cuda/kernels/element.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/number.h"
#include "backends/cuda/kernels/operand_address.h"
#include "backends/cuda/kernels/row_macros.h"
#include "backends/cuda/kernels/rows.h"
#include "backends/cuda/kernels/strided_copy.h"

namespace tensord::cuda {
namespace {

__device__ int64_t GridThread() {
  return int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ int64_t GridThreads() { return int64_t{gridDim.x} * blockDim.x; }

struct Heads {
  int64_t tokens, heads, sequence, head, pairs;
  // Elements from one token, one head and one batch to the next.
  int64_t token_stride, head_stride, batch_stride;
  int64_t positions;  // rows of the tables
  bool is_interleaved;
};

// A thread turns a pair, or copies an element behind them.
template <typename T>
__global__ void Turn(Heads heads, const T* x, const T* cosines, const T* sines,
                     const int64_t* positions, T* y) {
  const int64_t items = heads.head - heads.pairs;
  for (int64_t i = GridThread(); i < heads.tokens * heads.heads * items;
       i += GridThreads()) {
    const int64_t item = i % items;
    const int64_t head = i / items % heads.heads;
    const int64_t token = i / items / heads.heads;
    const int64_t first = token / heads.sequence * heads.batch_stride +
                          token % heads.sequence * heads.token_stride +
                          head * heads.head_stride;
    if (item >= heads.pairs) {
      const int64_t at = first + heads.pairs + item;
      y[at] = x[at];
      continue;
    }
    int64_t row = token;
    if (positions != nullptr) {
      row = positions[token];
      row = row < 0 ? 0 : row < heads.positions ? row : heads.positions - 1;
    }
    const int64_t a = first + (heads.is_interleaved ? 2 * item : item);
    const int64_t b = a + (heads.is_interleaved ? 1 : heads.pairs);
    const float cosine = ToCompute(cosines[row * heads.pairs + item]);
    const float sine = ToCompute(sines[row * heads.pairs + item]);
    const float x_a = ToCompute(x[a]);
    const float x_b = ToCompute(x[b]);
    y[a] = Convert<T>(x_a * cosine - x_b * sine);
    y[b] = Convert<T>(x_a * sine + x_b * cosine);
  }
}

template <typename T>
absl::Status RunRotaryEmbedding(const KernelCall& call) {
  const auto& params = std::get<RotaryEmbeddingParams>(call.params);
  const Shape& x = call.input_layout(0).shape;
  if (x.element_count() == 0) return absl::OkStatus();
  Heads heads = {};
  heads.is_interleaved = params.is_interleaved;
  if (x.rank() == 4) {
    heads.heads = x[1];
    heads.sequence = x[2];
    heads.head = x[3];
    heads.token_stride = heads.head;
    heads.head_stride = heads.sequence * heads.head;
  } else {
    heads.sequence = x[1];
    heads.heads = params.head_count;
    heads.head = x[2] / heads.heads;
    heads.token_stride = x[2];
    heads.head_stride = heads.head;
  }
  heads.batch_stride = heads.heads * heads.sequence * heads.head;
  heads.tokens = x[0] * heads.sequence;
  heads.pairs =
      (params.rotary_dimensions == 0 ? heads.head : params.rotary_dimensions) /
      2;
  heads.positions = call.input_layout(1).shape[0];
  const bool has_positions = call.has_input(3);
  // A table without rows has no position: nothing may be read.
  if (has_positions && heads.positions == 0) return absl::OkStatus();
  return Launch(
      call.context, Turn<T>,
      ForElements(heads.tokens * heads.heads * (heads.head - heads.pairs)),
      heads, call.input<T>(0), call.input<T>(1), call.input<T>(2),
      has_positions ? call.input<int64_t>(3) : nullptr, call.output<T>(0));
}

struct Channels {
  int64_t rows;  // batch * channels
  int64_t channels;
  int64_t length;
  int64_t taps;
  bool is_silu;
};

// Element i of a row's past and what follows.
template <typename T>
__device__ float PaddedAt(const T* past, const T* x, int64_t before,
                          int64_t i) {
  if (i >= before) return ToCompute(x[i - before]);
  return past == nullptr ? 0.0f : ToCompute(past[i]);
}

template <typename T>
__global__ void ConvolveCausally(Channels channels, const T* x, const T* w,
                                 const T* bias, const T* past, T* y) {
  const int64_t before = channels.taps - 1;
  for (int64_t i = GridThread(); i < channels.rows * channels.length;
       i += GridThreads()) {
    const int64_t row = i / channels.length;
    const int64_t t = i % channels.length;
    const int64_t c = row % channels.channels;
    const T* row_past = past == nullptr ? nullptr : past + row * before;
    float sum = bias == nullptr ? 0.0f : ToCompute(bias[c]);
    for (int64_t j = 0; j < channels.taps; ++j) {
      sum += ToCompute(w[c * channels.taps + j]) *
             PaddedAt(row_past, x + row * channels.length, before, t + j);
    }
    if (channels.is_silu) sum = sum / (1 + expf(-sum));
    y[i] = Convert<T>(sum);
  }
}

template <typename T>
__global__ void KeepState(Channels channels, const T* x, const T* past,
                          T* present) {
  const int64_t before = channels.taps - 1;
  for (int64_t i = GridThread(); i < channels.rows * before;
       i += GridThreads()) {
    const int64_t row = i / before;
    const T* row_past = past == nullptr ? nullptr : past + row * before;
    present[i] = Convert<T>(PaddedAt(row_past, x + row * channels.length,
                                     before, channels.length + i % before));
  }
}

template <typename T>
absl::Status RunCausalConv(const KernelCall& call) {
  const Shape& x = call.input_layout(0).shape;
  const Channels channels = {
      .rows = x[0] * x[1],
      .channels = x[1],
      .length = x[2],
      .taps = call.input_layout(1).shape[2],
      .is_silu = std::get<CausalConvParams>(call.params).is_silu};
  const T* past = call.has_input(3) ? call.input<T>(3) : nullptr;
  if (call.outputs[0].is_present()) {
    const T* bias = call.has_input(2) ? call.input<T>(2) : nullptr;
    if (absl::Status s =
            Launch(call.context, ConvolveCausally<T>,
                   ForElements(x.element_count()), channels, call.input<T>(0),
                   call.input<T>(1), bias, past, call.output<T>(0));
        !s.ok()) {
      return s;
    }
  }
  if (call.outputs.size() < 2 || !call.outputs[1].is_present()) {
    return absl::OkStatus();
  }
  return Launch(call.context, KeepState<T>,
                ForElements(channels.rows * (channels.taps - 1)), channels,
                call.input<T>(0), past, call.output<T>(1));
}

struct Cache {
  int64_t blocks;  // batch * P
  int64_t blocks_of_a_batch;
  int64_t length;
  int64_t written;
  int64_t inner;
  bool is_circular;
};

template <typename Element>
__global__ void WriteUpdates(Cache cache, const Element* update,
                             const int64_t* places, Element* y) {
  for (int64_t i = GridThread(); i < cache.blocks * cache.written * cache.inner;
       i += GridThreads()) {
    const int64_t s = i / cache.inner % cache.written;
    const int64_t block = i / cache.inner / cache.written;
    int64_t at =
        places == nullptr ? 0 : places[block / cache.blocks_of_a_batch];
    if (cache.is_circular) {
      at = ((at % cache.length + cache.length) % cache.length + s) %
           cache.length;
    } else {
      at = at < 0 || at >= cache.length ? -1 : at + s;
    }
    if (at < 0 || at >= cache.length) continue;
    y[(block * cache.length + at) * cache.inner + i % cache.inner] = update[i];
  }
}

template <int kBytes>
absl::Status RunTensorScatter(const KernelCall& call) {
  const auto& params = std::get<TensorScatterParams>(call.params);
  const Shape& shape = call.input_layout(0).shape;
  if (shape.element_count() == 0) return absl::OkStatus();
  const AxisView view(shape, params.axis);
  const std::byte* source = SourceOf(call, 0, kBytes);
  const std::byte* update = SourceOf(call, 1, kBytes);
  std::byte* y = DestinationOf(call, 0, kBytes);
  if (source != y) {
    if (absl::Status s = Enqueue(
            call.context,
            StridedCopy{source, y, kBytes, {{shape.element_count(), 1, 1}}});
        !s.ok()) {
      return s;
    }
  }
  const int width = WidestElement(kBytes, view.inner * kBytes, {update, y});
  const Cache cache = {
      .blocks = view.outer,
      .blocks_of_a_batch = view.outer / shape[0],
      .length = view.extent,
      .written = AxisView(call.input_layout(1).shape, params.axis).extent,
      .inner = view.inner * kBytes / width,
      .is_circular = params.is_circular};
  const int64_t* places = call.has_input(2) ? call.input<int64_t>(2) : nullptr;
  return VisitElementBytes(width, [&](auto bytes) {
    using Element = ElementOf<decltype(bytes)::value>;
    return Launch(call.context, WriteUpdates<Element>,
                  ForElements(cache.blocks * cache.written * cache.inner),
                  cache, reinterpret_cast<const Element*>(update), places,
                  reinterpret_cast<Element*>(y));
  });
}

KernelCost SequenceCost(const NodeSite& site) {
  const auto elements =
      static_cast<double>(site.input(0).shape.element_count());
  return {.flops = 4 * elements,
          .bytes = 2 * elements *
                   static_cast<double>(ByteSize(site.input_dtype(0), 1))};
}

#define ROTARY_EMBEDDING(T, dtype, suffix)                                  \
  TENSORD_CUDA_ROW(                                                         \
      RotaryEmbedding, "rotary_embedding_" suffix,                          \
      (Takes({DType::dtype, DType::dtype, DType::dtype, DType::kInt64},     \
             {DType::dtype})),                                              \
      "sequences.cu", .cost = &SequenceCost, .run = &RunRotaryEmbedding<T>, \
      .caps = {.in_place_inputs = 0b1})
#define CAUSAL_CONV(T, dtype, suffix)                                        \
  TENSORD_CUDA_ROW(CausalConvWithState, "causal_conv_with_state_" suffix,    \
                   All(DType::dtype), "sequences.cu", .cost = &SequenceCost, \
                   .run = &RunCausalConv<T>)
#define TENSOR_SCATTER(dtype, bytes, suffix, ...)                             \
  TENSORD_CUDA_ROW(                                                           \
      TensorScatter, "tensor_scatter_" suffix,                                \
      (Takes({DType::dtype, DType::dtype, DType::kInt64}, {DType::dtype})),   \
      "sequences.cu", .cost = &SequenceCost, .run = &RunTensorScatter<bytes>, \
      .caps = {.in_place_inputs = 0b1})

constexpr KernelEntry kRows[] = {
    ROTARY_EMBEDDING(float, kFloat32, "f32"),
    ROTARY_EMBEDDING(__half, kFloat16, "f16"),
    ROTARY_EMBEDDING(__nv_bfloat16, kBFloat16, "bf16"),
    CAUSAL_CONV(float, kFloat32, "f32"),
    CAUSAL_CONV(__half, kFloat16, "f16"),
    CAUSAL_CONV(__nv_bfloat16, kBFloat16, "bf16"),
    TENSORD_CUDA_BYTES(TENSOR_SCATTER),
};

}  // namespace

absl::Span<const KernelEntry> SequenceRows() { return kRows; }

}  // namespace tensord::cuda
