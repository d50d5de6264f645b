#include "backends/cuda/libraries/product_site.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "absl/strings/str_cat.h"

namespace tensord::cuda {
namespace {

// The distance between an operand's matrices along a batch of these extents: 0
// for one matrix that meets all. nullopt where it is repeated along some of the
// dimensions only.
std::optional<int64_t> BatchStride(const Shape& shape,
                                   absl::Span<const int64_t> batch,
                                   int64_t matrix_elements) {
  const int own_rank = std::max(shape.rank() - 2, 0);
  if (shape.ElementCount(0, own_rank) == 1) return 0;
  if (own_rank != static_cast<int>(batch.size())) {
    // Missing dimensions in front are extents of 1.
    const size_t missing = batch.size() - own_rank;
    for (size_t i = 0; i < missing; ++i) {
      if (batch[i] != 1) return std::nullopt;
    }
    batch.remove_prefix(missing);
  }
  for (int i = 0; i < own_rank; ++i) {
    if (shape[i] != batch[i]) return std::nullopt;
  }
  return matrix_elements;
}

absl::Status ResolveMatMul(const NodeSite& site, ProductProblem& problem) {
  const Shape& a = site.input(0).shape;
  const Shape& b = site.input(1).shape;
  problem.m = a.rank() == 1 ? 1 : a[a.rank() - 2];
  problem.k = a[a.rank() - 1];
  problem.n = b.rank() == 1 ? 1 : b[b.rank() - 1];
  const int a_rank = std::max(a.rank() - 2, 0);
  const int b_rank = std::max(b.rank() - 2, 0);
  Dims batch(std::max(a_rank, b_rank), 1);
  for (int i = 1; i <= static_cast<int>(batch.size()); ++i) {
    const int64_t a_extent = i <= a_rank ? a[a_rank - i] : 1;
    const int64_t b_extent = i <= b_rank ? b[b_rank - i] : 1;
    batch[batch.size() - i] = a_extent == 1 ? b_extent : a_extent;
  }
  for (int64_t extent : batch) problem.batch *= extent;
  const auto a_stride = BatchStride(a, batch, problem.m * problem.k);
  const auto b_stride = BatchStride(b, batch, problem.k * problem.n);
  if (!a_stride.has_value() || !b_stride.has_value()) {
    return absl::UnimplementedError(absl::StrCat(
        "matrices of ", a.ToString(), " and ", b.ToString(),
        " are repeated along some dimensions of their batch only"));
  }
  problem.a_batch_stride = *a_stride;
  problem.b_batch_stride = *b_stride;
  // One b for all: the rows of all matrices of a are one tall matrix's.
  if (*b_stride == 0 && (*a_stride != 0 || problem.batch == 1)) {
    problem.m *= problem.batch;
    problem.batch = 1;
    problem.a_batch_stride = 0;
  }
  return absl::OkStatus();
}

void ResolveGemm(const NodeSite& site, ProductProblem& problem) {
  const auto& params = std::get<GemmParams>(site.params);
  problem.m = site.output(0).shape[0];
  problem.n = site.output(0).shape[1];
  problem.k = site.input(0).shape[params.transpose_a ? 0 : 1];
}

// Takes an input that is added in as the bias or as the addend.
absl::Status Add(const NodeSite& site, int input, float factor,
                 ProductSite& result) {
  const Shape& y = site.output(0).shape;
  const AddendForm form =
      FormOfAddend(site.input(input).shape, y, y.rank() - 1);
  if (form == AddendForm::kPerChannel && result.bias_input < 0 && factor == 1) {
    result.bias_input = input;
    result.problem.has_bias = true;
    return absl::OkStatus();
  }
  if (form == AddendForm::kWhole && result.addend_input < 0) {
    result.addend_input = input;
    result.problem.beta = factor;
    return absl::OkStatus();
  }
  return absl::UnimplementedError(absl::StrCat(
      "input ", input, " of shape ", site.input(input).shape.ToString(),
      " times ", factor, " is added to ", y.ToString()));
}

absl::Status ResolveActivation(Activation activation, bool has_shapes,
                               ProductProblem& problem) {
  problem.activation = activation;
  if (activation == Activation::kGelu) {
    const int64_t depth = has_shapes ? problem.k : kMinDepthOfGeluByTanh;
    if (!MayComputeGeluByTanh(problem.dtype, depth)) {
      return absl::UnimplementedError(absl::StrCat(
          "a Gelu by erf of ", DTypeName(problem.dtype), " at depth ", depth));
    }
    problem.activation = Activation::kGeluByTanh;
  }
  if (activation == Activation::kClip) {
    return absl::UnimplementedError("an epilogue with Clip");
  }
  return absl::OkStatus();
}

// Of the first elements, as far as the layouts tell; slots and storages are
// aligned to more.
uint32_t AlignmentOf(const NodeSite& site) {
  uint64_t alignment = 16;
  for (size_t i = 0; i < site.layouts.size(); ++i) {
    if (site.dtypes[i] == DType::kUndefined) continue;
    const uint64_t offset = ByteSize(site.dtypes[i], site.layouts[i].offset);
    while (offset % alignment != 0) alignment /= 2;
  }
  return static_cast<uint32_t>(alignment);
}

}  // namespace

bool MayComputeGeluByTanh(DType dtype, int64_t depth) {
  return (dtype == DType::kFloat16 || dtype == DType::kBFloat16) &&
         depth >= kMinDepthOfGeluByTanh;
}

absl::StatusOr<ProductSite> ResolveProduct(const NodeSite& site) {
  ProductSite result;
  ProductProblem& problem = result.problem;
  problem.dtype = site.input_dtype(0);
  problem.allows_tf32 = site.precision != Precision::kStrict;
  const absl::StatusOr<SimpleEpilogue> epilogue =
      MatchSimpleEpilogue(site.params);
  if (!epilogue.ok()) return epilogue.status();
  const auto* gemm = std::get_if<GemmParams>(&site.params);
  if (gemm != nullptr) {
    problem.transposes_a = gemm->transpose_a;
    problem.transposes_b = gemm->transpose_b;
    problem.alpha = gemm->alpha;
  }
  const bool has_shapes = !site.layouts.empty();
  if (has_shapes) {
    if (gemm != nullptr) {
      ResolveGemm(site, problem);
    } else if (absl::Status status = ResolveMatMul(site, problem);
               !status.ok()) {
      return status;
    }
    if (problem.m * problem.n * problem.k * problem.batch == 0) {
      return absl::FailedPreconditionError("an operand is empty");
    }
    if (gemm != nullptr && site.has_input(2) && gemm->beta != 0) {
      absl::Status status = Add(site, 2, gemm->beta, result);
      if (!status.ok()) return status;
    }
    for (int input : epilogue->addends()) {
      if (absl::Status status = Add(site, input, 1, result); !status.ok()) {
        return status;
      }
    }
    problem.alignment = AlignmentOf(site);
  }
  absl::Status status =
      ResolveActivation(epilogue->activation, has_shapes, problem);
  if (!status.ok()) return status;
  return result;
}

}  // namespace tensord::cuda
