// GRU: one layer of gated recurrent units, in one or both directions. Gates are
// in the order z, r, h:
//
//   z = f(x[t] * wz^T + h[t - 1] * rz^T + bias_z)
//   r = f(x[t] * wr^T + h[t - 1] * rr^T + bias_r)
//   n = g(x[t] * wh^T + (r * h[t - 1]) * rh^T + bias of both), or with
//       linear_before_reset
//       g(x[t] * wh^T + bias of w + r * (h[t - 1] * rh^T + bias of r))
//   h[t] = (1 - z) * n + z * h[t - 1]
//
// Shapes and layouts are in recurrence.h; the outputs are none of the inputs'
// buffers. A sequence of length 0 leaves its initial state as the last.
// Computes in the elements' own type, 16-bit ones in float32, the state
// included. The product with x is done for all steps at once.

#include <cstdint>

#include "backends/cpu/kernels/recurrence.h"
#include "backends/cpu/kernels/rnn_activation.h"

namespace tensord {
namespace {

constexpr int64_t kGates = 3;
// h; a product with rh; and what r is applied to.
constexpr int kStateCount = 3;

// One direction's run.
template <typename T>
class Pass {
 public:
  using C = ComputeType<T>;

  Pass(const recurrence::Layer<T>& layer, int64_t direction)
      : layer_(layer),
        direction_(direction),
        batch_(layer.extents().batch),
        hidden_(layer.extents().hidden),
        is_linear_first_(layer.params().applies_reset_after_product),
        f_(layer.activation(direction, 0)),
        g_(layer.activation(direction, 1)),
        zr_(layer.recurrent_weights(direction), 2 * hidden_, hidden_),
        n_(layer.recurrent_weights(direction) + 2 * hidden_ * hidden_, hidden_,
           hidden_) {
    C* packing = layer.packing(kStateCount);
    zr_.Pack(batch_, packing);
    n_.Pack(batch_, packing + PackedElements<T>(batch_, 2 * hidden_, hidden_));
  }

  void Run(int64_t steps) {
    C* h = layer_.state(0);
    C* product = layer_.state(1);
    C* reset = layer_.state(2);
    WorkerPool& workers = layer_.workers();
    const T* bias =
        is_linear_first_ ? layer_.recurrent_bias(direction_, 2) : nullptr;
    for (int64_t step = 0; step < steps && !layer_.is_stopped(); ++step) {
      const bool from_the_end = step % 2 == 1;
      zr_.Multiply(workers, batch_, h, nullptr, layer_.sums(), from_the_end);
      // The third product's factor is r * h, unless r comes after it.
      if (is_linear_first_) {
        n_.Multiply(workers, batch_, h, nullptr, product, from_the_end);
      }
      layer_.ForUnits(
          direction_, step,
          [&](int64_t b, int64_t position, int64_t first, int64_t count) {
            C* sums = layer_.sums() + b * 2 * hidden_ + first;
            const C* x = layer_.projected(position, b) + first;
            const int64_t at = b * hidden_ + first;
            for (int64_t gate = 0; gate < 2; ++gate) {
              C* values = sums + gate * hidden_;
              for (int64_t j = 0; j < count; ++j) {
                values[j] += x[gate * hidden_ + j];
              }
              Activate(f_, layer_.bound(), values, count);
            }
            for (int64_t j = 0; j < count; ++j) {
              const C r = sums[hidden_ + j];
              if (is_linear_first_) {
                const C start = bias == nullptr ? C{0} : C{bias[first + j]};
                reset[at + j] = r * (product[at + j] + start);
              } else {
                reset[at + j] = r * h[at + j];
              }
            }
          });
      if (!is_linear_first_) {
        n_.Multiply(workers, batch_, reset, nullptr, product, from_the_end);
      }
      const C* last = is_linear_first_ ? reset : product;
      layer_.ForUnits(
          direction_, step,
          [&](int64_t b, int64_t position, int64_t first, int64_t count) {
            const C* z = layer_.sums() + b * 2 * hidden_ + first;
            const C* x = layer_.projected(position, b) + 2 * hidden_ + first;
            const int64_t at = b * hidden_ + first;
            C candidate[recurrence::kBlock];
            for (int64_t j = 0; j < count; ++j) {
              candidate[j] = x[j] + last[at + j];
            }
            Activate(g_, layer_.bound(), candidate, count);
            for (int64_t j = 0; j < count; ++j) {
              h[at + j] = (1 - z[j]) * candidate[j] + z[j] * h[at + j];
            }
            layer_.StoreOutput(direction_, position, b, first, count, h + at);
          });
    }
  }

 private:
  const recurrence::Layer<T>& layer_;
  const int64_t direction_;
  const int64_t batch_;
  const int64_t hidden_;
  const bool is_linear_first_;
  const RnnActivation& f_;
  const RnnActivation& g_;
  TransposedFactor<T> zr_;
  TransposedFactor<T> n_;
};

}  // namespace

template <typename T>
uint64_t GruWorkspaceBytes(const NodeSite& site) {
  const recurrence::Extents extents = recurrence::Resolve(
      std::get<RnnParams>(site.params), site.input(recurrence::kX).shape,
      site.input(recurrence::kR).shape, kGates);
  // r is packed in two parts, each rounded up by itself.
  const int64_t packed =
      PackedElements<T>(extents.batch, 2 * extents.hidden, extents.hidden) +
      PackedElements<T>(extents.batch, extents.hidden, extents.hidden);
  return (recurrence::ScratchElements(extents, kStateCount) + packed) *
         sizeof(ComputeType<T>);
}

KernelCost GruCost(const NodeSite& site) {
  return recurrence::Cost(site, kGates);
}

template <typename T>
absl::Status RunGRU(const KernelCall& call) {
  const recurrence::Layer<T> layer(call, kGates);
  if (absl::Status status = layer.CheckLengths(); !status.ok()) return status;
  if (layer.is_empty()) return absl::OkStatus();
  const int64_t longest = layer.longest();
  for (int64_t direction = 0; direction < layer.extents().directions;
       ++direction) {
    layer.Project(direction, layer.params().applies_reset_after_product
                                 ? kGates - 1
                                 : kGates);
    layer.LoadState(direction, recurrence::kInitialH, 0);
    Pass<T>(layer, direction).Run(longest);
    layer.ClearPadding(direction);
    layer.StoreState(direction, recurrence::kLastH, 0);
  }
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE(T)                                  \
  template uint64_t GruWorkspaceBytes<T>(const NodeSite& site); \
  template absl::Status RunGRU<T>(const KernelCall&);

TENSORD_INSTANTIATE(float)
TENSORD_INSTANTIATE(double)
TENSORD_INSTANTIATE(Float16)
TENSORD_INSTANTIATE(BFloat16)

}  // namespace tensord
