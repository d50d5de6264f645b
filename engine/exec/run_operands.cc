#include "engine/exec/run_operands.h"

#include <cstring>
#include <utility>

namespace tensord {
namespace {

StorageView Sized(StorageView view, uint64_t size_bytes) {
  view.size_bytes = size_bytes;
  return view;
}

absl::Span<std::byte> BytesOf(StorageView view) {
  return absl::MakeSpan(view.address(), view.size_bytes);
}

}  // namespace

absl::Status RunOperands::Reserve() {
  if (absl::Status s =
          slot_.Reserve(graph_.arena_bytes, graph_.extent_cell_count);
      !s.ok()) {
    return s;
  }
  return graph_.host_step_count > 0 ? slot_.ReserveHost(graph_.host_arena_bytes)
                                    : absl::OkStatus();
}

absl::Status RunOperands::Bind(
    absl::Span<const absl::Span<const std::byte>> inputs,
    absl::InlinedVector<HostValue, 4>& outputs, BufferPool& buffers) {
  if (absl::Status s = Reserve(); !s.ok()) return s;
  LaneSlot::Scratch& scratch = slot_.scratch();
  scratch.borrowed.Clear();
  scratch.inputs.clear();
  scratch.outputs.clear();
  scratch.host_inputs.clear();
  scratch.host_outputs.clear();
  const DeviceId device = slot_.device().info().id;
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    const uint64_t size = graph_.inputs[i].size_bytes;
    const StorageView given{scratch.borrowed.Add(device, inputs[i]), 0, size};
    scratch.host_inputs.push_back(given);
    scratch.inputs.push_back(given);
    if (!has_two_memories()) continue;
    const uint64_t offset = graph_.input_offsets[i];
    if (offset == CompiledGraph::kNotOnDevice) continue;
    scratch.inputs.back() = {slot_.arena(), offset, size};
    if (absl::Status s = Upload(given, scratch.inputs.back()); !s.ok()) {
      return s;
    }
  }
  outputs.clear();
  for (size_t i = 0; i < graph_.outputs.size(); ++i) {
    const Port& port = graph_.outputs[i];
    absl::StatusOr<PooledBuffer> bytes = buffers.Allocate(port.size_bytes);
    if (!bytes.ok()) return bytes.status();
    outputs.push_back({port.dtype, port.shape, *std::move(bytes)});
    const StorageView wanted{
        scratch.borrowed.Add(device, outputs.back().bytes.bytes()), 0,
        port.size_bytes};
    scratch.host_outputs.push_back(wanted);
    scratch.outputs.push_back(has_two_memories()
                                  ? StorageView{slot_.arena(),
                                                graph_.output_offsets[i],
                                                port.size_bytes}
                                  : wanted);
  }
  return absl::OkStatus();
}

StorageView RunOperands::View(const Operand& operand) const {
  const LaneSlot::Scratch& scratch = slot_.scratch();
  const bool on_host = operand.is_on_host;
  switch (operand.place) {
    case Operand::Place::kAbsent:
      return {};
    case Operand::Place::kInput:
      return Sized(
          (on_host ? scratch.host_inputs : scratch.inputs)[operand.index],
          operand.size_bytes);
    case Operand::Place::kOutput:
      return Sized(
          (on_host ? scratch.host_outputs : scratch.outputs)[operand.index],
          operand.size_bytes);
    case Operand::Place::kArena:
      return {on_host ? slot_.host_arena() : slot_.arena(),
              operand.offset_bytes, operand.size_bytes};
    case Operand::Place::kWeight:
      return {(on_host ? graph_.host_weights : graph_.weights)[operand.index]
                  ->storage.get(),
              0, operand.size_bytes};
  }
  return {};
}

absl::Status RunOperands::Copy(const Transfer& transfer) {
  const StorageView source = View(transfer.source);
  const StorageView target = View(transfer.target);
  return transfer.source.is_on_host ? Upload(source, target)
                                    : Download(source, target);
}

absl::Status RunOperands::Upload(StorageView source, StorageView target) {
  slot_.CountUpload(source.size_bytes);
  return slot_.lane().CopyToDevice(BytesOf(source), target);
}

absl::Status RunOperands::Download(StorageView source, StorageView target) {
  slot_.CountDownload(source.size_bytes);
  return slot_.lane().CopyToHost(source, BytesOf(target));
}

absl::Status RunOperands::Download() {
  const LaneSlot::Scratch& scratch = slot_.scratch();
  for (size_t i = 0; i < graph_.output_offsets.size(); ++i) {
    if (graph_.output_offsets[i] == CompiledGraph::kNotOnDevice) continue;
    if (absl::Status s = Download(scratch.outputs[i], scratch.host_outputs[i]);
        !s.ok()) {
      return s;
    }
  }
  return absl::OkStatus();
}

absl::Status RunOperands::CopyOutputs() {
  const LaneSlot::Scratch& scratch = slot_.scratch();
  for (const OutputCopy& copy : graph_.output_copies) {
    const StorageView source = View(copy.source);
    if (!has_two_memories()) {
      if (absl::Status s =
              slot_.lane().Copy(source, scratch.outputs[copy.output_index]);
          !s.ok()) {
        return s;
      }
    } else if (source.size_bytes > 0) {
      std::memcpy(scratch.host_outputs[copy.output_index].address(),
                  source.address(), source.size_bytes);
    }
  }
  return absl::OkStatus();
}

}  // namespace tensord
