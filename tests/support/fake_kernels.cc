#include "tests/support/fake_kernels.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "tests/support/fake_device.h"

namespace tensord {
namespace {

constexpr const char kSource[] = "tests/support/fake_kernels.cc";

// Calls fn(index) for every index of `shape`, the last dimension fastest.
template <typename Fn>
void ForEachIndex(const Shape& shape, Fn fn) {
  std::array<int64_t, kMaxRank> index{};
  for (int64_t i = 0; i < shape.element_count(); ++i) {
    fn(index);
    for (int d = shape.rank() - 1; d >= 0 && ++index[d] == shape[d]; --d) {
      index[d] = 0;
    }
  }
}

// Where the element of `operand` lies that belongs to `index` of a result of
// `rank` dimensions: trailing dimensions line up, extents of 1 repeat.
int64_t BroadcastOffset(const Layout& operand, int rank,
                        const std::array<int64_t, kMaxRank>& index) {
  int64_t offset = 0;
  for (int d = 0; d < operand.shape.rank(); ++d) {
    if (operand.shape[d] == 1) continue;
    offset += index[rank - operand.shape.rank() + d] * operand.strides[d];
  }
  return offset;
}

// y = a op b.
template <typename Op>
absl::Status Binary(const FakeCall& call, Op op) {
  const Layout& y = call.output_layout(0);
  const int rank = y.shape.rank();
  ForEachIndex(y.shape, [&](const std::array<int64_t, kMaxRank>& index) {
    call.output<float>(0)[BroadcastOffset(y, rank, index)] =
        op(call.input<float>(
               0)[BroadcastOffset(call.input_layout(0), rank, index)],
           call.input<float>(
               1)[BroadcastOffset(call.input_layout(1), rank, index)]);
  });
  return absl::OkStatus();
}

absl::Status ComputeAdd(const FakeCall& call) {
  return Binary(call, [](float a, float b) { return a + b; });
}

absl::Status ComputeMul(const FakeCall& call) {
  return Binary(call, [](float a, float b) { return a * b; });
}

// y[m, n] = sum over k of a[m, k] b[k, n], each row summed in the workspace.
absl::Status ComputeMatMul(const FakeCall& call) {
  const int64_t rows = call.input_layout(0).shape[0];
  const int64_t depth = call.input_layout(0).shape[1];
  const int64_t columns = call.input_layout(1).shape[1];
  auto* row = reinterpret_cast<float*>(call.workspace);
  for (int64_t m = 0; m < rows; ++m) {
    std::fill_n(row, columns, 0.0f);
    for (int64_t k = 0; k < depth; ++k) {
      const float a = call.input<float>(0)[m * depth + k];
      for (int64_t n = 0; n < columns; ++n) {
        row[n] += a * call.input<float>(1)[k * columns + n];
      }
    }
    std::copy_n(row, columns, call.output<float>(0) + m * columns);
  }
  return absl::OkStatus();
}

absl::Status ComputeRelu(const FakeCall& call) {
  const int64_t count = call.output_layout(0).shape.element_count();
  for (int64_t i = 0; i < count; ++i) {
    call.output<float>(0)[i] = std::max(0.0f, call.input<float>(0)[i]);
  }
  return absl::OkStatus();
}

absl::Status ComputeIdentity(const FakeCall& call) {
  std::memmove(call.outputs[0], call.inputs[0], call.input_bytes[0]);
  return absl::OkStatus();
}

// y[d, i] = coordinate d of the i-th element that is not 0; the extent cell is
// how many there are, and y is dense for that extent.
template <typename T>
absl::Status ComputeNonZero(const FakeCall& call) {
  const Layout& x = call.input_layout(0);
  const int rank = x.shape.rank();
  const T* input = call.input<T>(0);
  const auto is_nonzero = [&](const std::array<int64_t, kMaxRank>& index) {
    return input[BroadcastOffset(x, rank, index)] != T{};
  };
  int64_t count = 0;
  ForEachIndex(x.shape, [&](const auto& index) { count += is_nonzero(index); });
  int64_t* output = call.output<int64_t>(0);
  int64_t i = 0;
  ForEachIndex(x.shape, [&](const auto& index) {
    if (!is_nonzero(index)) return;
    for (int d = 0; d < rank; ++d) output[d * count + i] = index[d];
    ++i;
  });
  call.extent_cells[0] = rank;
  call.extent_cells[1] = count;
  return absl::OkStatus();
}

FakeLane& LaneOf(const KernelCall& call) {
  return *static_cast<FakeLane*>(call.context.lane);
}

absl::Status RunAdd(const KernelCall& call) {
  return LaneOf(call).Launch(OpKind::kAdd, "fake_add", call, &ComputeAdd);
}

absl::Status RunMul(const KernelCall& call) {
  return LaneOf(call).Launch(OpKind::kMul, "fake_mul", call, &ComputeMul);
}

// Rounds nothing; it declines as one that does would.
absl::Status RunMulRounded(const KernelCall& call) {
  return LaneOf(call).Launch(OpKind::kMul, "fake_mul_rounded", call,
                             &ComputeMul);
}

absl::Status RunMatMul(const KernelCall& call) {
  return LaneOf(call).Launch(OpKind::kMatMul, "fake_matmul", call,
                             &ComputeMatMul);
}

absl::Status RunRelu4(const KernelCall& call) {
  return LaneOf(call).Launch(OpKind::kRelu, "fake_relu_by_4", call,
                             &ComputeRelu);
}

absl::Status RunRelu(const KernelCall& call) {
  return LaneOf(call).Launch(OpKind::kRelu, "fake_relu", call, &ComputeRelu);
}

absl::Status RunNonZeroFloat(const KernelCall& call) {
  return LaneOf(call).Launch(OpKind::kNonZero, "fake_nonzero_f32", call,
                             &ComputeNonZero<float>);
}

absl::Status RunNonZeroBool(const KernelCall& call) {
  return LaneOf(call).Launch(OpKind::kNonZero, "fake_nonzero_bool", call,
                             &ComputeNonZero<bool>);
}

absl::Status RunIdentity(const KernelCall& call) {
  return LaneOf(call).Launch(OpKind::kIdentity, "fake_identity", call,
                             &ComputeIdentity);
}

absl::Status AcceptsMatrices(const NodeSite& site) {
  if (site.layouts.empty()) return absl::OkStatus();
  for (int i = 0; i < 2; ++i) {
    if (site.input(i).shape.rank() != 2) {
      return absl::UnimplementedError(absl::StrCat(
          "rank ", site.input(i).shape.rank(), " of input ", i, " is not 2"));
    }
  }
  return absl::OkStatus();
}

absl::Status AcceptsRounding(const NodeSite& site) {
  if (site.precision == Precision::kAllowBf16) return absl::OkStatus();
  return absl::UnimplementedError("it rounds its factors to bfloat16");
}

absl::Status AcceptsMultiplesOf4(const NodeSite& site) {
  if (site.layouts.empty()) {
    return absl::UnimplementedError("the element count is not known yet");
  }
  const int64_t count = site.input(0).shape.element_count();
  if (count % 4 != 0) {
    return absl::UnimplementedError(
        absl::StrCat("element count ", count, " is no multiple of 4"));
  }
  return absl::OkStatus();
}

absl::Status AcceptsWholeBytes(const NodeSite& site) {
  const DType dtype = site.input_dtype(0);
  if (BitWidth(dtype) == 0) {
    return absl::UnimplementedError(
        absl::StrCat("dtype ", DTypeName(dtype), " has no fixed size"));
  }
  return absl::OkStatus();
}

uint64_t RowWorkspace(const NodeSite& site) {
  return site.input(1).shape[1] * sizeof(float);
}

absl::StatusOr<std::unique_ptr<KernelState>> Prepare(const NodeSite& site,
                                                     Device& device) {
  return static_cast<FakeDevice&>(device).Prepare(site);
}

KernelCost MatMulCost(const NodeSite& site) {
  const Shape& a = site.input(0).shape;
  const Shape& b = site.input(1).shape;
  return {.flops = 2.0 * a.element_count() * b[1],
          .bytes = 4.0 * (a.element_count() + b.element_count() + a[0] * b[1])};
}

constexpr KernelEntry kFakeKernels[] = {
    {.op = OpKind::kAdd,
     .dtypes = All(DType::kFloat32),
     .name = "fake_add",
     .source = kSource,
     .prepare = &Prepare,
     .run = &RunAdd,
     .caps = {.strided_input = true, .in_place_inputs = 0b11}},
    {.op = OpKind::kMul,
     .dtypes = All(DType::kFloat32),
     .name = "fake_mul_rounded",
     .source = kSource,
     .accepts = &AcceptsRounding,
     .prepare = &Prepare,
     .run = &RunMulRounded,
     .caps = {.strided_input = true, .in_place_inputs = 0b11}},
    {.op = OpKind::kMul,
     .dtypes = All(DType::kFloat32),
     .name = "fake_mul",
     .source = kSource,
     .prepare = &Prepare,
     .run = &RunMul,
     .caps = {.strided_input = true, .in_place_inputs = 0b11}},
    {.op = OpKind::kMatMul,
     .dtypes = All(DType::kFloat32),
     .name = "fake_matmul",
     .source = kSource,
     .accepts = &AcceptsMatrices,
     .workspace_bytes = &RowWorkspace,
     .prepare = &Prepare,
     .cost = &MatMulCost,
     .run = &RunMatMul},
    {.op = OpKind::kRelu,
     .dtypes = All(DType::kFloat32),
     .name = "fake_relu_by_4",
     .source = kSource,
     .accepts = &AcceptsMultiplesOf4,
     .prepare = &Prepare,
     .run = &RunRelu4,
     .caps = {.in_place_inputs = 0b1}},
    {.op = OpKind::kRelu,
     .dtypes = All(DType::kFloat32),
     .name = "fake_relu",
     .source = kSource,
     .prepare = &Prepare,
     .run = &RunRelu,
     .caps = {.in_place_inputs = 0b1}},
    {.op = OpKind::kIdentity,
     .dtypes = AnyDTypes(),
     .name = "fake_identity",
     .source = kSource,
     .accepts = &AcceptsWholeBytes,
     .run = &RunIdentity,
     .caps = {.in_place_inputs = 0b1}},
    {.op = OpKind::kNonZero,
     .dtypes = Takes({DType::kFloat32}, {DType::kInt64}),
     .name = "fake_nonzero_f32",
     .source = kSource,
     .run = &RunNonZeroFloat},
    {.op = OpKind::kNonZero,
     .dtypes = Takes({DType::kBool}, {DType::kInt64}),
     .name = "fake_nonzero_bool",
     .source = kSource,
     .run = &RunNonZeroBool},
};

}  // namespace

absl::Span<const KernelEntry> FakeKernels() { return kFakeKernels; }

}  // namespace tensord
