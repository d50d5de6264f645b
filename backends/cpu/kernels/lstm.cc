// LSTM: one layer of long short-term memory, in one or both directions. Gates
// are in the order i, o, f, c; with p the optional peephole weights:
//
//   i = f(x[t] * wi^T + h[t - 1] * ri^T + pi * c[t - 1] + bias_i)
//   f = f(... + pf * c[t - 1] + bias_f), or 1 - i where they are coupled
//   c[t] = f * c[t - 1] + i * g(x[t] * wc^T + h[t - 1] * rc^T + bias_c)
//   o = f(... + po * c[t] + bias_o)
//   h[t] = o * h(c[t])
//
// Shapes and layouts are in recurrence.h; the outputs are none of the inputs'
// buffers. A sequence of length 0 leaves its initial states as the last.
// Computes in the elements' own type, 16-bit ones in float32, the states
// included. The product with x is done for all steps at once. Every activation
// clips its input, h() as well, as the standard has it.

#include <algorithm>
#include <cstdint>

#include "backends/cpu/kernels/is_stopped.h"
#include "backends/cpu/kernels/recurrence.h"
#include "backends/cpu/kernels/rnn_activation.h"

namespace tensord {
namespace {

constexpr int64_t kGates = 4;
constexpr int kStateCount = 2;  // h, c

// The functions and peepholes of one direction.
template <typename T>
struct Cell {
  using C = ComputeType<T>;

  RnnActivation f, g, h;
  C bound;
  bool is_coupled;
  const T* peepholes;  // i, o, f: [3, hidden]; null without
  int64_t hidden;

  // gate[j] = f(gate[j] + peephole[j] * c[j]), for the gate's place among the
  // peepholes.
  void Open(C* gate, int place, int64_t first, int64_t count,
            const C* c) const {
    if (peepholes != nullptr) {
      const T* weights = peepholes + place * hidden + first;
      for (int64_t j = 0; j < count; ++j) {
        gate[j] += static_cast<C>(weights[j]) * c[j];
      }
    }
    Activate(f, bound, gate, count);
  }

  // The hidden units [first, first + count) of one sequence after one more
  // step. x and sums are [4 * hidden], c and out start at `first`.
  void Step(const C* x, const C* sums, int64_t first, int64_t count, C* c,
            C* out) const {
    C gates[kGates][recurrence::kBlock];
    for (int64_t gate = 0; gate < kGates; ++gate) {
      const int64_t at = gate * hidden + first;
      for (int64_t j = 0; j < count; ++j)
        gates[gate][j] = x[at + j] + sums[at + j];
    }
    auto& [input, output, forget, candidate] = gates;
    Open(input, 0, first, count, c);
    if (is_coupled) {
      for (int64_t j = 0; j < count; ++j) forget[j] = 1 - input[j];
    } else {
      Open(forget, 2, first, count, c);
    }
    Activate(g, bound, candidate, count);
    for (int64_t j = 0; j < count; ++j) {
      c[j] = forget[j] * c[j] + input[j] * candidate[j];
    }
    Open(output, 1, first, count, c);
    std::copy_n(c, count, out);
    Activate(h, bound, out, count);
    for (int64_t j = 0; j < count; ++j) out[j] *= output[j];
  }
};

}  // namespace

template <typename T>
uint64_t LstmWorkspaceBytes(const NodeSite& site) {
  const recurrence::Extents extents = recurrence::Resolve(
      std::get<RnnParams>(site.params), site.input(recurrence::kX).shape,
      site.input(recurrence::kR).shape, kGates);
  return (recurrence::ScratchElements(extents, kStateCount) +
          PackedElements<T>(extents.batch, extents.width(), extents.hidden)) *
         sizeof(ComputeType<T>);
}

KernelCost LstmCost(const NodeSite& site) {
  return recurrence::Cost(site, kGates);
}

template <typename T>
absl::Status RunLSTM(const KernelCall& call) {
  using C = ComputeType<T>;
  const recurrence::Layer<T> layer(call, kGates);
  if (absl::Status status = layer.CheckLengths(); !status.ok()) return status;
  if (layer.is_empty()) return absl::OkStatus();
  const recurrence::Extents& extents = layer.extents();
  const int64_t hidden = extents.hidden;
  const int64_t width = extents.width();
  const int64_t longest = layer.longest();
  C* h = layer.state(0);
  C* c = layer.state(1);
  for (int64_t direction = 0; direction < extents.directions; ++direction) {
    layer.Project(direction, kGates);
    layer.LoadState(direction, recurrence::kInitialH, 0);
    layer.LoadState(direction, recurrence::kInitialC, 1);
    TransposedFactor<T> r(layer.recurrent_weights(direction), width, hidden);
    r.Pack(extents.batch, layer.packing(kStateCount));
    const Cell<T> cell = {
        .f = layer.activation(direction, 0),
        .g = layer.activation(direction, 1),
        .h = layer.activation(direction, 2),
        .bound = layer.bound(),
        .is_coupled = layer.params().couples_input_and_forget,
        .peepholes =
            call.has_input(recurrence::kPeepholes)
                ? call.input<T>(recurrence::kPeepholes) + direction * 3 * hidden
                : nullptr,
        .hidden = hidden};
    for (int64_t step = 0; step < longest; ++step) {
      if (layer.is_stopped()) return StoppedError();
      r.Multiply(layer.workers(), extents.batch, h, nullptr, layer.sums(),
                 /*from_the_end=*/step % 2 == 1);
      layer.ForUnits(
          direction, step,
          [&](int64_t b, int64_t position, int64_t first, int64_t count) {
            C* units = h + b * hidden + first;
            cell.Step(layer.projected(position, b), layer.sums() + b * width,
                      first, count, c + b * hidden + first, units);
            layer.StoreOutput(direction, position, b, first, count, units);
          });
    }
    layer.ClearPadding(direction);
    layer.StoreState(direction, recurrence::kLastH, 0);
    layer.StoreState(direction, recurrence::kLastC, 1);
  }
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE(T)                                   \
  template uint64_t LstmWorkspaceBytes<T>(const NodeSite& site); \
  template absl::Status RunLSTM<T>(const KernelCall&);

TENSORD_INSTANTIATE(float)
TENSORD_INSTANTIATE(double)
TENSORD_INSTANTIATE(Float16)
TENSORD_INSTANTIATE(BFloat16)

}  // namespace tensord
