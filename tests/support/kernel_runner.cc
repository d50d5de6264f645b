#include "tests/support/kernel_runner.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tensord {
namespace {

constexpr std::byte kFill{0xDD};
constexpr uint64_t kGuardBytes = 64;

// The node's facts in the form that kernels take; borrows the node.
class Site {
 public:
  explicit Site(const TestNode& node) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const TestTensor& input = node.inputs[i];
      dtypes_.push_back(input.dtype);
      const bool is_view = i < node.input_layouts.size();
      layouts_.push_back(is_view ? node.input_layouts[i]
                                 : Layout::Contiguous(input.shape));
      const bool is_known = i < node.is_constant.size() && node.is_constant[i];
      constants_.push_back(is_known ? input.bytes.data() : nullptr);
    }
    for (const TestNode::Output& output : node.outputs) {
      dtypes_.push_back(output.dtype);
      layouts_.push_back(Layout::Contiguous(output.shape));
    }
    site_ = std::make_unique<NodeSite>(
        NodeSite{node.op, dtypes_, static_cast<int>(node.inputs.size()),
                 layouts_, constants_, node.params, node.precision});
  }

  const NodeSite& operator*() const { return *site_; }
  absl::Span<const DType> dtypes() const { return dtypes_; }
  absl::Span<const Layout> layouts() const { return layouts_; }

 private:
  std::vector<DType> dtypes_;
  std::vector<Layout> layouts_;
  std::vector<const std::byte*> constants_;
  std::unique_ptr<NodeSite> site_;
};

// A storage that holds `bytes`, then a guard; and what must come back.
class Operand {
 public:
  static absl::StatusOr<Operand> Make(Device& device, Lane& lane,
                                      std::vector<std::byte> bytes,
                                      bool is_host_visible = false) {
    Operand operand;
    operand.size_bytes_ = bytes.size();
    operand.host_ = std::move(bytes);
    operand.host_.resize(operand.size_bytes_ + kGuardBytes, kFill);
    auto storage = is_host_visible
                       ? device.AllocateHostVisible(operand.host_.size())
                       : device.Allocate(operand.host_.size());
    if (!storage.ok()) return storage.status();
    operand.storage_ = *std::move(storage);
    absl::Status status = lane.CopyToDevice(operand.host_, operand.whole());
    if (!status.ok()) return status;
    return operand;
  }

  StorageView view() const { return {storage_.get(), 0, size_bytes_}; }

  // Enqueues the way back; the bytes are there when the lane is done.
  absl::Status Download(Lane& lane) {
    return lane.CopyToHost(whole(), absl::MakeSpan(host_));
  }
  bool is_guard_intact() const {
    return std::all_of(host_.begin() + size_bytes_, host_.end(),
                       [](std::byte b) { return b == kFill; });
  }
  const std::byte* bytes() const { return host_.data(); }
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  StorageView whole() const { return {storage_.get(), 0, host_.size()}; }

  uint64_t size_bytes_ = 0;
  std::vector<std::byte> host_;
  std::unique_ptr<Storage> storage_;
};

// Everything that one launch uses. It outlives the lane's work: Finish() waits.
class Launch {
 public:
  Launch(const KernelEntry& kernel, const TestNode& node, Device& device,
         Lane& lane, WorkerPool& workers)
      : kernel_(kernel),
        node_(node),
        device_(device),
        lane_(lane),
        workers_(workers),
        site_(node) {}

  ~Launch() { lane_.Drain(absl::InfiniteFuture()).IgnoreError(); }

  absl::Status Prepare() {
    if (kernel_.accepts != nullptr) {
      if (absl::Status s = kernel_.accepts(*site_); !s.ok()) return s;
    }
    if (kernel_.prepare != nullptr) {
      auto state = kernel_.prepare(*site_, device_);
      if (!state.ok()) return state.status();
      state_ = *std::move(state);
    }
    for (const TestTensor& input : node_.inputs) {
      if (absl::Status s = Add(inputs_, input.bytes, input.is_present());
          !s.ok()) {
        return s;
      }
    }
    for (const TestNode::Output& output : node_.outputs) {
      const uint64_t bytes =
          ByteSize(output.dtype, output.shape.element_count());
      if (absl::Status s = Add(outputs_, std::vector<std::byte>(bytes, kFill),
                               output.dtype != DType::kUndefined);
          !s.ok()) {
        return s;
      }
    }
    const uint64_t workspace_bytes = kernel_.workspace_bytes != nullptr
                                         ? kernel_.workspace_bytes(*site_)
                                         : 0;
    auto workspace = Operand::Make(
        device_, lane_, std::vector<std::byte>(workspace_bytes, kFill));
    if (!workspace.ok()) return workspace.status();
    workspace_ = *std::move(workspace);
    auto cells =
        Operand::Make(device_, lane_,
                      std::vector<std::byte>(
                          node_.extent_cell_count * sizeof(int64_t), kFill),
                      /*is_host_visible=*/true);
    if (!cells.ok()) return cells.status();
    extent_cells_ = *std::move(cells);
    return absl::OkStatus();
  }

  absl::Status Run() {
    LaunchContext context;
    context.lane = &lane_;
    context.workers = &workers_;
    if (workspace_.size_bytes() != 0) context.workspace = workspace_.view();
    if (node_.extent_cell_count != 0) {
      context.extent_cells = extent_cells_.view();
    }
    const std::vector<StorageView> inputs = Views(inputs_);
    const std::vector<StorageView> outputs = Views(outputs_);
    const KernelCall call{context,         inputs,       outputs,
                          site_.layouts(), node_.params, state_.get()};
    return kernel_.run(call);
  }

  absl::StatusOr<KernelResult> Finish() {
    std::vector<Operand*> operands = {&workspace_, &extent_cells_};
    for (auto* list : {&inputs_, &outputs_}) {
      for (Operand& operand : *list) operands.push_back(&operand);
    }
    for (Operand* operand : operands) {
      if (operand->view().storage == nullptr) continue;
      if (absl::Status s = operand->Download(lane_); !s.ok()) return s;
    }
    auto completion = lane_.RecordCompletion();
    if (!completion.ok()) return completion.status();
    if (absl::Status s = completion->WaitUntil(absl::InfiniteFuture());
        !s.ok()) {
      return s;
    }
    for (const Operand* operand : operands) {
      if (operand->view().storage == nullptr) continue;
      if (!operand->is_guard_intact()) {
        return absl::InternalError(
            absl::StrCat("kernel ", kernel_.name, " wrote past the end of ",
                         operand->size_bytes(), " bytes"));
      }
    }
    return Result();
  }

 private:
  absl::Status Add(std::vector<Operand>& list, std::vector<std::byte> bytes,
                   bool is_present) {
    if (!is_present) {
      list.emplace_back();
      return absl::OkStatus();
    }
    auto operand = Operand::Make(device_, lane_, std::move(bytes));
    if (operand.ok()) list.push_back(*std::move(operand));
    return operand.status();
  }

  static std::vector<StorageView> Views(const std::vector<Operand>& operands) {
    std::vector<StorageView> views;
    for (const Operand& operand : operands) views.push_back(operand.view());
    return views;
  }

  KernelResult Result() const {
    KernelResult result;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const Operand& output = outputs_[i];
      result.outputs.push_back(
          TestTensor{node_.outputs[i].dtype,
                     node_.outputs[i].shape,
                     {output.bytes(), output.bytes() + output.size_bytes()}});
    }
    const auto* cells = reinterpret_cast<const int64_t*>(extent_cells_.bytes());
    result.extents.assign(cells, cells + node_.extent_cell_count);
    return result;
  }

  const KernelEntry& kernel_;
  const TestNode& node_;
  Device& device_;
  Lane& lane_;
  WorkerPool& workers_;
  const Site site_;
  std::unique_ptr<KernelState> state_;
  std::vector<Operand> inputs_;
  std::vector<Operand> outputs_;
  Operand workspace_;
  Operand extent_cells_;
};

}  // namespace

absl::StatusOr<KernelResult> RunKernel(const KernelEntry& kernel,
                                       const TestNode& node, Device& device,
                                       Lane& lane, WorkerPool& workers) {
  Launch launch(kernel, node, device, lane, workers);
  if (absl::Status status = launch.Prepare(); !status.ok()) return status;
  if (absl::Status status = launch.Run(); !status.ok()) return status;
  return launch.Finish();
}

std::vector<const KernelEntry*> KernelsFor(const Backend& backend,
                                           const TestNode& node) {
  const Site site(node);
  const absl::Span<const DType> dtypes = site.dtypes();
  std::vector<const KernelEntry*> kernels;
  for (const KernelEntry& kernel : backend.kernels()) {
    if (kernel.op != node.op ||
        !kernel.dtypes.Matches(dtypes.first(node.inputs.size()),
                               dtypes.subspan(node.inputs.size()))) {
      continue;
    }
    if (KernelAccepts(kernel, *site).ok()) kernels.push_back(&kernel);
  }
  return kernels;
}

}  // namespace tensord
