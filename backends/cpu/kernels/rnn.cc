// RNN: one layer of the plain recurrent network, in one or both directions.
//
//   h[t] = f(x[t] * w^T + h[t - 1] * r^T + bias)
//
// Shapes and layouts are in recurrence.h; the outputs are none of the inputs'
// buffers. A sequence of length 0 leaves its initial state as the last.
// Computes in the elements' own type, 16-bit ones in float32, the state
// included. The product with x is done for all steps at once.

#include <cstdint>

#include "backends/cpu/kernels/is_stopped.h"
#include "backends/cpu/kernels/recurrence.h"
#include "backends/cpu/kernels/rnn_activation.h"

namespace tensord {
namespace {

constexpr int64_t kGates = 1;
constexpr int kStateCount = 1;  // h

}  // namespace

template <typename T>
uint64_t RnnWorkspaceBytes(const NodeSite& site) {
  const recurrence::Extents extents = recurrence::Resolve(
      std::get<RnnParams>(site.params), site.input(recurrence::kX).shape,
      site.input(recurrence::kR).shape, kGates);
  return (recurrence::ScratchElements(extents, kStateCount) +
          PackedElements<T>(extents.batch, extents.width(), extents.hidden)) *
         sizeof(ComputeType<T>);
}

KernelCost RnnCost(const NodeSite& site) {
  return recurrence::Cost(site, kGates);
}

template <typename T>
absl::Status RunRNN(const KernelCall& call) {
  using C = ComputeType<T>;
  const recurrence::Layer<T> layer(call, kGates);
  if (absl::Status status = layer.CheckLengths(); !status.ok()) return status;
  if (layer.is_empty()) return absl::OkStatus();
  const recurrence::Extents& extents = layer.extents();
  const int64_t hidden = extents.hidden;
  const int64_t longest = layer.longest();
  C* h = layer.state(0);
  for (int64_t direction = 0; direction < extents.directions; ++direction) {
    layer.Project(direction, kGates);
    layer.LoadState(direction, recurrence::kInitialH, 0);
    TransposedFactor<T> r(layer.recurrent_weights(direction), hidden, hidden);
    r.Pack(extents.batch, layer.packing(kStateCount));
    const RnnActivation& f = layer.activation(direction, 0);
    for (int64_t step = 0; step < longest; ++step) {
      if (layer.is_stopped()) return StoppedError();
      r.Multiply(layer.workers(), extents.batch, h, nullptr, layer.sums(),
                 /*from_the_end=*/step % 2 == 1);
      layer.ForUnits(
          direction, step,
          [&](int64_t b, int64_t position, int64_t first, int64_t count) {
            const C* x = layer.projected(position, b) + first;
            const C* sums = layer.sums() + b * hidden + first;
            C* units = h + b * hidden + first;
            for (int64_t j = 0; j < count; ++j) {
              units[j] = x[j] + sums[j];
            }
            Activate(f, layer.bound(), units, count);
            layer.StoreOutput(direction, position, b, first, count, units);
          });
    }
    layer.ClearPadding(direction);
    layer.StoreState(direction, recurrence::kLastH, 0);
  }
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE(T)                                  \
  template uint64_t RnnWorkspaceBytes<T>(const NodeSite& site); \
  template absl::Status RunRNN<T>(const KernelCall&);

TENSORD_INSTANTIATE(float)
TENSORD_INSTANTIATE(double)
TENSORD_INSTANTIATE(Float16)
TENSORD_INSTANTIATE(BFloat16)

}  // namespace tensord
