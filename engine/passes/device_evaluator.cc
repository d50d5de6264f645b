#include "engine/passes/device_evaluator.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/api/launch_context.h"
#include "engine/graph/status_macros.h"

namespace tensord {
namespace {

double WorkOf(const KernelEntry& kernel, const NodeSite& site) {
  double elements = 0;
  for (const Layout& layout : site.layouts) {
    elements += static_cast<double>(layout.shape.element_count());
  }
  return kernel.cost == nullptr ? elements
                                : std::max(elements, kernel.cost(site).flops);
}

// What of a NodeSite borrows, for a node whose inputs are all known.
struct ConstantSite {
  std::vector<DType> dtypes;
  std::vector<Layout> layouts;
  std::vector<const std::byte*> host_constants;

  static absl::StatusOr<ConstantSite> Create(
      absl::Span<const HostTensor> inputs,
      absl::Span<const TensorType> output_types) {
    ConstantSite result;
    for (const HostTensor& input : inputs) {
      const bool is_present = input.is_present();
      result.dtypes.push_back(input.dtype());
      result.layouts.push_back(is_present ? Layout::Contiguous(input.shape())
                                          : Layout());
      result.host_constants.push_back(is_present ? input.bytes().data()
                                                 : nullptr);
    }
    for (const TensorType& type : output_types) {
      TENSORD_ASSIGN_OR_RETURN(Shape shape, ToConcrete(*type.shape));
      result.dtypes.push_back(type.dtype);
      result.layouts.push_back(Layout::Contiguous(std::move(shape)));
    }
    return result;
  }

  NodeSite SiteOf(const Node& node) const {
    return {.op = node.op,
            .dtypes = dtypes,
            .input_count = static_cast<int>(host_constants.size()),
            .layouts = layouts,
            .host_constants = host_constants,
            .params = node.params};
  }
};

// The bytes of workspace; takes the kernel's work off the budget.
// kResourceExhausted for what is too much before a run.
absl::StatusOr<uint64_t> Admit(const KernelEntry& kernel, const NodeSite& site,
                               EvaluationBudget& budget) {
  constexpr uint64_t kMost = DeviceEvaluator::kMaxWorkspaceBytes;
  const double work = WorkOf(kernel, site);
  if (work > budget.work) {
    return absl::ResourceExhaustedError(absl::StrCat(
        work, " operations; ", budget.work, " are left before the run"));
  }
  const uint64_t workspace_bytes =
      kernel.workspace_bytes == nullptr ? 0 : kernel.workspace_bytes(site);
  if (workspace_bytes > kMost) {
    return absl::ResourceExhaustedError(
        absl::StrCat(workspace_bytes, " bytes of workspace; before the run ",
                     kMost, " are the most"));
  }
  budget.work -= work;
  return workspace_bytes;
}

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceEvaluator>> DeviceEvaluator::Create(
    Device& device, absl::Span<const KernelEntry> kernels,
    WorkerPool* workers) {
  const DeviceInfo& info = device.info();
  if (!info.is_synchronous || !info.is_host_addressable) {
    return absl::FailedPreconditionError(
        absl::StrCat("device ", info.id.ToString(),
                     " cannot evaluate nodes for the host: it is not "
                     "synchronous with host-addressable memory"));
  }
  TENSORD_ASSIGN_OR_RETURN(std::unique_ptr<Lane> lane, device.CreateLane());
  return std::unique_ptr<DeviceEvaluator>(
      new DeviceEvaluator(device, kernels, workers, std::move(lane)));
}

absl::StatusOr<const KernelEntry*> DeviceEvaluator::FindKernel(
    const NodeSite& site) const {
  const absl::Span<const DType> inputs =
      site.dtypes.subspan(0, site.input_count);
  const absl::Span<const DType> outputs = site.dtypes.subspan(site.input_count);
  for (const KernelEntry& kernel : kernels_) {
    if (kernel.op != site.op || kernel.run == nullptr) continue;
    if (!kernel.dtypes.Matches(inputs, outputs)) continue;
    if (KernelAccepts(kernel, site).ok()) return &kernel;
  }
  return absl::UnimplementedError(
      absl::StrCat("no kernel of ", device_.info().id.ToString(), " takes the ",
                   OpKindName(site.op)));
}

absl::StatusOr<std::unique_ptr<Storage>> DeviceEvaluator::ToDevice(
    const HostTensor& tensor) {
  if (device_.info().imports_host_memory) {
    return device_.ImportHostMemory(tensor.bytes(), tensor.owner());
  }
  TENSORD_ASSIGN_OR_RETURN(std::unique_ptr<Storage> storage,
                           device_.Allocate(tensor.size_bytes()));
  TENSORD_RETURN_IF_ERROR(
      lane_->CopyToDevice(tensor.bytes(), WholeOf(*storage)));
  return storage;
}

absl::StatusOr<std::vector<HostTensor>> DeviceEvaluator::Evaluate(
    const Node& node, absl::Span<const HostTensor> inputs,
    absl::Span<const TensorType> output_types, EvaluationBudget& budget) {
  TENSORD_ASSIGN_OR_RETURN(const ConstantSite constants,
                           ConstantSite::Create(inputs, output_types));
  const NodeSite site = constants.SiteOf(node);
  TENSORD_ASSIGN_OR_RETURN(const KernelEntry* kernel, FindKernel(site));
  TENSORD_ASSIGN_OR_RETURN(const uint64_t workspace_bytes,
                           Admit(*kernel, site, budget));

  std::vector<std::unique_ptr<Storage>> storages;
  std::vector<StorageView> views;
  const auto add = [&](std::unique_ptr<Storage> storage) {
    views.push_back(WholeOf(*storage));
    storages.push_back(std::move(storage));
  };
  for (const HostTensor& input : inputs) {
    if (!input.is_present()) {
      views.emplace_back();
      continue;
    }
    TENSORD_ASSIGN_OR_RETURN(std::unique_ptr<Storage> storage, ToDevice(input));
    add(std::move(storage));
  }
  for (size_t i = inputs.size(); i < site.dtypes.size(); ++i) {
    TENSORD_ASSIGN_OR_RETURN(
        std::unique_ptr<Storage> storage,
        device_.Allocate(
            ByteSize(site.dtypes[i], site.layouts[i].shape.element_count())));
    add(std::move(storage));
  }
  TENSORD_RETURN_IF_ERROR(Run(*kernel, site, views, workspace_bytes));

  std::vector<HostTensor> outputs;
  for (size_t i = inputs.size(); i < site.dtypes.size(); ++i) {
    absl::Status copied;
    outputs.push_back(HostTensor::Make(site.dtypes[i], site.layouts[i].shape,
                                       [&](absl::Span<std::byte> bytes) {
                                         copied =
                                             lane_->CopyToHost(views[i], bytes);
                                       }));
    TENSORD_RETURN_IF_ERROR(copied);
  }
  return outputs;
}

absl::Status DeviceEvaluator::Run(const KernelEntry& kernel,
                                  const NodeSite& site,
                                  absl::Span<const StorageView> operands,
                                  uint64_t workspace_bytes) {
  LaunchContext context;
  context.lane = lane_.get();
  context.workers = workers_;
  std::unique_ptr<Storage> workspace;
  if (kernel.workspace_bytes != nullptr) {
    TENSORD_ASSIGN_OR_RETURN(workspace, device_.Allocate(workspace_bytes));
    context.workspace = WholeOf(*workspace);
  }
  std::unique_ptr<KernelState> state;
  if (kernel.prepare != nullptr) {
    TENSORD_ASSIGN_OR_RETURN(state, kernel.prepare(site, device_));
  }
  return kernel.run(KernelCall{.context = context,
                               .inputs = operands.subspan(0, site.input_count),
                               .outputs = operands.subspan(site.input_count),
                               .layouts = site.layouts,
                               .params = site.params,
                               .state = state.get()});
}

}  // namespace tensord
