// RotaryEmbedding.
//
//   y[a] = x[a] * cos - x[b] * sin
//   y[b] = x[a] * sin + x[b] * cos
//
// for each pair (a, b) of a head's first elements: (i, i + pairs), or
// (2 * i, 2 * i + 1) interleaved; the head's other elements are copied. x and y
// are contiguous, [batch, heads, sequence, head] or [batch, sequence, heads *
// head], and may be the same buffer. cos and sin are row i of their tables at
// the token's position ([positions, pairs], input 3 holds the positions) or at
// the token itself ([batch, sequence, pairs]). Computes in float32. A position
// outside the table is kInvalidArgument, and nothing is written then.

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 16 * 1024;

struct Geometry {
  int64_t batch, heads, sequence, head, pairs;
  // Elements from one token, one head and one batch to the next.
  int64_t token_stride, head_stride;

  Geometry(const Shape& x, const RotaryEmbeddingParams& params) {
    batch = x[0];
    if (x.rank() == 4) {
      heads = x[1];
      sequence = x[2];
      head = x[3];
      token_stride = head;
      head_stride = sequence * head;
    } else {
      sequence = x[1];
      heads = params.head_count;
      head = x[2] / heads;
      token_stride = x[2];
      head_stride = head;
    }
    const int64_t turned =
        params.rotary_dimensions == 0 ? head : params.rotary_dimensions;
    pairs = turned / 2;
  }
};

absl::Status CheckPositions(const int64_t* positions, int64_t count,
                            int64_t limit) {
  for (int64_t i = 0; i < count; ++i) {
    if (positions[i] < 0 || positions[i] >= limit) {
      return absl::InvalidArgumentError(absl::StrCat(
          "position ", positions[i], " is outside [0, ", limit, ")"));
    }
  }
  return absl::OkStatus();
}

template <typename T>
void Turn(const Geometry& geometry, bool is_interleaved, const T* x,
          const T* cosines, const T* sines, T* y) {
  const int64_t step = is_interleaved ? 2 : 1;
  const int64_t apart = is_interleaved ? 1 : geometry.pairs;
  for (int64_t i = 0; i < geometry.pairs; ++i) {
    const float cosine = cosines[i];
    const float sine = sines[i];
    const float a = x[i * step];
    const float b = x[i * step + apart];
    y[i * step] = static_cast<T>(a * cosine - b * sine);
    y[i * step + apart] = static_cast<T>(a * sine + b * cosine);
  }
  const int64_t turned = 2 * geometry.pairs;
  if (x != y) std::copy_n(x + turned, geometry.head - turned, y + turned);
}

}  // namespace

template <typename T>
absl::Status RunRotaryEmbedding(const KernelCall& call) {
  const auto& params = std::get<RotaryEmbeddingParams>(call.params);
  const Geometry geometry(call.input_layout(0).shape, params);
  const int64_t tokens = geometry.batch * geometry.sequence;
  const int64_t* positions = nullptr;
  if (call.has_input(3)) {
    positions = call.input<int64_t>(3);
    if (absl::Status status =
            CheckPositions(positions, tokens, call.input_layout(1).shape[0]);
        !status.ok()) {
      return status;
    }
  }
  const T* x = call.input<T>(0);
  const T* cosines = call.input<T>(1);
  const T* sines = call.input<T>(2);
  T* y = call.output<T>(0);
  const int64_t batch_stride =
      geometry.heads * geometry.sequence * geometry.head;
  call.context.workers->ParallelFor(
      tokens,
      kGrainElements / std::max<int64_t>(geometry.heads * geometry.head, 1) + 1,
      [&](int64_t begin, int64_t end) {
        for (int64_t token = begin; token < end; ++token) {
          const int64_t row = positions == nullptr ? token : positions[token];
          const int64_t first =
              token / geometry.sequence * batch_stride +
              token % geometry.sequence * geometry.token_stride;
          for (int64_t h = 0; h < geometry.heads; ++h) {
            const int64_t at = first + h * geometry.head_stride;
            Turn(geometry, params.is_interleaved, x + at,
                 cosines + row * geometry.pairs, sines + row * geometry.pairs,
                 y + at);
          }
        }
      });
  return absl::OkStatus();
}

template absl::Status RunRotaryEmbedding<float>(const KernelCall&);
template absl::Status RunRotaryEmbedding<Float16>(const KernelCall&);
template absl::Status RunRotaryEmbedding<BFloat16>(const KernelCall&);

}  // namespace tensord
