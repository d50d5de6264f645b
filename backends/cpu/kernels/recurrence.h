#ifndef TENSORD_BACKENDS_CPU_KERNELS_RECURRENCE_H_
#define TENSORD_BACKENDS_CPU_KERNELS_RECURRENCE_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/efficiency.h"
#include "backends/cpu/kernels/is_stopped.h"
#include "backends/cpu/kernels/transposed_product.h"

// What LSTM, GRU and RNN share: one layer over sequences, in one or both
// directions.
//
// x is [steps, batch, input], w [directions, width, input], r [directions,
// width, hidden], the optional bias [directions, 2 * width] (that of w, then
// that of r), with width = gates * hidden. y is [steps, directions, batch,
// hidden], states [directions, batch, hidden]; with batch_first the batch is
// the first dimension of x, y and the states.
//
// All that needs no state is one product ahead of the steps: x * w^T + bias,
// for every step at once. States are kept in the type that is computed in, so
// that 16-bit floats are rounded once, on their way out.
//
// Everything is in this header, so that a kernel's revision covers it.
namespace tensord::recurrence {

// Elements of one state that are worth handing to another thread together; each
// takes several transcendental functions.
inline constexpr int64_t kBlock = 64;
inline constexpr int64_t kGrainBlocks = 4;

struct Extents {
  int64_t steps;
  int64_t batch;
  int64_t input;
  int64_t hidden;
  int64_t directions;
  int64_t gates;
  bool batch_first;

  int64_t width() const { return gates * hidden; }

  // Rows of x, of y, and of states.
  int64_t InputRow(int64_t step, int64_t b) const {
    return batch_first ? b * steps + step : step * batch + b;
  }
  int64_t OutputRow(int64_t step, int64_t direction, int64_t b) const {
    return batch_first ? (b * steps + step) * directions + direction
                       : (step * directions + direction) * batch + b;
  }
  int64_t StateRow(int64_t direction, int64_t b) const {
    return batch_first ? b * directions + direction : direction * batch + b;
  }
};

inline Extents Resolve(const RnnParams& params, const Shape& x, const Shape& r,
                       int64_t gates) {
  return {.steps = x[params.has_batch_first ? 1 : 0],
          .batch = x[params.has_batch_first ? 0 : 1],
          .input = x[2],
          .hidden = r[2],
          .directions = r[0],
          .gates = gates,
          .batch_first = params.has_batch_first};
}

// Elements of scratch, in the type that is computed in: x * w^T + bias of one
// direction, its bias, one step's products, and `state_count` arrays of [batch,
// hidden]. Packed weights may follow.
inline int64_t ScratchElements(const Extents& extents, int state_count) {
  return extents.steps * extents.batch * extents.width() + extents.width() +
         extents.batch * extents.width() +
         state_count * extents.batch * extents.hidden;
}

// Operand numbers that all three operators have in common.
enum Input { kX, kW, kR, kBias, kLengths, kInitialH, kInitialC, kPeepholes };
enum Output { kY, kLastH, kLastC };

template <typename T>
class Layer {
 public:
  using C = ComputeType<T>;

  Layer(const KernelCall& call, int64_t gates)
      : call_(call),
        params_(std::get<RnnParams>(call.params)),
        extents_(Resolve(params_, call.input_layout(kX).shape,
                         call.input_layout(kR).shape, gates)),
        lengths_(call.has_input(kLengths) ? call.input<int32_t>(kLengths)
                                          : nullptr) {
    if (!call.context.workspace.is_present()) return;  // nothing to compute
    // In the order of ScratchElements().
    projected_ = reinterpret_cast<C*>(call.context.workspace.address());
    bias_ = projected_ + extents_.steps * extents_.batch * extents_.width();
    sums_ = bias_ + extents_.width();
    states_ = sums_ + extents_.batch * extents_.width();
  }

  const Extents& extents() const { return extents_; }
  const RnnParams& params() const { return params_; }
  WorkerPool& workers() const { return *call_.context.workers; }

  // A step may be too short for ParallelFor to be what ends the loop of them.
  bool is_stopped() const { return IsStopped(call_.context); }

  // There is nothing to compute, and perhaps no workspace.
  bool is_empty() const { return extents_.batch == 0 || extents_.hidden == 0; }

  absl::Status CheckLengths() const {
    for (int64_t b = 0; lengths_ != nullptr && b < extents_.batch; ++b) {
      if (lengths_[b] < 0 || lengths_[b] > extents_.steps) {
        return absl::InvalidArgumentError(
            absl::StrCat("sequence ", b, " has length ", lengths_[b],
                         ", outside [0, ", extents_.steps, "]"));
      }
    }
    return absl::OkStatus();
  }
  int64_t length(int64_t b) const {
    return lengths_ == nullptr ? extents_.steps : lengths_[b];
  }
  int64_t longest() const {
    int64_t longest = 0;
    for (int64_t b = 0; b < extents_.batch; ++b) {
      longest = std::max(longest, length(b));
    }
    return longest;
  }

  bool is_reverse(int64_t direction) const {
    return direction == 1 || params_.direction == RnnDirection::kReverse;
  }
  // The element of sequence b that a direction sees `step`th.
  int64_t Position(int64_t direction, int64_t step, int64_t b) const {
    return is_reverse(direction) ? length(b) - 1 - step : step;
  }

  const RnnActivation& activation(int64_t direction, int index) const {
    return params_.activations[direction * params_.activations.size() /
                                   extents_.directions +
                               index];
  }
  // What the inputs of activations are clipped to.
  C bound() const {
    return params_.clip.has_value() ? static_cast<C>(*params_.clip)
                                    : std::numeric_limits<C>::infinity();
  }

  C* sums() const { return sums_; }
  C* state(int index) const {
    return states_ + index * extents_.batch * extents_.hidden;
  }
  // Where r is packed, behind `state_count` states.
  C* packing(int state_count) const { return state(state_count); }

  const T* recurrent_weights(int64_t direction) const {
    return call_.input<T>(kR) + direction * extents_.width() * extents_.hidden;
  }
  // The bias of r for one gate, or null.
  const T* recurrent_bias(int64_t direction, int64_t gate) const {
    if (!call_.has_input(kBias)) return nullptr;
    return call_.input<T>(kBias) + (2 * direction + 1) * extents_.width() +
           gate * extents_.hidden;
  }

  // x * w^T plus both biases, but for the recurrent ones of the gates from
  // `bias_gates` on.
  void Project(int64_t direction, int64_t bias_gates) const {
    const int64_t width = extents_.width();
    std::fill_n(bias_, width, C{0});
    if (call_.has_input(kBias)) {
      const T* given = call_.input<T>(kBias) + 2 * direction * width;
      for (int64_t j = 0; j < width; ++j) {
        bias_[j] = given[j];
        if (j < bias_gates * extents_.hidden) {
          bias_[j] += static_cast<C>(given[width + j]);
        }
      }
    }
    const TransposedFactor<T> w(
        call_.input<T>(kW) + direction * width * extents_.input, width,
        extents_.input);
    w.Multiply(workers(), extents_.steps * extents_.batch, call_.input<T>(kX),
               bias_, projected_);
  }
  // The projection's row for an element of sequence b.
  const C* projected(int64_t position, int64_t b) const {
    return projected_ + extents_.InputRow(position, b) * extents_.width();
  }

  // state(index) = the optional input, or 0.
  void LoadState(int64_t direction, int input, int index) const {
    for (int64_t b = 0; b < extents_.batch; ++b) {
      C* to = state(index) + b * extents_.hidden;
      if (call_.has_input(input)) {
        const T* from = call_.input<T>(input) +
                        extents_.StateRow(direction, b) * extents_.hidden;
        for (int64_t j = 0; j < extents_.hidden; ++j) to[j] = from[j];
      } else {
        std::fill_n(to, extents_.hidden, C{0});
      }
    }
  }
  void StoreState(int64_t direction, int output, int index) const {
    if (!has_output(output)) return;
    for (int64_t b = 0; b < extents_.batch; ++b) {
      const C* from = state(index) + b * extents_.hidden;
      std::copy_n(from, extents_.hidden,
                  call_.output<T>(output) +
                      extents_.StateRow(direction, b) * extents_.hidden);
    }
  }

  // Calls body(b, position, first, count) for the hidden units [first, first +
  // count) of each sequence that has a step of this number.
  template <typename Body>
  void ForUnits(int64_t direction, int64_t step, Body body) const {
    const int64_t blocks = (extents_.hidden + kBlock - 1) / kBlock;
    workers().ParallelFor(extents_.batch * blocks, kGrainBlocks,
                          [&](int64_t begin, int64_t end) {
                            for (int64_t i = begin; i < end; ++i) {
                              const int64_t b = i / blocks;
                              if (step >= length(b)) continue;
                              const int64_t first = i % blocks * kBlock;
                              body(b, Position(direction, step, b), first,
                                   std::min(kBlock, extents_.hidden - first));
                            }
                          });
  }

  // y at an element of sequence b, from new hidden units.
  void StoreOutput(int64_t direction, int64_t position, int64_t b,
                   int64_t first, int64_t count, const C* h) const {
    if (!has_output(kY)) return;
    std::copy_n(
        h, count,
        call_.output<T>(kY) +
            extents_.OutputRow(position, direction, b) * extents_.hidden +
            first);
  }
  // y behind the sequences' ends is 0.
  void ClearPadding(int64_t direction) const {
    if (!has_output(kY)) return;
    for (int64_t b = 0; b < extents_.batch; ++b) {
      for (int64_t t = length(b); t < extents_.steps; ++t) {
        std::fill_n(call_.output<T>(kY) +
                        extents_.OutputRow(t, direction, b) * extents_.hidden,
                    extents_.hidden, T(0));
      }
    }
  }

 private:
  bool has_output(int i) const {
    return i < static_cast<int>(call_.outputs.size()) &&
           call_.outputs[i].is_present();
  }

  const KernelCall& call_;
  const RnnParams& params_;
  const Extents extents_;
  const int32_t* const lengths_;
  C* projected_ = nullptr;
  C* bias_ = nullptr;
  C* sums_ = nullptr;
  C* states_ = nullptr;
};

// Arithmetic is that of the two products; the rest is small beside it.
inline KernelCost Cost(const NodeSite& site, int64_t gates) {
  const Extents extents =
      Resolve(std::get<RnnParams>(site.params), site.input(kX).shape,
              site.input(kR).shape, gates);
  const double rows =
      static_cast<double>(extents.steps) * extents.batch * extents.directions;
  const double width = extents.width();
  const double weights = width * (extents.input + extents.hidden);
  const double element_bytes = ByteSize(site.input_dtype(kX), 1);
  return {.flops = 2 * rows * weights,
          .bytes = element_bytes * (rows * (extents.input + extents.hidden) +
                                    extents.directions * weights *
                                        std::max<int64_t>(extents.steps, 1)),
          .efficiency = kPortableEfficiency};
}

}  // namespace tensord::recurrence

#endif  // TENSORD_BACKENDS_CPU_KERNELS_RECURRENCE_H_
