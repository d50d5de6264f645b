#include "backends/cpu/onednn/integer_product.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/cpu/packed_store.h"

namespace tensord::onednn {
namespace {

ProductSite SiteOf(const NodeSite& node, const IntegerOperands& operands) {
  const IntegerMatMul product(node.input(operands.a).shape,
                              node.input(operands.b).shape);
  const bool is_signed = node.input_dtype(operands.a) == DType::kInt8;
  return {.m = product.m * product.batch,
          .n = product.n,
          .k = product.k,
          .a_dtype = is_signed ? dnnl_s8 : dnnl_u8,
          .b_dtype = dnnl_s8,
          .c_dtype = dnnl_s32,
          .a_row = product.k,
          .b_row = product.n,
          .has_constant_b = true};
}

// Of a signed matrix of n columns, whose bytes are b's after a flip.
void SumColumns(absl::Span<const std::byte> b, uint8_t flip, int64_t n,
                int32_t* sums) {
  std::fill_n(sums, n, 0);
  for (size_t row = 0; row < b.size(); row += n) {
    for (int64_t j = 0; j < n; ++j) {
      sums[j] +=
          static_cast<int8_t>(std::to_integer<uint8_t>(b[row + j]) ^ flip);
    }
  }
}

}  // namespace

absl::Status IntegerProductState::Accepts(const NodeSite& node,
                                          const IntegerOperands& operands) {
  if (absl::Status status = CheckExactIntegers(); !status.ok()) return status;
  if (node.layouts.empty()) return absl::OkStatus();
  if (node.host_constant(operands.b) == nullptr) {
    return absl::FailedPreconditionError("B is not constant");
  }
  const Shape& a = node.input(operands.a).shape;
  const Shape& b = node.input(operands.b).shape;
  const int b_batch = std::max(b.rank() - 2, 0);
  if (b.ElementCount(0, b_batch) != 1 || b_batch > std::max(a.rank() - 2, 0)) {
    return absl::FailedPreconditionError(
        absl::StrCat("B has a batch, ", b.ToString()));
  }
  return Product::Accepts(SiteOf(node, operands));
}

uint64_t IntegerProductState::WorkspaceBytes(const NodeSite& node,
                                             const IntegerOperands& operands) {
  const ProductSite site = SiteOf(node, operands);
  return ProductWorkspaceBytes(site, 1) + site.n * sizeof(float);
}

absl::StatusOr<std::unique_ptr<KernelState>> IntegerProductState::Create(
    const NodeSite& node, const IntegerOperands& operands, Device& device) {
  const ProductSite site = SiteOf(node, operands);
  const bool is_signed = node.input_dtype(operands.b) == DType::kInt8;
  const absl::Span<const std::byte> given = HostBytes(node, operands.b);
  std::vector<std::byte> flipped;  // once it is wanted
  const auto elements = [&]() -> const std::byte* {
    if (is_signed) return given.data();
    if (flipped.empty()) {
      flipped.assign(given.begin(), given.end());
      for (std::byte& element : flipped) element ^= std::byte{0x80};
    }
    return flipped.data();
  };
  std::unique_ptr<IntegerProductState> state(new IntegerProductState);
  state->b_shift_ = is_signed ? 0 : 128;
  const auto sum = [&](std::byte* to) {
    SumColumns(given, is_signed ? 0 : 0x80, site.n,
               reinterpret_cast<int32_t*>(to));
    return absl::OkStatus();
  };
  auto sums = PackedStoreOf(device).Get(
      given, absl::StrCat("column sums ", is_signed, " ", site.n),
      site.n * sizeof(int32_t), sum);
  if (!sums.ok()) return sums.status();
  state->column_sums_ = *std::move(sums);
  auto product = Product::Create(site,
                                 Unpacked{.content = given,
                                          .change = is_signed ? "" : "signed",
                                          .elements = elements},
                                 device);
  if (!product.ok()) return product.status();
  state->product_ = *std::move(product);
  state->scratch_bytes_ = Product::ScratchBytes(site);
  state->parts_bytes_ = ProductWorkspaceBytes(site, 1);
  return state;
}

absl::Status IntegerProductState::Run(const KernelCall& call,
                                      const IntegerMatMul& product,
                                      int32_t* y) const {
  if (product_->part(0).column_count != product.n) {
    return Run(call, product,
               [&](int64_t index, int64_t row, int64_t column, int64_t count,
                   const int32_t* sums) {
                 std::copy_n(
                     sums, count,
                     y + (index * product.m + row) * product.n + column);
               });
  }
  // Rows of parts are rows of y.
  return ForParts(
      *call.context.workers, product_->part_count(), 1, call.context.workspace,
      scratch_bytes_, [&](int64_t index, std::byte* scratch) {
        const Product::Part part = product_->part(index);
        int32_t* raw = y + part.row * product.n;
        absl::Status status = product_->RunDense(
            index, product.a.elements, nullptr, nullptr, raw, scratch);
        if (!status.ok()) return status;
        for (int64_t i = 0; i < part.row_count; ++i, raw += product.n) {
          CorrectRow(product, {.a = (part.row + i) / product.m, .b = 0},
                     (part.row + i) % product.m, part, raw);
        }
        return absl::OkStatus();
      });
}

void IntegerProductState::CorrectRow(const IntegerMatMul& product,
                                     const IntegerMatMul::Matrices& at,
                                     int64_t row, const Product::Part& part,
                                     int32_t* sums) const {
  const IntegerLoops& loops = TheIntegerLoops();
  const auto a_zero = static_cast<uint32_t>(product.a_zero(at, row));
  const int32_t* column_sums =
      reinterpret_cast<const int32_t*>(column_sums_->address()) + part.column;
  const bool has_one_b_zero =
      !product.b_zeros.is_present() || product.b_zero_index.is_one;
  const int first_zero = product.b_zero(at, part.column) - b_shift_;
  if (has_one_b_zero && first_zero == 0) {
    if (a_zero == 0) return;
    loops.correct(sums, column_sums, a_zero, 0, part.column_count, sums);
    return;
  }
  const auto k = static_cast<uint32_t>(product.k);
  // Of (a - za): what each column's zero point is taken off for.
  uint32_t row_sum =
      loops.sum_bytes(product.a.elements + (at.a * product.m + row) * product.k,
                      product.a.flip, product.k);
  row_sum -= k * (static_cast<uint32_t>(product.a.bias) + a_zero);
  if (has_one_b_zero) {
    loops.correct(sums, column_sums, a_zero,
                  0 - static_cast<uint32_t>(first_zero) * row_sum,
                  part.column_count, sums);
    return;
  }
  for (int64_t j = 0; j < part.column_count; ++j) {
    const auto zero =
        static_cast<uint32_t>(product.b_zero(at, part.column + j) - b_shift_);
    sums[j] = static_cast<int32_t>(
        static_cast<uint32_t>(sums[j]) -
        a_zero * static_cast<uint32_t>(column_sums[j]) - zero * row_sum);
  }
}

}  // namespace tensord::onednn
