#include "backends/vulkan/plan.h"

#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "backends/vulkan/vulkan_device.h"
#include "backends/vulkan/vulkan_lane.h"

namespace tensord::vulkan {
namespace {

constexpr size_t kTableAlignment = 16;

int64_t OffsetBytes(const Layout& layout, DType dtype) {
  return layout.offset * BitWidth(dtype) / 8;
}

// Kernels count elements in 32 bits.
absl::Status CheckExtents(const NodeSite& site) {
  for (const Layout& layout : site.layouts) {
    int64_t last = 0;
    for (int d = 0; d < layout.shape.rank(); ++d) {
      last += layout.strides[d] * (layout.shape[d] - 1);
    }
    const int64_t count = layout.shape.element_count();
    if (std::max(last, count) < std::numeric_limits<int32_t>::max()) continue;
    return absl::UnimplementedError(
        absl::StrCat("a tensor of ", count, " elements needs 64-bit indices"));
  }
  return absl::OkStatus();
}

}  // namespace

Plan::~Plan() {
  if (blocks_ != nullptr) blocks_->Free(table_range_);
}

Operand Plan::In(int i) const {
  if (!site_->has_input(i)) return {};
  return {Operand::Kind::kInput, static_cast<uint8_t>(i),
          Operand::Access::kRead,
          OffsetBytes(site_->input(i), site_->input_dtype(i))};
}

Operand Plan::Out(int i) const {
  const size_t number = site_->input_count + i;
  if (number >= site_->dtypes.size() ||
      site_->output_dtype(i) == DType::kUndefined) {
    return {};
  }
  return {Operand::Kind::kOutput, static_cast<uint8_t>(i),
          Operand::Access::kWrite,
          OffsetBytes(site_->output(i), site_->output_dtype(i))};
}

Operand Plan::Workspace(uint64_t offset_bytes, Operand::Access access) const {
  return {Operand::Kind::kWorkspace, 0, access,
          static_cast<int64_t>(offset_bytes)};
}

Operand Plan::Table(absl::Span<const std::byte> bytes) {
  const size_t at = (tables_.size() + kTableAlignment - 1) / kTableAlignment *
                    kTableAlignment;
  tables_.resize(at);
  tables_.insert(tables_.end(), bytes.begin(), bytes.end());
  return {Operand::Kind::kTable, 0, Operand::Access::kRead,
          static_cast<int64_t>(at)};
}

uint64_t Plan::footprint_bytes() const {
  return launches_.capacity() * sizeof(Launch) +
         pipelines_.capacity() * sizeof(VkPipeline);
}

absl::Status Plan::Realise(VulkanDevice& device) {
  site_ = nullptr;
  for (const Launch& launch : launches_) {
    const size_t bytes =
        launch.operands.size() * sizeof(uint64_t) + launch.arguments.size();
    if (bytes > Pipelines::kPushConstantBytes) {
      return absl::InternalError(absl::StrCat("shader ", launch.shader->name,
                                              " has ", bytes,
                                              " bytes of arguments"));
    }
    absl::StatusOr<VkPipeline> pipeline =
        device.pipelines().Get(*launch.shader, launch.constants);
    if (!pipeline.ok()) return pipeline.status();
    pipelines_.push_back(*pipeline);
  }
  if (tables_.empty()) return absl::OkStatus();
  absl::StatusOr<MemoryRange> range =
      device.blocks().Allocate(tables_.size(), MemoryKind::kArguments);
  if (!range.ok()) return range.status();
  table_range_ = *range;
  blocks_ = &device.blocks();
  std::memcpy(table_range_.host_address, tables_.data(), tables_.size());
  std::vector<std::byte>().swap(tables_);
  return absl::OkStatus();
}

const StorageView* Plan::ViewOf(const KernelCall& call,
                                const Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::kInput:
      return &call.inputs[operand.index];
    case Operand::Kind::kOutput:
      return &call.outputs[operand.index];
    case Operand::Kind::kWorkspace:
      return &call.context.workspace;
    default:
      return nullptr;
  }
}

uint64_t Plan::AddressOf(const KernelCall& call, const Operand& operand) const {
  if (operand.kind == Operand::Kind::kTable) {
    return table_range_.device_address + operand.offset_bytes;
  }
  const StorageView* view = ViewOf(call, operand);
  if (view == nullptr || !view->is_present()) return 0;
  return DeviceAddress(*view) + operand.offset_bytes;
}

absl::Status Plan::Run(const KernelCall& call) const {
  auto& lane = static_cast<VulkanLane&>(*call.context.lane);
  const auto note = [&call](const Launch& launch, Accesses& accesses) {
    for (const Operand& operand : launch.operands) {
      const StorageView* view = ViewOf(call, operand);
      if (view == nullptr || !view->is_present()) continue;
      const uint64_t begin = DeviceAddress(*view);
      const ByteRange range = {begin, begin + view->size_bytes};
      if (operand.access != Operand::Access::kWrite) {
        accesses.reads.push_back(range);
      }
      if (operand.access != Operand::Access::kRead) {
        accesses.writes.push_back(range);
      }
    }
  };
  // Of independent launches the first stands for all.
  Accesses& accesses = lane.EmptyAccesses();
  if (is_independent_) {
    for (const Launch& launch : launches_) note(launch, accesses);
  }
  for (size_t i = 0; i < launches_.size(); ++i) {
    const Launch& launch = launches_[i];
    if (launch.groups[0] == 0) continue;  // an empty tensor
    std::array<std::byte, Pipelines::kPushConstantBytes> arguments;
    size_t end = 0;
    for (const Operand& operand : launch.operands) {
      const uint64_t address = AddressOf(call, operand);
      std::memcpy(&arguments[end], &address, sizeof(address));
      end += sizeof(address);
    }
    std::memcpy(&arguments[end], launch.arguments.data(),
                launch.arguments.size());
    end += launch.arguments.size();
    if (!is_independent_) note(launch, lane.EmptyAccesses());
    const absl::Status status =
        lane.Enqueue({.pipeline = pipelines_[i],
                      .arguments = absl::MakeSpan(arguments.data(), end),
                      .groups = launch.groups,
                      .reads = accesses.reads,
                      .writes = accesses.writes});
    if (!status.ok()) return status;
    accesses.Clear();
  }
  return absl::OkStatus();
}

absl::Status AcceptsByPlan(const NodeSite& site, PlanFunction* make) {
  if (site.layouts.empty()) return absl::OkStatus();
  if (absl::Status s = CheckExtents(site); !s.ok()) return s;
  Plan plan(site);
  return make(site, plan);
}

uint64_t WorkspaceByPlan(const NodeSite& site, PlanFunction* make) {
  Plan plan(site);
  return make(site, plan).ok() ? plan.workspace_bytes() : 0;
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareByPlan(const NodeSite& site,
                                                           Device& device,
                                                           PlanFunction* make) {
  auto plan = std::make_unique<Plan>(site);
  absl::Status status = make(site, *plan);
  if (status.ok()) status = plan->Realise(static_cast<VulkanDevice&>(device));
  if (!status.ok()) return status;
  return plan;
}

absl::Status RunPlan(const KernelCall& call) {
  return static_cast<const Plan*>(call.state)->Run(call);
}

}  // namespace tensord::vulkan
