// Einsum.
//
//   y[output labels] = sum over the other labels of the product of the
//                      operands' elements
//
// All are contiguous; y is none of the inputs' buffers. Operands are multiplied
// from left to right (einsum_plan.h), each time as a batch of matrix products:
// what was computed so far becomes [batch, left, summed], the operand [batch,
// summed, right], each copied to the workspace unless it is so already, or is
// so with its last two parts the other way round; what comes out is permuted to
// y at the end unless it is y already.
//
// Products accumulate in float32 (float64 for float64); sums within one operand
// in float64; 16-bit floats are rounded once, at the end. Integers wrap, as in
// numpy.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "backends/api/einsum_plan.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/efficiency.h"
#include "backends/cpu/kernels/einsum_steps.h"
#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/kernels/wrapping.h"

namespace tensord {
namespace {

// What elements of T are multiplied as.
template <typename T>
using Compute = Wrapping<T>;
// Whether those have the same bits, so that an operand can be used in place.
template <typename T>
inline constexpr bool kIsComputeType =
    !kIsFloat16<T> && sizeof(T) == sizeof(Compute<T>);

// c [batch, rows, columns], dense, from the two sides.
template <typename C>
void Multiply(WorkerPool& workers, const einsum::Product& product, const C* a,
              const C* b, C* c) {
  const int64_t a_matrix = product.rows * product.depth;
  const int64_t b_matrix = product.depth * product.columns;
  const einsum::Side& left = product.left;
  const einsum::Side& right = product.right;
  workers.ParallelFor(
      product.batch * product.rows, 1, [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t index = task / product.rows;
          const C* a_row =
              a + index * a_matrix + task % product.rows * left.row_stride;
          const C* b_rows = b + index * b_matrix;
          C* c_row = c + task * product.columns;
          std::fill_n(c_row, product.columns, C{0});
          for (int64_t t = 0; t < product.depth; ++t) {
            const C factor = a_row[t * left.column_stride];
            const C* b_row = b_rows + t * right.row_stride;
            for (int64_t j = 0; j < product.columns; ++j) {
              c_row[j] += factor * b_row[j * right.column_stride];
            }
          }
        }
      });
}

template <>
void Multiply(WorkerPool& workers, const einsum::Product& product,
              const float* a, const float* b, float* c) {
  const gemm::Machine machine = gemm::ThisMachine();
  if (product.depth == 0) {
    std::fill_n(c, product.count(), 0.0f);
    return;
  }
  gemm::ForTiles(
      workers, product.batch, product.rows, product.columns, machine,
      [&](int64_t index, int64_t m0, int64_t m1, int64_t n0, int64_t n1) {
        const float* a_matrix = a + index * product.rows * product.depth;
        const float* b_matrix = b + index * product.depth * product.columns;
        const gemm::Problem problem{
            .m = product.rows,
            .n = product.columns,
            .k = product.depth,
            .c = c + index * product.rows * product.columns,
            .c_stride = product.columns};
        gemm::MultiplyTile(
            problem, machine, m0, m1, n0, n1,
            [&](int64_t first, int64_t count, int64_t k0, int64_t depth,
                float* scratch) {
              gemm::PackRows(a_matrix, product.left.row_stride,
                             product.left.column_stride, 1.0f, first, count, k0,
                             depth, machine.rows, scratch);
              return scratch;
            },
            [&](int64_t first, int64_t count, int64_t k0, int64_t depth,
                float* scratch) {
              gemm::PackColumns(b_matrix, product.right.row_stride,
                                product.right.column_stride, k0, depth, first,
                                count, machine.columns, scratch);
              return scratch;
            });
      });
}

// The side's elements: `from` itself, or gathered into `buffer`.
template <typename C, typename From>
const C* Fetch(WorkerPool& workers, const einsum::Side& side, const From* from,
               C* buffer) {
  if (side.is_in_place) return reinterpret_cast<const C*>(from);
  side.gather.Run(workers, from, buffer);
  return buffer;
}

}  // namespace

template <typename T>
uint64_t EinsumWorkspaceBytes(const NodeSite& site) {
  const std::unique_ptr<einsum::Steps> steps =
      einsum::MakeSteps(site, kIsComputeType<T>);
  if (steps == nullptr) return 0;
  return static_cast<uint64_t>(steps->workspace.element_count()) *
         sizeof(Compute<T>);
}

template <typename T>
absl::StatusOr<std::unique_ptr<KernelState>> PrepareEinsum(const NodeSite& site,
                                                           Device&) {
  std::unique_ptr<einsum::Steps> steps =
      einsum::MakeSteps(site, kIsComputeType<T>);
  if (steps == nullptr) return absl::InternalError("Einsum without a plan");
  return steps;
}

KernelCost EinsumCost(const NodeSite& site) {
  double flops = 0;
  double elements = site.output(0).shape.element_count();
  std::vector<Shape> shapes;
  for (int i = 0; i < site.input_count; ++i) {
    shapes.push_back(site.input(i).shape);
    elements += shapes.back().element_count();
  }
  const absl::StatusOr<EinsumPlan> plan =
      PlanEinsum(std::get<EinsumParams>(site.params), shapes);
  if (plan.ok()) {
    for (const EinsumProduct& product : plan->products) {
      flops += 2.0 * plan->CountOf(product.batch) *
               static_cast<double>(plan->CountOf(product.left)) *
               static_cast<double>(plan->CountOf(product.right)) *
               static_cast<double>(plan->CountOf(product.summed));
    }
  }
  return {.flops = flops,
          .bytes = elements * ByteSize(site.input_dtype(0), 1),
          .efficiency = kPortableEfficiency};
}

template <typename T>
absl::Status RunEinsum(const KernelCall& call) {
  using C = Compute<T>;
  if (call.output_layout(0).shape.element_count() == 0) {
    return absl::OkStatus();
  }
  const auto& steps = *static_cast<const einsum::Steps*>(call.state);
  const einsum::WorkspaceParts& parts = steps.workspace;
  if (call.context.workspace.size_bytes < parts.element_count() * sizeof(C)) {
    return absl::InternalError("Einsum's workspace is too small");
  }
  WorkerPool& workers = *call.context.workers;
  T* y = call.output<T>(0);
  if (steps.products.empty()) {
    steps.last->Run(workers, call.input<T>(0), y);
    return absl::OkStatus();
  }
  C* left_buffer = parts.element_count() == 0
                       ? nullptr
                       : reinterpret_cast<C*>(call.context.workspace.address());
  C* right_buffer = left_buffer + parts.left;
  C* results[] = {right_buffer + parts.right,
                  right_buffer + parts.right + parts.result};
  const C* so_far = nullptr;
  for (size_t i = 0; i < steps.products.size(); ++i) {
    const einsum::Product& product = steps.products[i];
    const C* a =
        i == 0 ? Fetch(workers, product.left, call.input<T>(0), left_buffer)
               : Fetch(workers, product.left, so_far, left_buffer);
    const C* b = Fetch(workers, product.right,
                       call.input<T>(static_cast<int>(i) + 1), right_buffer);
    C* c = product.is_output ? reinterpret_cast<C*>(y) : results[i % 2];
    Multiply<C>(workers, product, a, b, c);
    so_far = c;
  }
  if (steps.last.has_value()) steps.last->Run(workers, so_far, y);
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE(T)                                            \
  template uint64_t EinsumWorkspaceBytes<T>(const NodeSite&);             \
  template absl::StatusOr<std::unique_ptr<KernelState>> PrepareEinsum<T>( \
      const NodeSite&, Device&);                                          \
  template absl::Status RunEinsum<T>(const KernelCall&);

TENSORD_INSTANTIATE(float)
TENSORD_INSTANTIATE(double)
TENSORD_INSTANTIATE(Float16)
TENSORD_INSTANTIATE(BFloat16)
TENSORD_INSTANTIATE(int8_t)
TENSORD_INSTANTIATE(int16_t)
TENSORD_INSTANTIATE(int32_t)
TENSORD_INSTANTIATE(int64_t)
TENSORD_INSTANTIATE(uint8_t)
TENSORD_INSTANTIATE(uint16_t)
TENSORD_INSTANTIATE(uint32_t)
TENSORD_INSTANTIATE(uint64_t)

}  // namespace tensord
