// Einsum.
//
//   y[output labels] = sum over the other labels of the product of the
//                      operands' elements
//
// All are contiguous; y is none of the inputs' buffers. One thread, or a warp
// where outputs are few and sums long, makes one output. So the work is the
// product of all labels' extents, however many operands there are: nodes of
// more than two whose plan (einsum_plan.h) sums earlier are left to the CPU.
//
// Accumulates in the elements' own type, 16-bit floats in float32, which are
// rounded once; integers, of 32 or 64 bits here, wrap.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/api/einsum_plan.h"
#include "backends/api/kernel.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/number.h"
#include "backends/cuda/kernels/row_macros.h"
#include "backends/cuda/kernels/rows.h"

namespace tensord::cuda {
namespace {

constexpr int kMaxOperands = 4;
// Labels that differ: of y, and summed ones.
constexpr int kMaxLabels = 24;
constexpr int kWarp = 32;
constexpr int kThreads = 256;
// Fewer outputs than these do not fill a device with a thread each.
constexpr int64_t kFewOutputs = 16 * 1024;
// Terms of all outputs of a node with more than two operands.
constexpr double kMostTerms = 1e8;

// Nested loops, the innermost last, with each operand's stride.
struct Loops {
  int count = 0;
  int64_t extents[kMaxLabels];
  int64_t strides[kMaxOperands][kMaxLabels];
};

struct Contraction {
  int operands;
  Loops kept;
  Loops summed;
  int64_t outputs = 1;
  int64_t terms = 1;  // of one output
};

template <typename T>
struct Operands {
  const T* x[kMaxOperands];
};

__device__ void AddOffsets(const Loops& loops, int operands, int64_t at,
                           int64_t (&offsets)[kMaxOperands]) {
  for (int d = loops.count - 1; d >= 0; --d) {
    const int64_t index = at % loops.extents[d];
    at /= loops.extents[d];
    for (int k = 0; k < operands; ++k) {
      offsets[k] += index * loops.strides[k][d];
    }
  }
}

// `lanes` threads, 1 or a warp, make one output.
template <typename T>
__global__ void Contract(Contraction contraction, Operands<T> operands, T* y,
                         int lanes) {
  using W = Wrapping<T>;
  const int64_t thread = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t step = int64_t{gridDim.x} * blockDim.x / lanes;
  for (int64_t i = thread / lanes; i < contraction.outputs; i += step) {
    int64_t first[kMaxOperands] = {};
    AddOffsets(contraction.kept, contraction.operands, i, first);
    W sum = 0;
    for (int64_t term = thread % lanes; term < contraction.terms;
         term += lanes) {
      int64_t offsets[kMaxOperands];
      for (int k = 0; k < kMaxOperands; ++k) offsets[k] = first[k];
      AddOffsets(contraction.summed, contraction.operands, term, offsets);
      W product = static_cast<W>(ToCompute(operands.x[0][offsets[0]]));
      for (int k = 1; k < contraction.operands; ++k) {
        product *= static_cast<W>(ToCompute(operands.x[k][offsets[k]]));
      }
      sum += product;
    }
    // All threads of a warp are at the same output, or at none.
    for (int distance = lanes / 2; distance > 0; distance /= 2) {
      sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    }
    if (thread % lanes == 0) y[i] = Convert<T>(sum);
  }
}

class EinsumState final : public KernelState {
 public:
  Contraction contraction = {};
};

// The stride of a label in an operand: the sum of those of its dimensions, of
// which those of extent 1 repeat.
int64_t StrideOf(const EinsumLabels& labels, const Shape& shape,
                 EinsumLabel label) {
  int64_t stride = 1;
  int64_t sum = 0;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    if (labels[d] == label && shape[d] != 1) sum += stride;
    stride *= shape[d];
  }
  return sum;
}

absl::StatusOr<std::unique_ptr<EinsumState>> Plan(const NodeSite& site) {
  std::vector<Shape> shapes;
  for (int i = 0; i < site.input_count; ++i) {
    shapes.push_back(site.input(i).shape);
  }
  const auto plan = PlanEinsum(std::get<EinsumParams>(site.params), shapes);
  if (!plan.ok()) return plan.status();
  EinsumLabels summed;
  for (const EinsumLabels& labels : plan->inputs) {
    for (EinsumLabel label : labels) {
      if (!HasLabel(plan->output, label)) {
        einsum_internal::Append(summed, label);
      }
    }
  }
  if (site.input_count > kMaxOperands || plan->output.size() > kMaxLabels ||
      summed.size() > kMaxLabels) {
    return absl::UnimplementedError(
        absl::StrCat(site.input_count, " operands with ", plan->output.size(),
                     " and ", summed.size(), " labels"));
  }
  auto state = std::make_unique<EinsumState>();
  Contraction& contraction = state->contraction;
  contraction.operands = site.input_count;
  const auto append = [&](EinsumLabel label, Loops& loops) {
    loops.extents[loops.count] = plan->extents[label];
    for (int k = 0; k < site.input_count; ++k) {
      loops.strides[k][loops.count] =
          StrideOf(plan->inputs[k], shapes[k], label);
    }
    ++loops.count;
  };
  for (EinsumLabel label : plan->output) append(label, contraction.kept);
  for (EinsumLabel label : summed) append(label, contraction.summed);
  contraction.outputs = plan->CountOf(plan->output);
  contraction.terms = plan->CountOf(summed);
  const double terms = static_cast<double>(contraction.outputs) *
                       static_cast<double>(contraction.terms);
  if (site.input_count > 2 && terms > kMostTerms) {
    return absl::UnimplementedError(
        absl::StrCat(site.input_count, " operands have ", terms,
                     " terms, more than ", kMostTerms));
  }
  return state;
}

absl::Status AcceptsEinsum(const NodeSite& site) {
  return site.layouts.empty() ? absl::OkStatus() : Plan(site).status();
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareEinsum(const NodeSite& site,
                                                           Device&) {
  return Plan(site);
}

template <typename T>
absl::Status RunEinsum(const KernelCall& call) {
  const Contraction& contraction =
      static_cast<const EinsumState*>(call.state)->contraction;
  Operands<T> operands = {};
  for (int k = 0; k < contraction.operands; ++k) {
    operands.x[k] = call.input<T>(k);
  }
  const bool uses_warps =
      contraction.outputs < kFewOutputs && contraction.terms > 4 * kWarp;
  const int lanes = uses_warps ? kWarp : 1;
  return Launch(call.context, Contract<T>,
                ForElements(contraction.outputs * lanes, kThreads), contraction,
                operands, call.output<T>(0), lanes);
}

KernelCost EinsumCost(const NodeSite& site) {
  const auto state = Plan(site);
  if (!state.ok()) return {};
  const Contraction& contraction = (*state)->contraction;
  double elements = static_cast<double>(contraction.outputs);
  for (int i = 0; i < site.input_count; ++i) {
    elements += static_cast<double>(site.input(i).shape.element_count());
  }
  return {
      .flops = 2 * static_cast<double>(contraction.outputs) *
               static_cast<double>(contraction.terms),
      .bytes = elements * static_cast<double>(ByteSize(site.input_dtype(0), 1)),
      .efficiency = 0.02};
}

#define EINSUM(T, dtype, suffix, ...)                                        \
  TENSORD_CUDA_ROW(Einsum, "einsum_" suffix, All(DType::dtype), "einsum.cu", \
                   .accepts = &AcceptsEinsum, .prepare = &PrepareEinsum,     \
                   .cost = &EinsumCost, .run = &RunEinsum<T>)

constexpr KernelEntry kRows[] = {
    TENSORD_CUDA_FLOATS(EINSUM),
    EINSUM(int32_t, kInt32, "i32"),
    EINSUM(int64_t, kInt64, "i64"),
};

}  // namespace

absl::Span<const KernelEntry> EinsumRows() { return kRows; }

}  // namespace tensord::cuda
