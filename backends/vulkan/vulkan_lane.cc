#include "backends/vulkan/vulkan_lane.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "backends/api/copy_check.h"

namespace tensord::vulkan {
namespace {

constexpr uint64_t kStagingBytes = uint64_t{8} << 20;

// A batch is submitted with so many commands, whoever waits: a hundred kernels
// of the longest kind stay far from the seconds after which drivers give up.
constexpr int kMostCommands = 256;
// And with so many where the device has nothing to do.
constexpr int kFirstCommands = 32;

constexpr VkPipelineStageFlags kStages =
    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags kWrites =
    VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
constexpr VkAccessFlags kReads =
    VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;

ByteRange RangeOfView(const StorageView& view) {
  const uint64_t begin = DeviceAddress(view);
  return {begin, begin + view.size_bytes};
}

void Barrier(const VulkanApi& api, VkCommandBuffer buffer,
             VkPipelineStageFlags to_stages, VkAccessFlags to) {
  const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                   .srcAccessMask = kWrites,
                                   .dstAccessMask = to};
  api.CmdPipelineBarrier(buffer, kStages, to_stages, 0, 1, &barrier, 0, nullptr,
                         0, nullptr);
}

}  // namespace

VulkanProgram::~VulkanProgram() {
  if (commands == nullptr) return;
  device_.api().FreeCommandBuffers(device_.handle(), pool_, 1, &commands);
}

absl::StatusOr<std::unique_ptr<VulkanLane>> VulkanLane::Create(
    VulkanDevice& device) {
  const VkCommandPoolCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
      .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
      .queueFamilyIndex = device.gpu().queue_family};
  VkCommandPool pool = VK_NULL_HANDLE;
  absl::Status status = device.fault().Check(
      device.api().CreateCommandPool(device.handle(), &info, nullptr, &pool),
      "vkCreateCommandPool");
  if (!status.ok()) return status;
  return absl::WrapUnique(new VulkanLane(device, pool));
}

VulkanLane::VulkanLane(VulkanDevice& device, VkCommandPool pool)
    : Lane(device.info().id, /*is_synchronous=*/false),
      device_(device),
      api_(device.api()),
      pool_(pool),
      queue_(device.queue()),
      fault_(device.fault()) {}

VulkanLane::~VulkanLane() {
  if (recording_ != nullptr) EndRecording().status().IgnoreError();
  Drain(absl::InfiniteFuture()).IgnoreError();
  // A fault ends every batch too, and nothing runs on the device then.
  queue_.AwaitEnd(batches_, 0, absl::InfiniteFuture());
  for (VkQueryPool pool : mark_pools_) {
    api_.DestroyQueryPool(device_.handle(), pool, nullptr);
  }
  api_.DestroyCommandPool(device_.handle(), pool_, nullptr);
}

absl::Status VulkanLane::CheckUsable() const { return fault_.status(); }

absl::Status VulkanLane::CheckNotRecording(const char* call) {
  if (recording_ == nullptr) return absl::OkStatus();
  absl::Status status = absl::InternalError(absl::StrCat(
      "device ", device().ToString(), ": ", call, " while a lane records"));
  recording_error_.Update(status);
  return status;
}

absl::StatusOr<VkCommandBuffer> VulkanLane::BeginCommands(
    VkCommandBufferUsageFlags flags, VkCommandBuffer buffer) {
  absl::Status status;
  if (buffer == nullptr) {
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool_,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1};
    status = fault_.Check(
        api_.AllocateCommandBuffers(device_.handle(), &allocate, &buffer),
        "vkAllocateCommandBuffers");
    if (!status.ok()) return status;
  }
  const VkCommandBufferBeginInfo begin = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, .flags = flags};
  status = fault_.Check(api_.BeginCommandBuffer(buffer, &begin),
                        "vkBeginCommandBuffer");
  if (!status.ok()) return status;
  Barrier(api_, buffer, kStages, kReads | kWrites);
  if (device_.journal() != nullptr) device_.journal()->NoteBegin(buffer);
  return buffer;
}

absl::Status VulkanLane::EndCommands(VkCommandBuffer buffer) {
  Barrier(api_, buffer, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  return fault_.Check(api_.EndCommandBuffer(buffer), "vkEndCommandBuffer");
}

absl::StatusOr<VkCommandBuffer> VulkanLane::Commands() {
  if (recording_ != nullptr) return recording_->commands;
  if (open_ == nullptr) {
    const bool has_spare = own_used_ < current_.own.size();
    absl::StatusOr<VkCommandBuffer> begun =
        BeginCommands(VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
                      has_spare ? current_.own[own_used_] : nullptr);
    if (!begun.ok()) return begun.status();
    if (!has_spare) current_.own.push_back(*begun);
    ++own_used_;
    open_ = *begun;
    hazards_.Clear();
  }
  has_work_ = true;
  ++command_count_;
  return open_;
}

absl::Status VulkanLane::CloseCurrent() {
  if (open_ == nullptr) return absl::OkStatus();
  absl::Status status = EndCommands(open_);
  if (status.ok()) current_.commands.push_back(open_);
  open_ = nullptr;
  return status;
}

void VulkanLane::Order(VkCommandBuffer buffer,
                       absl::Span<const ByteRange> reads,
                       absl::Span<const ByteRange> writes) {
  HazardTracker& hazards = recording_ != nullptr ? recorded_hazards_ : hazards_;
  CommandJournal* const journal = device_.journal();
  if (hazards.Add(reads, writes)) {
    Barrier(api_, buffer, kStages, kReads | kWrites);
    if (journal != nullptr) journal->NoteBarrier(buffer);
  }
  if (journal != nullptr) journal->NoteCommand(buffer, reads, writes);
}

absl::Status VulkanLane::Enqueue(const Dispatch& dispatch) {
  if (absl::Status s = CheckUsable(); !s.ok()) return s;
  if (command_count_ >= kMostCommands ||
      (command_count_ == kFirstCommands && queue_.InFlight(batches_) == 0)) {
    if (absl::Status s = EndBatch(nullptr); !s.ok()) return s;
  }
  absl::StatusOr<VkCommandBuffer> commands = Commands();
  if (!commands.ok()) return commands.status();
  Order(*commands, dispatch.reads, dispatch.writes);
  api_.CmdBindPipeline(*commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                       dispatch.pipeline);
  api_.CmdPushConstants(*commands, device_.pipelines().layout(),
                        VK_SHADER_STAGE_COMPUTE_BIT, 0,
                        static_cast<uint32_t>(dispatch.arguments.size()),
                        dispatch.arguments.data());
  api_.CmdDispatch(*commands, dispatch.groups[0], dispatch.groups[1],
                   dispatch.groups[2]);
  return absl::OkStatus();
}

absl::Status VulkanLane::AwaitOldest() {
  if (has_work_) {
    if (absl::Status s = EndBatch(nullptr); !s.ok()) return s;
  }
  const uint64_t in_flight = queue_.InFlight(batches_);
  queue_.AwaitEnd(batches_, in_flight > 0 ? in_flight - 1 : 0,
                  absl::InfiniteFuture());
  return fault_.status();
}

absl::StatusOr<MappedRing::Piece> VulkanLane::TakeStaging(uint64_t size_bytes) {
  if (staging_ == nullptr) {
    auto ring =
        MappedRing::Create(device_.blocks(), kStagingBytes, MemoryKind::kHost);
    if (!ring.ok()) return ring.status();
    staging_ = *std::move(ring);
  }
  while (true) {
    const MappedRing::Piece piece =
        staging_->Take(size_bytes, batches_.staging_end());
    if (piece.host != nullptr) return piece;
    // All of it is on its way: the oldest part is waited for.
    if (absl::Status s = AwaitOldest(); !s.ok()) return s;
  }
}

absl::Status VulkanLane::CopyBuffers(VkBuffer from, uint64_t from_offset,
                                     VkBuffer to, uint64_t to_offset,
                                     uint64_t size_bytes,
                                     absl::Span<const ByteRange> reads,
                                     absl::Span<const ByteRange> writes) {
  absl::StatusOr<VkCommandBuffer> commands = Commands();
  if (!commands.ok()) return commands.status();
  Order(*commands, reads, writes);
  const VkBufferCopy region = {from_offset, to_offset, size_bytes};
  api_.CmdCopyBuffer(*commands, from, to, 1, &region);
  return absl::OkStatus();
}

absl::Status VulkanLane::CopyToDevice(absl::Span<const std::byte> source,
                                      StorageView destination) {
  absl::Status status = CheckHostCopy(device(), source.size(), destination);
  if (status.ok()) status = CheckUsable();
  if (status.ok()) status = CheckNotRecording("copy from the host");
  if (!status.ok() || source.empty()) return status;
  const MemoryRange& to = RangeOf(*destination.storage);
  uint64_t offset = destination.offset_bytes;
  while (!source.empty() && status.ok()) {
    auto piece = TakeStaging(source.size());
    if (!piece.ok()) return piece.status();
    std::memcpy(piece->host, source.data(), piece->size_bytes);
    const ByteRange written = {to.device_address + offset,
                               to.device_address + offset + piece->size_bytes};
    status = CopyBuffers(piece->buffer, piece->offset, to.buffer,
                         to.offset + offset, piece->size_bytes, {}, {written});
    source.remove_prefix(piece->size_bytes);
    offset += piece->size_bytes;
  }
  return status;
}

absl::Status VulkanLane::CopyToHost(StorageView source,
                                    absl::Span<std::byte> destination) {
  absl::Status status = CheckHostCopy(device(), destination.size(), source);
  if (status.ok()) status = CheckUsable();
  if (status.ok()) status = CheckNotRecording("copy to the host");
  if (!status.ok() || destination.empty()) return status;
  const MemoryRange& from = RangeOf(*source.storage);
  uint64_t offset = source.offset_bytes;
  while (!destination.empty() && status.ok()) {
    auto piece = TakeStaging(destination.size());
    if (!piece.ok()) return piece.status();
    const ByteRange read = {from.device_address + offset,
                            from.device_address + offset + piece->size_bytes};
    status = CopyBuffers(from.buffer, from.offset + offset, piece->buffer,
                         piece->offset, piece->size_bytes, {read}, {});
    if (status.ok()) {
      current_.copy_outs.push_back(
          {piece->host, destination.first(piece->size_bytes)});
    }
    destination.remove_prefix(piece->size_bytes);
    offset += piece->size_bytes;
  }
  return status;
}

absl::Status VulkanLane::Copy(StorageView source, StorageView destination) {
  absl::Status status = CheckDeviceCopy(device(), source, destination);
  if (status.ok()) status = CheckUsable();
  if (!status.ok() || source.size_bytes == 0) return status;
  const MemoryRange& from = RangeOf(*source.storage);
  const MemoryRange& to = RangeOf(*destination.storage);
  const ByteRange read = RangeOfView(source);
  const ByteRange written = RangeOfView(destination);
  if (read.begin == written.begin) return absl::OkStatus();
  return CopyBuffers(from.buffer, from.offset + source.offset_bytes, to.buffer,
                     to.offset + destination.offset_bytes, source.size_bytes,
                     {read}, {written});
}

absl::Status VulkanLane::EndBatch(std::shared_ptr<HostCompletion> completion) {
  if (absl::Status s = CloseCurrent(); !s.ok()) return s;
  current_.completion = std::move(completion);
  current_.staging_end = staging_ == nullptr ? 0 : staging_->end();
  if (absl::Status s = queue_.Submit(batches_, current_); !s.ok()) {
    current_.completion.reset();
    return s;
  }
  current_ = queue_.Spare(batches_);
  own_used_ = 0;
  command_count_ = 0;
  has_work_ = false;
  return absl::OkStatus();
}

absl::StatusOr<CompletionHandle> VulkanLane::RecordCompletion() {
  absl::Status status = CheckUsable();
  if (status.ok()) status = CheckNotRecording("completion");
  if (!status.ok()) return status;
  auto completion = std::make_shared<HostCompletion>();
  status = EndBatch(completion);
  if (!status.ok()) return status;
  return CompletionHandle::Pending(std::move(completion));
}

void VulkanLane::Retain(std::shared_ptr<const void> owner) {
  // On a lost device nothing is in flight that it would be kept for.
  if (fault_.is_lost()) return;
  current_.owners.push_back(std::move(owner));
  has_work_ = true;  // so that a batch comes that lets go of it
}

absl::Status VulkanLane::Drain(absl::Time deadline) {
  absl::Status status = CheckUsable();
  if (status.ok()) status = CheckNotRecording("drain");
  if (status.ok() && has_work_) status = EndBatch(nullptr);
  if (!status.ok()) return status;
  if (!queue_.AwaitEnd(batches_, 0, deadline)) {
    return absl::DeadlineExceededError(absl::StrCat(
        "a lane of device ", device().ToString(), " has ",
        queue_.InFlight(batches_), " submissions in flight at the deadline"));
  }
  return fault_.status();
}

absl::Status VulkanLane::BeginRecording() {
  absl::Status status = CheckUsable();
  if (status.ok()) status = CheckNotRecording("begin of a recording");
  if (!status.ok()) return status;
  auto program = std::make_unique<VulkanProgram>(device_, pool_);
  // It may be submitted again while it runs.
  absl::StatusOr<VkCommandBuffer> commands =
      BeginCommands(VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT, nullptr);
  if (!commands.ok()) return commands.status();
  program->commands = *commands;
  recording_ = std::move(program);
  recorded_hazards_.Clear();
  recording_error_ = absl::OkStatus();
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Program>> VulkanLane::EndRecording() {
  if (recording_ == nullptr) {
    return absl::InternalError(
        absl::StrCat("device ", device().ToString(), ": end of no recording"));
  }
  std::unique_ptr<VulkanProgram> program = std::move(recording_);
  absl::Status status = EndCommands(program->commands);
  if (!recording_error_.ok()) status = recording_error_;
  if (!status.ok()) return status;
  return program;
}

absl::Status VulkanLane::Submit(const Program& program) {
  absl::Status status = CheckUsable();
  if (status.ok()) status = CheckNotRecording("submission of a program");
  if (status.ok()) status = CloseCurrent();
  if (!status.ok()) return status;
  current_.commands.push_back(
      static_cast<const VulkanProgram&>(program).commands);
  has_work_ = true;
  return absl::OkStatus();
}

absl::Status VulkanLane::ReserveTimeMarks(int count) {
  absl::Status status = CheckUsable();
  const VkQueryPoolCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
      .queryType = VK_QUERY_TYPE_TIMESTAMP,
      .queryCount = kMarksAPool};
  while (status.ok() &&
         static_cast<int>(mark_pools_.size()) * kMarksAPool < count) {
    VkQueryPool pool = VK_NULL_HANDLE;
    status = fault_.Check(
        api_.CreateQueryPool(device_.handle(), &info, nullptr, &pool),
        "vkCreateQueryPool");
    if (status.ok()) mark_pools_.push_back(pool);
  }
  if (status.ok()) mark_count_ = std::max(mark_count_, count);
  ticks_.reserve(mark_count_);
  return status;
}

absl::Status VulkanLane::RecordTimeMark(int index) {
  if (absl::Status s = CheckUsable(); !s.ok()) return s;
  if (index < 0 || index >= mark_count_) {
    return absl::InternalError(absl::StrCat("device ", device().ToString(),
                                            ": time mark ", index, " of ",
                                            mark_count_));
  }
  absl::StatusOr<VkCommandBuffer> commands = Commands();
  if (!commands.ok()) return commands.status();
  VkQueryPool pool = mark_pools_[index / kMarksAPool];
  const uint32_t query = index % kMarksAPool;
  api_.CmdResetQueryPool(*commands, pool, query, 1);
  api_.CmdWriteTimestamp(*commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool,
                         query);
  return absl::OkStatus();
}

absl::Status VulkanLane::ReadTimeMarks(absl::Span<int64_t> nanoseconds) {
  if (absl::Status s = CheckUsable(); !s.ok()) return s;
  const int count = static_cast<int>(nanoseconds.size());
  if (count > mark_count_) {
    return absl::InternalError(absl::StrCat("device ", device().ToString(),
                                            ": ", count, " time marks of ",
                                            mark_count_));
  }
  ticks_.resize(count);
  for (int first = 0; first < count; first += kMarksAPool) {
    const int in_pool = std::min(count - first, kMarksAPool);
    const VkResult result = api_.GetQueryPoolResults(
        device_.handle(), mark_pools_[first / kMarksAPool], 0, in_pool,
        in_pool * sizeof(uint64_t), &ticks_[first], sizeof(uint64_t),
        VK_QUERY_RESULT_64_BIT);
    if (absl::Status s = fault_.Check(result, "vkGetQueryPoolResults");
        !s.ok()) {
      return s;
    }
    if (result == VK_NOT_READY) {
      return absl::InternalError(
          absl::StrCat("device ", device().ToString(),
                       ": a time mark is read before the lane has passed it"));
    }
  }
  const double period_ns = device_.gpu().limits.timestampPeriod;
  for (int i = 0; i < count; ++i) {
    nanoseconds[i] = std::llround(
        static_cast<double>(static_cast<int64_t>(ticks_[i] - ticks_[0])) *
        period_ns);
  }
  return absl::OkStatus();
}

}  // namespace tensord::vulkan
