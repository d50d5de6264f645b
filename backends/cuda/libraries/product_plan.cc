#include "backends/cuda/libraries/product_plan.h"

#include <array>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "backends/cuda/cuda_status.h"
#include "backends/cuda/current_device.h"
#include "backends/cuda/libraries/cublaslt.h"
#include "backends/cuda/libraries/trial.h"

namespace tensord::cuda {
namespace {

// How many of the library's proposals, best first by its own model, are
// measured.
constexpr int kProposals = 8;

cudaDataType_t TypeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return CUDA_R_16F;
    case DType::kBFloat16:
      return CUDA_R_16BF;
    default:
      return CUDA_R_32F;
  }
}

cublasLtEpilogue_t EpilogueOf(const ProductProblem& problem) {
  switch (problem.activation) {
    case Activation::kRelu:
      return problem.has_bias ? CUBLASLT_EPILOGUE_RELU_BIAS
                              : CUBLASLT_EPILOGUE_RELU;
    case Activation::kGeluByTanh:
      return problem.has_bias ? CUBLASLT_EPILOGUE_GELU_BIAS
                              : CUBLASLT_EPILOGUE_GELU;
    default:
      return problem.has_bias ? CUBLASLT_EPILOGUE_BIAS
                              : CUBLASLT_EPILOGUE_DEFAULT;
  }
}

// The plans of this process, by device and problem.
struct Plans {
  absl::Mutex mu;
  absl::flat_hash_map<std::string, std::shared_ptr<const ProductPlan>> by_key
      ABSL_GUARDED_BY(mu);
};
Plans& AllPlans() {
  static auto* const plans = new Plans;
  return *plans;
}

}  // namespace

std::string ProductProblem::Key() const {
  return absl::StrCat(DTypeName(dtype), " ", allows_tf32, " ", m, " ", n, " ",
                      k, " ", batch, " ", a_batch_stride, " ", b_batch_stride,
                      " ", transposes_a, transposes_b, " ", alpha, " ", beta,
                      " ", has_bias, " ", static_cast<int>(activation), " ",
                      alignment);
}

absl::StatusOr<std::shared_ptr<const ProductPlan>> ProductPlan::Create(
    const ProductProblem& problem, Device& device) {
  const int ordinal = device.info().id.ordinal;
  const std::string key = absl::StrCat(ordinal, " ", problem.Key());
  Plans& plans = AllPlans();
  {
    absl::MutexLock lock(&plans.mu);
    if (auto it = plans.by_key.find(key); it != plans.by_key.end()) {
      return it->second;
    }
  }
  absl::Status status = CudaStatus(MakeCurrent(ordinal), "cudaSetDevice");
  if (!status.ok()) return status;
  absl::StatusOr<cublasLtHandle_t> handle = CublasLtHandle(ordinal);
  if (!handle.ok()) return handle.status();
  std::shared_ptr<ProductPlan> plan(new ProductPlan(problem));
  plan->handle_ = *handle;
  status = plan->Describe();
  if (status.ok()) status = plan->Choose(device);
  if (!status.ok()) return status;
  absl::MutexLock lock(&plans.mu);
  return plans.by_key.try_emplace(key, std::move(plan)).first->second;
}

absl::Status ProductPlan::Describe() {
  const CublasLt& library = *CublasLt::Get();
  const auto describe = [&](cublasLtMatrixLayoutOpaque_t& layout, int64_t rows,
                            int64_t columns, int64_t batch_stride) {
    absl::Status status = CublasLtStatus(
        library.cublasLtMatrixLayoutInit_internal(
            &layout, sizeof(layout), TypeOf(problem_.dtype), rows, columns,
            /*ld=*/rows),
        "cublasLtMatrixLayoutInit");
    if (problem_.batch == 1 || !status.ok()) return status;
    const auto batch = static_cast<int32_t>(problem_.batch);
    status = CublasLtStatus(
        library.cublasLtMatrixLayoutSetAttribute(
            &layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof(batch)),
        "CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT");
    if (!status.ok()) return status;
    return CublasLtStatus(
        library.cublasLtMatrixLayoutSetAttribute(
            &layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &batch_stride,
            sizeof(batch_stride)),
        "CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET");
  };
  const auto [m, n, k] = std::array{problem_.m, problem_.n, problem_.k};
  absl::Status status = problem_.transposes_b
                            ? describe(b_, k, n, problem_.b_batch_stride)
                            : describe(b_, n, k, problem_.b_batch_stride);
  if (!status.ok()) return status;
  status = problem_.transposes_a ? describe(a_, m, k, problem_.a_batch_stride)
                                 : describe(a_, k, m, problem_.a_batch_stride);
  if (!status.ok()) return status;
  return describe(y_, n, m, m * n);
}

// Built anew for each launch, on the stack: a description holds the bias's
// address, and lanes share the plan.
absl::Status ProductPlan::DescribeOperation(
    const void* bias, cublasLtMatmulDescOpaque_t& operation) const {
  const CublasLt& library = *CublasLt::Get();
  const cublasComputeType_t compute =
      problem_.dtype == DType::kFloat32 && problem_.allows_tf32
          ? CUBLAS_COMPUTE_32F_FAST_TF32
          : CUBLAS_COMPUTE_32F;
  absl::Status status =
      CublasLtStatus(library.cublasLtMatmulDescInit_internal(
                         &operation, sizeof(operation), compute, CUDA_R_32F),
                     "cublasLtMatmulDescInit");
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute,
                       const auto& value) {
    if (!status.ok()) return;
    status = CublasLtStatus(library.cublasLtMatmulDescSetAttribute(
                                &operation, attribute, &value, sizeof(value)),
                            "cublasLtMatmulDescSetAttribute");
  };
  const cublasOperation_t left =
      problem_.transposes_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t right =
      problem_.transposes_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  set(CUBLASLT_MATMUL_DESC_TRANSA, left);
  set(CUBLASLT_MATMUL_DESC_TRANSB, right);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, EpilogueOf(problem_));
  if (problem_.has_bias) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  return status;
}

absl::Status ProductPlan::Choose(Device& device) {
  const CublasLt& library = *CublasLt::Get();
  const auto bytes = [&](int64_t elements) {
    return ByteSize(problem_.dtype, elements);
  };
  const auto all = [&](int64_t one, int64_t stride) {
    return bytes(stride == 0 ? one : one * problem_.batch);
  };
  const auto [m, n, k] = std::array{problem_.m, problem_.n, problem_.k};
  const uint64_t y_bytes = all(m * n, m * n);
  absl::StatusOr<std::unique_ptr<Trial>> trial = Trial::Create(
      device, problem_.dtype,
      {all(m * k, problem_.a_batch_stride), all(k * n, problem_.b_batch_stride),
       y_bytes, problem_.beta != 0 ? y_bytes : 0, bytes(n),
       kProductWorkspaceBytes});

  cublasLtMatmulPreferenceOpaque_t preference;
  absl::Status status =
      CublasLtStatus(library.cublasLtMatmulPreferenceInit_internal(
                         &preference, sizeof(preference)),
                     "cublasLtMatmulPreferenceInit");
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute,
                          const auto& value) {
    if (!status.ok()) return;
    status = CublasLtStatus(library.cublasLtMatmulPreferenceSetAttribute(
                                &preference, attribute, &value, sizeof(value)),
                            "cublasLtMatmulPreferenceSetAttribute");
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kProductWorkspaceBytes);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, problem_.alignment);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, problem_.alignment);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, problem_.alignment);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, problem_.alignment);
  // Parts of a sum are added in float32 and in a fixed order: sums in place are
  // neither, and those of the output's type round more than once.
  prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
         static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));

  // An address for the bias, which the library looks at for its alignment.
  alignas(64) static const char kSomewhere[64] = {};
  cublasLtMatmulDescOpaque_t operation;
  if (status.ok()) status = DescribeOperation(kSomewhere, operation);
  if (!status.ok()) return status;
  std::array<cublasLtMatmulHeuristicResult_t, kProposals> proposals;
  int count = 0;
  status =
      CublasLtStatus(library.cublasLtMatmulAlgoGetHeuristic(
                         handle_, &operation, &b_, &a_, &y_, &y_, &preference,
                         kProposals, proposals.data(), &count),
                     "cublasLtMatmulAlgoGetHeuristic");
  if (!status.ok()) return status;
  if (count == 0) return absl::UnimplementedError("cuBLASLt has no way for it");

  algorithm_ = proposals[0].algo;
  // Without memory for a trial, the library's own first choice.
  if (!trial.ok() || count == 1) return absl::OkStatus();
  const Operands operands{.a = (*trial)->buffer(0),
                          .b = (*trial)->buffer(1),
                          .addend = (*trial)->buffer(3),
                          .bias = (*trial)->buffer(4),
                          .y = (*trial)->buffer(2),
                          .workspace = (*trial)->buffer(5)};
  cublasLtMatmulAlgo_t best = algorithm_;
  for (int i = 0; i < count; ++i) {
    if (proposals[i].state != CUBLAS_STATUS_SUCCESS) continue;
    algorithm_ = proposals[i].algo;
    const absl::StatusOr<double> ns = (*trial)->MeasureNs(
        [&](cudaStream_t stream) { return Run(stream, operands); });
    if (!ns.ok()) {
      if (absl::IsUnavailable(ns.status())) return ns.status();
      continue;  // a proposal that does not run is no choice
    }
    if (measured_ns_ == 0 || *ns < measured_ns_) {
      measured_ns_ = *ns;
      best = algorithm_;
    }
  }
  algorithm_ = best;
  return absl::OkStatus();
}

absl::Status ProductPlan::Run(cudaStream_t stream,
                              const Operands& operands) const {
  cublasLtMatmulDescOpaque_t operation;
  absl::Status status = DescribeOperation(operands.bias, operation);
  if (!status.ok()) return status;
  // The library takes addresses of what it only reads without a const.
  auto* const b = const_cast<cublasLtMatrixLayoutOpaque_t*>(&b_);
  auto* const a = const_cast<cublasLtMatrixLayoutOpaque_t*>(&a_);
  auto* const y = const_cast<cublasLtMatrixLayoutOpaque_t*>(&y_);
  return CublasLtStatus(
      CublasLt::Get()->cublasLtMatmul(
          handle_, &operation, &problem_.alpha, operands.b, b, operands.a, a,
          &problem_.beta, problem_.beta != 0 ? operands.addend : operands.y, y,
          operands.y, y, &algorithm_, operands.workspace,
          kProductWorkspaceBytes, stream),
      "cublasLtMatmul");
}

}  // namespace tensord::cuda
