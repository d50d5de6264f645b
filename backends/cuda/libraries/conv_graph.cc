#include "backends/cuda/libraries/conv_graph.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/container/inlined_vector.h"

namespace tensord::cuda {
namespace {

// Attributes whose names newer headers call deprecated; older libraries know
// nothing else.
constexpr auto kExecutionPlanHandle =
    static_cast<cudnnBackendAttributeName_t>(400);
constexpr auto kOperationGraphHandle =
    static_cast<cudnnBackendAttributeName_t>(800);

// The numbers of a graph's tensors. The virtual ones never reach memory.
enum TensorId : int64_t {
  kX = 1,
  kW,
  kBias,
  kAddend,
  kY,
  kConvolved,
  kAdded,
  kBiased,
};

using Dims5 = absl::InlinedVector<int64_t, 5>;

cudnnDataType_t TypeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return CUDNN_DATA_HALF;
    case DType::kBFloat16:
      return CUDNN_DATA_BFLOAT16;
    default:
      return CUDNN_DATA_FLOAT;
  }
}

// Strides of [outer, channels, spatial...] as it lies in memory.
Dims5 StridesOf(const Dims5& dims, bool is_channels_last) {
  Dims5 strides(dims.size(), 1);
  int64_t stride = 1;
  if (is_channels_last) stride = dims[1];
  for (size_t i = dims.size() - 1; i >= 2; --i) {
    strides[i] = stride;
    stride *= dims[i];
  }
  if (is_channels_last) {
    strides[1] = 1;
  } else {
    strides[1] = stride;
    stride *= dims[1];
  }
  strides[0] = stride;
  return strides;
}

// The graph of one problem while it is made.
class GraphMaker {
 public:
  GraphMaker(const ConvProblem& problem, const CudnnTarget& target,
             absl::Status& status)
      : problem_(problem), target_(target), status_(status) {}

  CudnnDescriptor Make() {
    int64_t result = AddConvolution();
    // The addend comes before the bias: that is the order of the fused kernels
    // that the library has ready-made.
    if (problem_.has_addend) {
      Tensor(kAddend, ImageDims(problem_.output_channels, problem_.outputs));
      result = AddPointwise(CUDNN_POINTWISE_ADD, result, kAddend, kAdded);
    }
    if (problem_.has_bias) {
      Tensor(kBias, BiasDims());
      result = AddPointwise(CUDNN_POINTWISE_ADD, result, kBias, kBiased);
    }
    if (problem_.activation != Activation::kNone) {
      AddPointwise(CUDNN_POINTWISE_RELU_FWD, result, 0, kY);
    }
    CudnnDescriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, status_);
    if (target_.handle != nullptr) {
      graph.SetHandle(kOperationGraphHandle, target_.handle);
    }
    std::vector<cudnnBackendDescriptor_t> operations;
    for (const CudnnDescriptor& operation : operations_) {
      operations.push_back(operation.get());
    }
    graph.Set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
              static_cast<int64_t>(operations.size()), operations.data());
    graph.Finalize();
    return graph;
  }

 private:
  int stages_behind() const {
    return (problem_.has_addend ? 1 : 0) + (problem_.has_bias ? 1 : 0) +
           (problem_.activation != Activation::kNone ? 1 : 0);
  }
  // y where nothing comes behind the step that makes it.
  int64_t NextResult(int64_t id) {
    return made_++ == stages_behind() ? int64_t{kY} : id;
  }

  Dims5 ImageDims(int64_t channels, const ConvProblem::Extents& spatial) const {
    Dims5 dims = {problem_.images, channels};
    dims.insert(dims.end(), spatial.begin(),
                spatial.begin() + problem_.spatial_rank);
    return dims;
  }
  Dims5 BiasDims() const {
    Dims5 dims(2 + problem_.spatial_rank, 1);
    dims[1] = problem_.output_channels;
    return dims;
  }

  const CudnnDescriptor& Tensor(int64_t id, const Dims5& dims) {
    for (const auto& [known, tensor] : tensors_) {
      if (known == id) return *tensor;
    }
    auto tensor = std::make_unique<CudnnDescriptor>(
        CUDNN_BACKEND_TENSOR_DESCRIPTOR, status_);
    // What is not stored may as well be exact.
    const bool is_virtual = id > kY;
    tensor->SetDataType(CUDNN_ATTR_TENSOR_DATA_TYPE,
                        is_virtual ? CUDNN_DATA_FLOAT : TypeOf(problem_.dtype));
    tensor->SetInt64s(CUDNN_ATTR_TENSOR_DIMENSIONS, dims);
    tensor->SetInt64s(CUDNN_ATTR_TENSOR_STRIDES,
                      StridesOf(dims, problem_.is_channels_last));
    tensor->SetInt64(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
    tensor->SetInt64(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, problem_.alignment);
    tensor->SetBool(CUDNN_ATTR_TENSOR_IS_VIRTUAL, is_virtual);
    tensor->Finalize();
    tensors_.emplace_back(id, std::move(tensor));
    return *tensors_.back().second;
  }

  int64_t AddConvolution() {
    const int64_t result = NextResult(kConvolved);
    const int rank = problem_.spatial_rank;
    CudnnDescriptor conv(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, status_);
    const auto set = [&](cudnnBackendAttributeName_t name,
                         const ConvProblem::Extents& values) {
      conv.SetInt64s(name, absl::MakeConstSpan(values.data(), rank));
    };
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    conv.SetInt64(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, rank);
    conv.SetDataType(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
    conv.Set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1,
             &mode);
    set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, problem_.pads_begin);
    set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, problem_.pads_end);
    set(CUDNN_ATTR_CONVOLUTION_DILATIONS, problem_.dilations);
    set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, problem_.strides);
    conv.Finalize();

    Dims5 weights = {problem_.output_channels,
                     problem_.input_channels / problem_.groups};
    weights.insert(weights.end(), problem_.taps.begin(),
                   problem_.taps.begin() + rank);
    CudnnDescriptor& operation = operations_.emplace_back(
        CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, status_);
    operation.SetDescriptor(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                            conv);
    operation.SetDescriptor(
        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
        Tensor(kX, ImageDims(problem_.input_channels, problem_.inputs)));
    operation.SetDescriptor(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                            Tensor(kW, weights));
    operation.SetDescriptor(
        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
        Tensor(result, ImageDims(problem_.output_channels, problem_.outputs)));
    operation.SetFloat(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1);
    operation.SetFloat(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0);
    operation.Finalize();
    return result;
  }

  // `to`, or y where it is the last: what the step makes of x and, unless it is
  // 0, b.
  int64_t AddPointwise(cudnnPointwiseMode_t mode, int64_t x, int64_t b,
                       int64_t to) {
    const int64_t result = NextResult(to);
    CudnnDescriptor pointwise(CUDNN_BACKEND_POINTWISE_DESCRIPTOR, status_);
    pointwise.Set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1,
                  &mode);
    pointwise.SetDataType(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT);
    if (problem_.activation == Activation::kClip &&
        mode == CUDNN_POINTWISE_RELU_FWD) {
      pointwise.SetDouble(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, problem_.high);
    }
    pointwise.Finalize();
    const Dims5 image = ImageDims(problem_.output_channels, problem_.outputs);
    CudnnDescriptor& operation = operations_.emplace_back(
        CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, status_);
    operation.SetDescriptor(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
                            pointwise);
    operation.SetDescriptor(CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                            Tensor(x, image));
    if (b != 0) {
      operation.SetDescriptor(CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                              Tensor(b, image));
    }
    operation.SetDescriptor(CUDNN_ATTR_OPERATION_POINTWISE_YDESC,
                            Tensor(result, image));
    operation.SetFloat(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1);
    operation.SetFloat(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 1);
    operation.Finalize();
    return result;
  }

  const ConvProblem& problem_;
  const CudnnTarget& target_;
  absl::Status& status_;
  int made_ = 0;  // results so far
  std::vector<std::pair<int64_t, std::unique_ptr<CudnnDescriptor>>> tensors_;
  std::vector<CudnnDescriptor> operations_;
};

// What the library proposes for the graph in one of its modes, best first.
std::vector<CudnnDescriptor> Propose(const CudnnDescriptor& graph,
                                     cudnnBackendHeurMode_t mode,
                                     const CudnnTarget& target,
                                     absl::Status& status) {
  constexpr int kMaxProposals = 16;
  CudnnDescriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, status);
  heuristic.SetDescriptor(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristic.Set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
  if (target.device_properties != nullptr) {
    heuristic.SetDescriptor(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP,
                            *target.device_properties);
  }
  heuristic.Finalize();
  std::vector<CudnnDescriptor> proposals;
  std::array<cudnnBackendDescriptor_t, kMaxProposals> descriptors;
  for (auto& descriptor : descriptors) {
    descriptor =
        proposals.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, status)
            .get();
  }
  const int64_t count = heuristic.Get(CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                      CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                      kMaxProposals, descriptors.data());
  while (static_cast<int64_t>(proposals.size()) > count) proposals.pop_back();
  return proposals;
}

// Whether an engine's results are what this problem's may be.
bool MayUse(const CudnnDescriptor& proposal, const ConvProblem& problem,
            absl::Status& status) {
  CudnnDescriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR, status);
  cudnnBackendDescriptor_t descriptor = engine.get();
  proposal.Get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
               &descriptor);
  std::array<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT>
      notes;
  const int64_t count =
      engine.Get(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                 notes.size(), notes.data());
  const bool is_strict =
      problem.dtype == DType::kFloat32 && !problem.allows_tf32;
  return status.ok() &&
         std::none_of(notes.begin(), notes.begin() + count, [&](auto note) {
           switch (note) {
             case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
             case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
             // Transforms of large tiles lose digits.
             case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6:
             case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13:
               return true;
             case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
             case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
               return is_strict;
             default:
               return false;
           }
         });
}

}  // namespace

absl::StatusOr<std::vector<std::unique_ptr<ConvGraphPlan>>> PlanConvGraph(
    const ConvProblem& problem, const CudnnTarget& target,
    uint64_t max_workspace_bytes, int max_count) {
  absl::Status status;
  GraphMaker maker(problem, target, status);
  const CudnnDescriptor graph = maker.Make();
  if (!status.ok()) return status;
  std::vector<std::unique_ptr<ConvGraphPlan>> plans;
  for (cudnnBackendHeurMode_t mode :
       {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    if (!plans.empty()) break;
    absl::Status proposed;
    for (CudnnDescriptor& proposal : Propose(graph, mode, target, proposed)) {
      if (static_cast<int>(plans.size()) == max_count) break;
      // One proposal that fails leaves the others.
      absl::Status own;
      proposal.ReportTo(own);
      if (!MayUse(proposal, problem, own)) continue;
      CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, own);
      if (target.handle != nullptr) {
        plan.SetHandle(kExecutionPlanHandle, target.handle);
      } else {
        plan.SetDescriptor(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP,
                           *target.device_properties);
      }
      plan.SetDescriptor(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, proposal);
      plan.Finalize();
      int64_t workspace_bytes = 0;
      plan.Get(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
               &workspace_bytes);
      if (!own.ok()) {
        status = own;
        continue;
      }
      if (static_cast<uint64_t>(workspace_bytes) > max_workspace_bytes) {
        continue;
      }
      plans.emplace_back(new ConvGraphPlan(std::move(plan), problem));
      plans.back()->workspace_bytes_ = workspace_bytes;
    }
    if (!proposed.ok()) status = proposed;
  }
  if (plans.empty() && !status.ok()) return status;
  return plans;
}

absl::Status ConvGraphPlan::Run(cudnnHandle_t handle,
                                const Operands& operands) const {
  absl::InlinedVector<int64_t, 5> ids = {kX, kW, kY};
  // The library takes addresses of what it only reads without a const.
  absl::InlinedVector<void*, 5> addresses = {
      const_cast<void*>(operands.x), const_cast<void*>(operands.w), operands.y};
  if (problem_.has_bias) {
    ids.push_back(kBias);
    addresses.push_back(const_cast<void*>(operands.bias));
  }
  if (problem_.has_addend) {
    ids.push_back(kAddend);
    addresses.push_back(const_cast<void*>(operands.addend));
  }
  absl::Status status;
  CudnnDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, status);
  pack.SetInt64s(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
  pack.Set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
           static_cast<int64_t>(addresses.size()), addresses.data());
  pack.Set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1,
           &operands.workspace);
  pack.Finalize();
  if (!status.ok()) return status;
  return CudnnStatus(
      Cudnn::Get()->cudnnBackendExecute(handle, plan_.get(), pack.get()),
      "cudnnBackendExecute");
}

}  // namespace tensord::cuda
