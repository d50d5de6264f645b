// MatMulInteger on oneDNN, with shapes as numpy.matmul's.
//
//   y[batch, r, c] = sum over t of (a[batch, r, t] - a_zero) *
//                    (b[batch, t, c] - b_zero)
//
// as backends/cpu/kernels/matmul_integer.cc has it: a and b are int8 or uint8
// each, contiguous, y is another buffer. b is constant and the same for all of
// a. Exact in int32, which wraps around.

#include "backends/cpu/onednn/integer_product.h"
#include "backends/cpu/onednn/onednn_kernels.h"

namespace tensord::onednn {
namespace {

constexpr IntegerOperands kOperands = {
    .a = 0, .a_zero = 2, .b = 1, .b_zero = 3};

template <typename T>
void SetZeros(const KernelCall& call, int input, QuantizedBytes& zeros,
              LineIndex& index) {
  if (!call.has_input(input)) return;
  zeros = QuantizedBytes::Of(call.input<T>(input));
  index = LineIndex::Of(call.input_layout(input).shape);
}

}  // namespace

absl::Status AcceptsMatMulInteger(const NodeSite& site) {
  return IntegerProductState::Accepts(site, kOperands);
}

KernelCost MatMulIntegerCost(const NodeSite& site) {
  const IntegerMatMul product(site.input(0).shape, site.input(1).shape);
  const double outputs = site.output(0).shape.element_count();
  return {.flops = 2 * outputs * product.k / kIntegerSpeedup,
          .bytes = 4 * outputs + site.input(0).shape.element_count() +
                   site.input(1).shape.element_count()};
}

uint64_t MatMulIntegerWorkspaceBytes(const NodeSite& site) {
  return IntegerProductState::WorkspaceBytes(site, kOperands);
}

PreparedState PrepareMatMulInteger(const NodeSite& site, Device& device) {
  return IntegerProductState::Create(site, kOperands, device);
}

template <typename A, typename B>
absl::Status RunMatMulInteger(const KernelCall& call) {
  const auto& state = static_cast<const IntegerProductState&>(*call.state);
  IntegerMatMul product(call.input_layout(0).shape, call.input_layout(1).shape);
  product.a = QuantizedBytes::Of(call.input<A>(0));
  SetZeros<A>(call, 2, product.a_zeros, product.a_zero_index);
  SetZeros<B>(call, 3, product.b_zeros, product.b_zero_index);
  return state.Run(call, product, call.output<int32_t>(0));
}

template absl::Status RunMatMulInteger<int8_t, int8_t>(const KernelCall&);
template absl::Status RunMatMulInteger<int8_t, uint8_t>(const KernelCall&);
template absl::Status RunMatMulInteger<uint8_t, int8_t>(const KernelCall&);
template absl::Status RunMatMulInteger<uint8_t, uint8_t>(const KernelCall&);

}  // namespace tensord::onednn
