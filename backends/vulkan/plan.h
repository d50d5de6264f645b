#ifndef TENSORD_BACKENDS_VULKAN_PLAN_H_
#define TENSORD_BACKENDS_VULKAN_PLAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/api/kernel.h"
#include "backends/vulkan/memory_blocks.h"
#include "backends/vulkan/pipelines.h"
#include "backends/vulkan/shader_code.h"

namespace tensord::vulkan {

class VulkanDevice;

// What a kernel's argument points at: an operand of the call, and a place in
// it.
struct Operand {
  enum class Kind : uint8_t { kAbsent, kInput, kOutput, kWorkspace, kTable };
  enum class Access : uint8_t { kRead, kWrite, kReadWrite };

  Kind kind = Kind::kAbsent;
  uint8_t index = 0;
  Access access = Access::kRead;
  int64_t offset_bytes = 0;
};

// Everything about a node's launches but the addresses of its operands, decided
// ahead of the runs: which shaders, with which constants, arguments and grids,
// and tables that do not fit into push constants.
//
// A kernel is a function that fills a plan for a node (PlanFunction); what it
// refuses, the kernel does not accept. A shader's push constants are the
// addresses of `operands`, 8 bytes each, then `arguments`.
//
// Threading: filled by one thread, then immutable. Ownership: the compiled
//   node's; its tables are in memory of the device's.
class Plan final : public KernelState {
 public:
  struct Launch {
    const ShaderCode* shader = nullptr;
    ShaderConstants constants;
    std::array<uint32_t, 3> groups = {0, 1, 1};  // none is launched of 0
    absl::InlinedVector<Operand, 12> operands;
    absl::InlinedVector<std::byte, Pipelines::kPushConstantBytes> arguments;
  };

  explicit Plan(const NodeSite& site) : site_(&site) {}
  ~Plan() override;

  // Operands of the node, at their layouts' first elements.
  Operand In(int i) const;
  Operand Out(int i) const;
  // Scratch memory of the call from `offset_bytes` on; the plan asks for enough
  // by needing it.
  Operand Workspace(uint64_t offset_bytes, Operand::Access access) const;
  void NeedWorkspace(uint64_t size_bytes) { workspace_bytes_ = size_bytes; }

  // Constant bytes that kernels read, 16-byte aligned.
  Operand Table(absl::Span<const std::byte> bytes);
  template <typename T>
  Operand Table(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return Table(absl::MakeConstSpan(reinterpret_cast<const std::byte*>(&value),
                                     sizeof(T)));
  }

  template <typename Arguments>
  void Add(const ShaderCode& shader, ShaderConstants constants,
           std::array<uint32_t, 3> groups,
           std::initializer_list<Operand> operands,
           const Arguments& arguments) {
    static_assert(std::is_trivially_copyable_v<Arguments>);
    Launch launch{&shader, std::move(constants), groups, operands, {}};
    if constexpr (!std::is_empty_v<Arguments>) {
      const auto* bytes = reinterpret_cast<const std::byte*>(&arguments);
      launch.arguments.assign(bytes, bytes + sizeof(Arguments));
    }
    launches_.push_back(std::move(launch));
  }

  // Says that no launch reads or writes what another one writes, so that they
  // may run at once.
  void LaunchesAreIndependent() { is_independent_ = true; }

  uint64_t workspace_bytes() const { return workspace_bytes_; }
  uint64_t footprint_bytes() const override;

  // Makes pipelines and tables. The site may go then.
  absl::Status Realise(VulkanDevice& device);

  // Enqueues the launches on the call's lane.
  absl::Status Run(const KernelCall& call) const;

 private:
  static const StorageView* ViewOf(const KernelCall& call,
                                   const Operand& operand);
  uint64_t AddressOf(const KernelCall& call, const Operand& operand) const;

  const NodeSite* site_;  // null once realised
  std::vector<Launch> launches_;
  std::vector<VkPipeline> pipelines_;  // by launch
  std::vector<std::byte> tables_;
  MemoryRange table_range_;
  MemoryBlocks* blocks_ = nullptr;  // table_range_'s
  uint64_t workspace_bytes_ = 0;
  bool is_independent_ = false;
};

// Fills the plan, or says why the kernel does not take the node
// (kUnimplemented, kFailedPrecondition). Shapes are known.
using PlanFunction = absl::Status(const NodeSite& site, Plan& plan);

// KernelEntry's functions of a kernel that is a PlanFunction.
absl::Status AcceptsByPlan(const NodeSite& site, PlanFunction* make);
uint64_t WorkspaceByPlan(const NodeSite& site, PlanFunction* make);
absl::StatusOr<std::unique_ptr<KernelState>> PrepareByPlan(const NodeSite& site,
                                                           Device& device,
                                                           PlanFunction* make);
absl::Status RunPlan(const KernelCall& call);

}  // namespace tensord::vulkan

#endif  // TENSORD_BACKENDS_VULKAN_PLAN_H_
