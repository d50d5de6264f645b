// LSTM, GRU and RNN: one layer over sequences, in one or both directions.
//
//   LSTM  i, o, f = f(x[t] * w^T + h[t - 1] * r^T + p * c + bias), gates i o f
//   c
//         c[t] = f * c[t - 1] + i * g(...), h[t] = o * h(c[t])
//   GRU   z, r = f(x[t] * w^T + h[t - 1] * r^T + bias), gates z r h
//         n = g(x[t] * wh^T + (r * h[t - 1]) * rh^T + bias of both), or with
//         linear_before_reset g(x[t] * wh^T + bias of w +
//                               r * (h[t - 1] * rh^T + bias of r))
//         h[t] = (1 - z) * n + z * h[t - 1]
//   RNN   h[t] = f(x[t] * w^T + h[t - 1] * r^T + bias)
//
// x is [steps, batch, input], w [directions, width, input], r [directions,
// width, hidden], the optional bias [directions, 2 * width] (that of w, then
// that of r), with width = gates * hidden; peepholes (i, o, f) [directions,
// 3 * hidden]. y is [steps, directions, batch, hidden], states [directions,
// batch, hidden]; with batch_first the batch is the first dimension of x, y and
// the states. All are contiguous, and outputs no input's buffers. A sequence of
// length 0 leaves its initial states as the last; a length out of range counts
// as the nearest that is in it. y behind the sequences' ends is 0.
//
// Computes in the elements' own type, 16-bit ones in float32, the states
// included. The product with x is one kernel for all steps. Then each step is
// one kernel, or two where GRU's reset comes before its product: a warp
// computes a hidden unit of up to four sequences at a time, and reads weights
// by 16 bytes where their rows allow it. A kernel for the whole loop would need
// a barrier between blocks, which may not all run at once.

#include <math.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "backends/api/kernel.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/number.h"
#include "backends/cuda/kernels/pack.h"
#include "backends/cuda/kernels/row_macros.h"
#include "backends/cuda/kernels/rows.h"

namespace tensord::cuda {
namespace {

constexpr int kWarp = 32;
constexpr int kWarps = 8;
constexpr int kSequences = 4;  // that a warp works on together
constexpr unsigned kAllLanes = 0xffffffffu;

enum Input { kX, kW, kR, kBias, kLengths, kInitialH, kInitialC, kPeepholes };
enum Output { kY, kLastH, kLastC };

// What one launch of a step does.
enum class Part { kLstm, kGruGates, kGruRest, kGruLinear, kRnn };

constexpr int64_t GatesOf(OpKind op) {
  return op == OpKind::kLSTM ? 4 : op == OpKind::kGRU ? 3 : 1;
}

template <typename T>
struct Layer {
  using C = Compute<T>;

  int64_t steps, batch, input, hidden, directions, gates;
  bool batch_first;
  bool is_reverse;  // the only direction is
  bool is_coupled;
  // Of the recurrent biases, the first so many are added ahead of the steps.
  int64_t projected_biases;
  const T* r;
  const T* bias;
  const T* peepholes;
  const int32_t* lengths;
  T* y;
  // In the workspace; h twice, to read one and write the other.
  C* projected;  // [directions, steps * batch in x's order, width]
  C* h;          // [2, directions, batch, hidden]
  C* c;          // [directions, batch, hidden], LSTM
  C* z;          // GRU
  C* reset;      // GRU: r * h
  RnnActivation activations[2][3];
  C bound;

  __device__ __host__ int64_t width() const { return gates * hidden; }
  __device__ __host__ int64_t state_elements() const {
    return directions * batch * hidden;
  }
  __device__ C* H(int64_t step) const {
    return h + (step & 1) * state_elements();
  }
  __device__ int64_t StateRow(int64_t direction, int64_t b) const {
    return batch_first ? b * directions + direction : direction * batch + b;
  }
  __device__ int64_t OutputRow(int64_t step, int64_t direction,
                               int64_t b) const {
    return batch_first ? (b * steps + step) * directions + direction
                       : (step * directions + direction) * batch + b;
  }
  __device__ int64_t LengthOf(int64_t b) const {
    if (lengths == nullptr) return steps;
    const int64_t length = lengths[b];
    return length < 0 ? 0 : length < steps ? length : steps;
  }
  // The projection's row for the step of a direction, of `length`.
  __device__ const C* Projected(int64_t direction, int64_t position,
                                int64_t b) const {
    const int64_t row =
        batch_first ? b * steps + position : position * batch + b;
    return projected + (direction * steps * batch + row) * width();
  }
  __device__ int64_t PositionOf(int64_t direction, int64_t step,
                                int64_t length) const {
    return direction == 1 || is_reverse ? length - 1 - step : step;
  }
};

// f(x brought to [-bound, bound]); a NaN stays one. Not inlined: each kernel
// would hold every function several times.
template <typename C>
__device__ __noinline__ C Activated(RnnActivation activation, C bound, C x) {
  const C alpha = activation.alpha;
  const C beta = activation.beta;
  x = x < -bound ? -bound : bound < x ? bound : x;
  switch (activation.function) {
    case RnnFunction::kAffine:
      return alpha * x + beta;
    case RnnFunction::kElu:
      return x >= 0 ? x : alpha * expm1(x);
    case RnnFunction::kHardSigmoid: {
      const C y = alpha * x + beta;
      return y < 0 ? C{0} : y > 1 ? C{1} : y;
    }
    case RnnFunction::kLeakyRelu:
      return x >= 0 ? x : alpha * x;
    case RnnFunction::kRelu:
      return x < 0 ? C{0} : x;
    case RnnFunction::kScaledTanh:
      return alpha * tanh(beta * x);
    case RnnFunction::kSigmoid:
      return 1 / (1 + exp(-x));
    case RnnFunction::kSoftplus:
      // log(1 + e^x), whose exponential would overflow for a large x.
      return (x < 0 ? C{0} : x) + log1p(exp(-fabs(x)));
    case RnnFunction::kSoftsign:
      return x / (1 + fabs(x));
    case RnnFunction::kTanh:
      return tanh(x);
    case RnnFunction::kThresholdedRelu:
      return x < alpha ? C{0} : x;
  }
  return x;
}

// projected[row, j] = sum over k of x[row, k] * w[j, k] + the biases, in tiles
// of 32 by 32. Blocks along z are directions.
template <typename T>
__global__ void Project(Layer<T> layer, const T* x, const T* w,
                        int64_t column_tiles) {
  using C = Compute<T>;
  __shared__ C rows[kWarp][kWarp + 1];
  __shared__ C columns[kWarp][kWarp + 1];
  const int64_t row0 = blockIdx.x / column_tiles * kWarp;
  const int64_t column0 = blockIdx.x % column_tiles * kWarp;
  const int64_t row_count = layer.steps * layer.batch;
  const int64_t direction = blockIdx.z;
  const int64_t depth = layer.input;
  const T* weights = w + direction * layer.width() * depth;
  constexpr int kPerThread = kWarp / kWarps;
  C sums[kPerThread] = {};
  for (int64_t k0 = 0; k0 < depth; k0 += kWarp) {
    const int64_t k = k0 + threadIdx.x;
    for (int i = threadIdx.y; i < kWarp; i += kWarps) {
      const bool has_row = row0 + i < row_count && k < depth;
      const bool has_column = column0 + i < layer.width() && k < depth;
      rows[i][threadIdx.x] =
          has_row ? static_cast<C>(ToCompute(x[(row0 + i) * depth + k])) : C{0};
      columns[i][threadIdx.x] =
          has_column
              ? static_cast<C>(ToCompute(weights[(column0 + i) * depth + k]))
              : C{0};
    }
    __syncthreads();
    for (int i = 0; i < kPerThread; ++i) {
      for (int k1 = 0; k1 < kWarp; ++k1) {
        sums[i] +=
            rows[threadIdx.y + i * kWarps][k1] * columns[threadIdx.x][k1];
      }
    }
    __syncthreads();
  }
  const int64_t j = column0 + threadIdx.x;
  if (j >= layer.width()) return;
  C start = 0;
  if (layer.bias != nullptr) {
    const T* bias = layer.bias + 2 * direction * layer.width();
    start = static_cast<C>(ToCompute(bias[j]));
    if (j < layer.projected_biases * layer.hidden) {
      start += static_cast<C>(ToCompute(bias[layer.width() + j]));
    }
  }
  for (int i = 0; i < kPerThread; ++i) {
    const int64_t row = row0 + threadIdx.y + i * kWarps;
    if (row >= row_count) continue;
    layer.projected[(direction * row_count + row) * layer.width() + j] =
        sums[i] + start;
  }
}

// Elements of states in the order of the workspace, from and to that of the
// operands.
template <typename T>
__device__ int64_t OperandAt(const Layer<T>& layer, int64_t i) {
  const int64_t j = i % layer.hidden;
  const int64_t b = i / layer.hidden % layer.batch;
  const int64_t direction = i / layer.hidden / layer.batch;
  return layer.StateRow(direction, b) * layer.hidden + j;
}

template <typename T>
__global__ void LoadStates(Layer<T> layer, const T* h, const T* c) {
  using C = Compute<T>;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
       i < layer.state_elements(); i += int64_t{gridDim.x} * blockDim.x) {
    const int64_t at = OperandAt(layer, i);
    layer.H(0)[i] = h == nullptr ? C{0} : static_cast<C>(ToCompute(h[at]));
    layer.c[i] = c == nullptr ? C{0} : static_cast<C>(ToCompute(c[at]));
  }
}

template <typename T>
__global__ void StoreStates(Layer<T> layer, T* h, T* c) {
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
       i < layer.state_elements(); i += int64_t{gridDim.x} * blockDim.x) {
    const int64_t at = OperandAt(layer, i);
    if (h != nullptr) h[at] = Convert<T>(layer.H(layer.steps)[i]);
    if (c != nullptr) c[at] = Convert<T>(layer.c[i]);
  }
}

// One hidden unit of one sequence after a step, from the products with the
// state. `at` is its place in the states, `x` its row of the projection.
template <typename T>
struct Unit {
  using C = Compute<T>;

  const Layer<T>& layer;
  int64_t direction;
  int64_t j;
  int64_t at;
  const C* x;

  __device__ C Gate(int gate, C product) const {
    return x[gate * layer.hidden + j] + product;
  }
  __device__ C Apply(int function, C value) const {
    return Activated(layer.activations[direction][function], layer.bound,
                     value);
  }
  __device__ C Peephole(int place, C c) const {
    if (layer.peepholes == nullptr) return 0;
    return static_cast<C>(ToCompute(
               layer.peepholes[(direction * 3 + place) * layer.hidden + j])) *
           c;
  }

  __device__ C Lstm(const C* products) const {
    C c = layer.c[at];
    const C input = Apply(0, Gate(0, products[0]) + Peephole(0, c));
    const C forget = layer.is_coupled
                         ? 1 - input
                         : Apply(0, Gate(2, products[2]) + Peephole(2, c));
    c = forget * c + input * Apply(1, Gate(3, products[3]));
    layer.c[at] = c;
    const C output = Apply(0, Gate(1, products[1]) + Peephole(1, c));
    return Apply(2, c) * output;
  }

  __device__ void GruGates(const C* products, C h) const {
    layer.z[at] = Apply(0, Gate(0, products[0]));
    layer.reset[at] = Apply(0, Gate(1, products[1])) * h;
  }
  __device__ C GruRest(const C* products, C h) const {
    const C candidate = Apply(1, Gate(2, products[0]));
    const C z = layer.z[at];
    return (1 - z) * candidate + z * h;
  }
  __device__ C GruLinear(const C* products, C h) const {
    const C z = Apply(0, Gate(0, products[0]));
    const C r = Apply(0, Gate(1, products[1]));
    C last = products[2];
    if (layer.bias != nullptr) {
      last += static_cast<C>(
          ToCompute(layer.bias[(2 * direction + 1) * layer.width() +
                               2 * layer.hidden + j]));
    }
    const C candidate = Apply(1, Gate(2, r * last));
    return (1 - z) * candidate + z * h;
  }
};

template <Part kPart>
constexpr int kProducts = kPart == Part::kLstm        ? 4
                          : kPart == Part::kGruLinear ? 3
                          : kPart == Part::kGruGates  ? 2
                                                      : 1;

// The unit's new h; of the gates alone nothing.
template <typename T, Part kPart>
__device__ Compute<T> ResultOf(const Unit<T>& unit, const Compute<T>* products,
                               Compute<T> h) {
  if constexpr (kPart == Part::kGruGates) {
    unit.GruGates(products, h);
    return 0;
  } else if constexpr (kPart == Part::kLstm) {
    return unit.Lstm(products);
  } else if constexpr (kPart == Part::kGruRest) {
    return unit.GruRest(products, h);
  } else if constexpr (kPart == Part::kGruLinear) {
    return unit.GruLinear(products, h);
  } else {
    return unit.Apply(0, unit.Gate(0, products[0]));
  }
}

template <typename T, Part kPart>
__device__ void Finish(const Layer<T>& layer, int64_t direction, int64_t step,
                       int64_t b, int64_t j, const Compute<T>* products) {
  using C = Compute<T>;
  const int64_t at = (direction * layer.batch + b) * layer.hidden + j;
  const int64_t length = layer.LengthOf(b);
  const C h = layer.H(step)[at];
  C* next = layer.H(step + 1);
  if (step >= length) {
    if constexpr (kPart != Part::kGruGates) {
      next[at] = h;
      if (layer.y != nullptr) {
        layer.y[layer.OutputRow(step, direction, b) * layer.hidden + j] =
            Convert<T>(C{0});
      }
    }
    return;
  }
  const int64_t position = layer.PositionOf(direction, step, length);
  const Unit<T> unit = {layer, direction, j, at,
                        layer.Projected(direction, position, b)};
  const C result = ResultOf<T, kPart>(unit, products, h);
  if constexpr (kPart != Part::kGruGates) {
    next[at] = result;
    if (layer.y != nullptr) {
      layer.y[layer.OutputRow(position, direction, b) * layer.hidden + j] =
          Convert<T>(result);
    }
  }
}

// Lanes take kPack neighbours of a row of weights at a time.
template <typename T, Part kPart, int kPack>
__global__ void Step(Layer<T> layer, int64_t step) {
  using C = Compute<T>;
  constexpr int kCount = kProducts<kPart>;
  const int lane = static_cast<int>(threadIdx.x);
  const int64_t j = int64_t{blockIdx.x} * kWarps + threadIdx.y;
  const int64_t direction = blockIdx.y;
  const int64_t hidden = layer.hidden;
  if (j >= hidden) return;  // the whole warp
  constexpr int kFirstGate = kPart == Part::kGruRest ? 2 : 0;
  const T* weights = layer.r +
                     (direction * layer.gates + kFirstGate) * hidden * hidden +
                     j * hidden;
  const C* factor = kPart == Part::kGruRest ? layer.reset : layer.H(step);
  factor += direction * layer.batch * hidden;
  for (int64_t b0 = 0; b0 < layer.batch; b0 += kSequences) {
    C sums[kSequences][kCount] = {};
    for (int64_t k = lane * kPack; k < hidden; k += kWarp * kPack) {
      Pack<T, kPack> packs[kCount];
      for (int g = 0; g < kCount; ++g) {
        packs[g] = LoadPack<kPack>(weights + g * hidden * hidden + k);
      }
      for (int i = 0; i < kSequences; ++i) {
        if (b0 + i >= layer.batch) continue;
        const auto values = LoadPack<kPack>(factor + (b0 + i) * hidden + k);
        for (int g = 0; g < kCount; ++g) {
          for (int e = 0; e < kPack; ++e) {
            sums[i][g] +=
                static_cast<C>(ToCompute(packs[g].at[e])) * values.at[e];
          }
        }
      }
    }
    C own[kCount] = {};  // of the sequence that this lane finishes
    for (int i = 0; i < kSequences; ++i) {
      for (int g = 0; g < kCount; ++g) {
        C sum = sums[i][g];
        for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) {
          sum += __shfl_xor_sync(kAllLanes, sum, lanes);
        }
        if (lane == i) own[g] = sum;
      }
    }
    if (lane < kSequences && b0 + lane < layer.batch) {
      Finish<T, kPart>(layer, direction, step, b0 + lane, j, own);
    }
  }
}

template <typename T>
const T* InputOf(const KernelCall& call, int i) {
  return call.has_input(i) ? call.input<T>(i) : nullptr;
}
template <typename T>
T* OutputOf(const KernelCall& call, int i) {
  return i < static_cast<int>(call.outputs.size()) &&
                 call.outputs[i].is_present()
             ? call.output<T>(i)
             : nullptr;
}

template <typename T>
Layer<T> LayerOf(const KernelCall& call, OpKind op) {
  using C = Compute<T>;
  const auto& params = std::get<RnnParams>(call.params);
  const Shape& x = call.input_layout(kX).shape;
  const Shape& r = call.input_layout(kR).shape;
  Layer<T> layer = {};
  layer.steps = x[params.has_batch_first ? 1 : 0];
  layer.batch = x[params.has_batch_first ? 0 : 1];
  layer.input = x[2];
  layer.hidden = r[2];
  layer.directions = r[0];
  layer.gates = GatesOf(op);
  layer.batch_first = params.has_batch_first;
  layer.is_reverse = params.direction == RnnDirection::kReverse;
  layer.is_coupled = params.couples_input_and_forget;
  layer.projected_biases =
      op == OpKind::kGRU && params.applies_reset_after_product ? 2
                                                               : layer.gates;
  layer.r = call.input<T>(kR);
  layer.bias = InputOf<T>(call, kBias);
  layer.peepholes =
      op == OpKind::kLSTM ? InputOf<T>(call, kPeepholes) : nullptr;
  layer.lengths = InputOf<int32_t>(call, kLengths);
  layer.y = OutputOf<T>(call, kY);
  layer.projected = reinterpret_cast<C*>(call.context.workspace.address());
  layer.h = layer.projected +
            layer.directions * layer.steps * layer.batch * layer.width();
  layer.c = layer.h + 2 * layer.state_elements();
  layer.z = layer.c + layer.state_elements();
  layer.reset = layer.z + layer.state_elements();
  const size_t functions = params.activations.size() / layer.directions;
  for (int64_t d = 0; d < layer.directions; ++d) {
    for (size_t i = 0; i < functions && i < 3; ++i) {
      layer.activations[d][i] = params.activations[d * functions + i];
    }
  }
  layer.bound = params.clip.has_value() ? static_cast<C>(*params.clip)
                                        : std::numeric_limits<C>::infinity();
  return layer;
}

uint64_t WorkspaceBytes(const NodeSite& site) {
  const Shape& x = site.input(kX).shape;
  const Shape& r = site.input(kR).shape;
  const int64_t directions = r[0];
  const int64_t width = GatesOf(site.op) * r[2];
  const int64_t batch =
      x[std::get<RnnParams>(site.params).has_batch_first ? 0 : 1];
  constexpr int64_t kStates = 5;
  const int64_t elements =
      directions * (x[0] * x[1] * width + kStates * batch * r[2]);
  return static_cast<uint64_t>(elements) *
         (site.input_dtype(kX) == DType::kFloat64 ? 8 : 4);
}

template <typename T, Part kPart>
absl::Status EnqueueStep(const KernelCall& call, const Layer<T>& layer,
                         int64_t step) {
  const int64_t blocks = (layer.hidden + kWarps - 1) / kWarps;
  const LaunchShape shape = {dim3(static_cast<unsigned>(blocks),
                                  static_cast<unsigned>(layer.directions)),
                             dim3(kWarp, kWarps)};
  // With such rows the states, which follow the projection, are aligned too.
  constexpr int kPack = sizeof(T) == 8 ? 1 : 16 / sizeof(T);
  if (kPack > 1 && layer.hidden % kPack == 0 && IsPackAligned<kPack>(layer.r)) {
    return Launch(call.context, Step<T, kPart, kPack>, shape, layer, step);
  }
  return Launch(call.context, Step<T, kPart, 1>, shape, layer, step);
}

template <typename T, OpKind kOp>
absl::Status EnqueueParts(const KernelCall& call, const Layer<T>& layer,
                          int64_t step) {
  if constexpr (kOp == OpKind::kLSTM) {
    return EnqueueStep<T, Part::kLstm>(call, layer, step);
  } else if constexpr (kOp == OpKind::kRNN) {
    return EnqueueStep<T, Part::kRnn>(call, layer, step);
  } else {
    if (std::get<RnnParams>(call.params).applies_reset_after_product) {
      return EnqueueStep<T, Part::kGruLinear>(call, layer, step);
    }
    absl::Status gates = EnqueueStep<T, Part::kGruGates>(call, layer, step);
    return gates.ok() ? EnqueueStep<T, Part::kGruRest>(call, layer, step)
                      : gates;
  }
}

template <typename T>
absl::Status EnqueueProjection(const KernelCall& call, const Layer<T>& layer) {
  const int64_t rows = (layer.steps * layer.batch + kWarp - 1) / kWarp;
  const int64_t columns = (layer.width() + kWarp - 1) / kWarp;
  return Launch(call.context, Project<T>,
                {dim3(static_cast<unsigned>(rows * columns), 1,
                      static_cast<unsigned>(layer.directions)),
                 dim3(kWarp, kWarps)},
                layer, call.input<T>(kX), call.input<T>(kW), columns);
}

template <typename T, OpKind kOp>
absl::Status RunRecurrent(const KernelCall& call) {
  const Layer<T> layer = LayerOf<T>(call, kOp);
  if (layer.state_elements() == 0) return absl::OkStatus();
  const LaunchShape states = ForElements(layer.state_elements());
  if (absl::Status s = EnqueueProjection(call, layer); !s.ok()) return s;
  if (absl::Status s =
          Launch(call.context, LoadStates<T>, states, layer,
                 InputOf<T>(call, kInitialH),
                 kOp == OpKind::kLSTM ? InputOf<T>(call, kInitialC) : nullptr);
      !s.ok()) {
    return s;
  }
  for (int64_t step = 0; step < layer.steps; ++step) {
    if (absl::Status s = EnqueueParts<T, kOp>(call, layer, step); !s.ok()) {
      return s;
    }
  }
  return Launch(call.context, StoreStates<T>, states, layer,
                OutputOf<T>(call, kLastH),
                kOp == OpKind::kLSTM ? OutputOf<T>(call, kLastC) : nullptr);
}

// Arithmetic is that of the two products. The second reads its weights once a
// step.
KernelCost RecurrentCost(const NodeSite& site) {
  const Shape& x = site.input(kX).shape;
  const Shape& r = site.input(kR).shape;
  const bool batch_first = std::get<RnnParams>(site.params).has_batch_first;
  const auto steps = static_cast<double>(x[batch_first ? 1 : 0]);
  const double rows = static_cast<double>(x[0]) * static_cast<double>(x[1]) *
                      static_cast<double>(r[0]);
  const auto width = static_cast<double>(GatesOf(site.op) * r[2]);
  const auto depth = static_cast<double>(x[2] + r[2]);
  const auto bytes = static_cast<double>(ByteSize(site.input_dtype(kX), 1));
  return {.flops = 2 * rows * width * depth,
          .bytes = bytes * (rows * depth + static_cast<double>(r[0]) * width *
                                               depth * std::max(steps, 1.0)),
          .efficiency = 0.05};
}

#define RECURRENT(T, dtype, suffix, op, name)                          \
  TENSORD_CUDA_ROW(op, name "_" suffix,                                \
                   (Takes({DType::dtype, DType::dtype, DType::dtype,   \
                           DType::dtype, DType::kInt32, DType::dtype}, \
                          {DType::dtype})),                            \
                   "recurrent.cu", .workspace_bytes = &WorkspaceBytes, \
                   .cost = &RecurrentCost,                             \
                   .run = &RunRecurrent<T, OpKind::k##op>)

constexpr KernelEntry kRows[] = {
    TENSORD_CUDA_FLOATS(RECURRENT, GRU, "gru"),
    TENSORD_CUDA_FLOATS(RECURRENT, LSTM, "lstm"),
    TENSORD_CUDA_FLOATS(RECURRENT, RNN, "rnn"),
};

}  // namespace

absl::Span<const KernelEntry> RecurrentRows() { return kRows; }

}  // namespace tensord::cuda
