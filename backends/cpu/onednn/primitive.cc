#include "backends/cpu/onednn/primitive.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/kernels/denormals.h"
#include "backends/cpu/onednn/split.h"
#include "backends/cpu/packed_store.h"

namespace tensord::onednn {

dnnl_memory_desc_t StridedDesc(absl::Span<const int64_t> dims,
                               absl::Span<const int64_t> strides,
                               dnnl_data_type_t dtype) {
  dnnl_memory_desc_t desc = {};
  // Fails for more dimensions than the library has, which no caller asks for;
  // what is made with the empty description then fails.
  dnnl_memory_desc_init_by_strides(&desc, static_cast<int>(dims.size()),
                                   dims.data(), dtype, strides.data());
  return desc;
}

dnnl_memory_desc_t DenseDesc(absl::Span<const int64_t> dims,
                             dnnl_data_type_t dtype) {
  dnnl_memory_desc_t desc = {};
  dnnl_memory_desc_init_by_strides(&desc, static_cast<int>(dims.size()),
                                   dims.data(), dtype, nullptr);
  return desc;
}

dnnl_memory_desc_t AnyDesc(absl::Span<const int64_t> dims,
                           dnnl_data_type_t dtype) {
  dnnl_memory_desc_t desc = {};
  dnnl_memory_desc_init_by_tag(&desc, static_cast<int>(dims.size()),
                               dims.data(), dtype, dnnl_format_tag_any);
  return desc;
}

Attributes::Attributes() {
  status_ = ToStatus(dnnl_primitive_attr_create(&attributes_),
                     "dnnl_primitive_attr_create");
  if (!status_.ok()) return;
  status_ = ToStatus(dnnl_primitive_attr_set_scratchpad_mode(
                         attributes_, dnnl_scratchpad_mode_user),
                     "dnnl_primitive_attr_set_scratchpad_mode");
}

Attributes::~Attributes() {
  if (attributes_ != nullptr) dnnl_primitive_attr_destroy(attributes_);
}

void Attributes::ScaleOutput(float scale) {
  if (!status_.ok()) return;
  status_ =
      ToStatus(dnnl_primitive_attr_set_output_scales(attributes_, 1, 0, &scale),
               "dnnl_primitive_attr_set_output_scales");
}

void Attributes::ScaleChannels(absl::Span<const float> scales) {
  constexpr int kByChannel = 1 << 1;
  if (!status_.ok()) return;
  status_ = ToStatus(dnnl_primitive_attr_set_output_scales(
                         attributes_, static_cast<int>(scales.size()),
                         kByChannel, scales.data()),
                     "dnnl_primitive_attr_set_output_scales");
}

void Attributes::SetZeroPoint(int argument, int32_t zero_point) {
  if (!status_.ok()) return;
  status_ = ToStatus(dnnl_primitive_attr_set_zero_points(attributes_, argument,
                                                         1, 0, &zero_point),
                     "dnnl_primitive_attr_set_zero_points");
}

void Attributes::SetZeroPointOfRun(int argument) {
  SetZeroPoint(argument, DNNL_RUNTIME_S32_VAL);
}

absl::StatusOr<PrimitiveDesc> PrimitiveDesc::Create(
    const_dnnl_op_desc_t operation, const Attributes& attributes) {
  absl::Status status = CheckUsable();
  if (!status.ok()) return status;
  if (!attributes.status().ok()) return attributes.status();
  UseThisThreadOnly();
  dnnl_primitive_desc_t desc = nullptr;
  status = ToStatus(dnnl_primitive_desc_create(
                        &desc, operation, attributes.get(), Engine(), nullptr),
                    "the operation");
  if (!status.ok()) return status;
  PrimitiveDesc result(desc);
  const std::string implementation = result.implementation();
  if (absl::StartsWith(implementation, "ref") ||
      absl::StrContains(implementation, ":ref")) {
    return absl::UnimplementedError(
        absl::StrCat("oneDNN has only its reference code, ", implementation));
  }
  return result;
}

absl::StatusOr<PrimitiveDesc> PrimitiveDesc::CreateReorder(
    const dnnl_memory_desc_t& from, const dnnl_memory_desc_t& to) {
  absl::Status status = CheckUsable();
  if (!status.ok()) return status;
  const Attributes attributes;
  if (!attributes.status().ok()) return attributes.status();
  UseThisThreadOnly();
  dnnl_primitive_desc_t desc = nullptr;
  status =
      ToStatus(dnnl_reorder_primitive_desc_create(&desc, &from, Engine(), &to,
                                                  Engine(), attributes.get()),
               "the reorder");
  if (!status.ok()) return status;
  return PrimitiveDesc(desc);
}

PrimitiveDesc::~PrimitiveDesc() {
  if (desc_ != nullptr) dnnl_primitive_desc_destroy(desc_);
}

const dnnl_memory_desc_t& PrimitiveDesc::operand(int argument) const {
  return *dnnl_primitive_desc_query_md(desc_, dnnl_query_exec_arg_md, argument);
}

uint64_t PrimitiveDesc::scratchpad_bytes() const {
  return dnnl_memory_desc_get_size(
      dnnl_primitive_desc_query_md(desc_, dnnl_query_scratchpad_md, 0));
}

std::string PrimitiveDesc::implementation() const {
  const char* name = nullptr;
  if (dnnl_primitive_desc_query(desc_, dnnl_query_impl_info_str, 0,
                                static_cast<void*>(&name)) != dnnl_success) {
    return "";
  }
  return name;
}

absl::StatusOr<std::unique_ptr<Primitive>> Primitive::Create(
    const PrimitiveDesc& desc, const Arguments& arguments) {
  UseThisThreadOnly();
  std::unique_ptr<Primitive> result(new Primitive);
  absl::Status status = ToStatus(
      dnnl_primitive_create(&result->primitive_, desc.get()), "a primitive");
  if (!status.ok()) return status;
  for (int argument : arguments) {
    const bool is_zero_point = (argument & DNNL_ARG_ATTR_ZERO_POINTS) != 0;
    result->arguments_.emplace_back(argument, is_zero_point
                                                  ? DenseDesc({1}, dnnl_s32)
                                                  : desc.operand(argument));
  }
  for (Slot& slot : result->slots()) {
    if (status = result->Fill(slot); !status.ok()) return status;
  }
  return result;
}

Primitive::~Primitive() {
  if (primitive_ != nullptr) dnnl_primitive_destroy(primitive_);
}

Primitive::Slot::~Slot() {
  for (dnnl_exec_arg_t& operand : operands) dnnl_memory_destroy(operand.memory);
}

size_t Primitive::SlotCount() {
  return std::min<size_t>(ProcessorCount() + 1, kSlots);
}

uint64_t Primitive::FootprintBytes(int argument_count) {
  // A memory object holds a description, and little else.
  return sizeof(Primitive) +
         SlotCount() * argument_count * (sizeof(dnnl_memory_desc_t) + 128);
}

absl::Status Primitive::Fill(Slot& slot) const {
  for (const auto& [argument, desc] : arguments_) {
    dnnl_memory_t memory = nullptr;
    absl::Status status =
        ToStatus(dnnl_memory_create(&memory, &desc, Engine(), DNNL_MEMORY_NONE),
                 "an operand");
    if (!status.ok()) return status;
    slot.operands.push_back({argument, memory});
  }
  return absl::OkStatus();
}

absl::Status Primitive::Run(absl::Span<void* const> addresses) const {
  for (Slot& slot : slots()) {
    if (slot.is_taken.load(std::memory_order_relaxed) ||
        slot.is_taken.exchange(true, std::memory_order_acquire)) {
      continue;
    }
    absl::Status status = RunIn(slot, addresses);
    slot.is_taken.store(false, std::memory_order_release);
    return status;
  }
  // More threads than slots: this one makes its own.
  Slot slot;
  if (absl::Status status = Fill(slot); !status.ok()) return status;
  return RunIn(slot, addresses);
}

absl::Status Primitive::RunIn(Slot& slot,
                              absl::Span<void* const> addresses) const {
  UseThisThreadOnly();
  const DenormalsAreZero denormals_are_zero;
  for (size_t i = 0; i < addresses.size(); ++i) {
    absl::Status status = ToStatus(
        dnnl_memory_set_data_handle(slot.operands[i].memory, addresses[i]),
        "dnnl_memory_set_data_handle");
    if (!status.ok()) return status;
  }
  return ToStatus(dnnl_primitive_execute(primitive_, Stream(),
                                         static_cast<int>(slot.operands.size()),
                                         slot.operands.data()),
                  "dnnl_primitive_execute");
}

absl::Status Reorder(const dnnl_memory_desc_t& from, const void* source,
                     const dnnl_memory_desc_t& to, void* destination) {
  absl::StatusOr<PrimitiveDesc> desc = PrimitiveDesc::CreateReorder(from, to);
  if (!desc.ok()) return desc.status();
  std::vector<std::byte> scratchpad(desc->scratchpad_bytes());
  auto primitive = Primitive::Create(
      *desc, {DNNL_ARG_FROM, DNNL_ARG_TO, DNNL_ARG_SCRATCHPAD});
  if (!primitive.ok()) return primitive.status();
  // Sources are only read.
  return (*primitive)
      ->Run({const_cast<void*>(source), destination, scratchpad.data()});
}

absl::StatusOr<std::shared_ptr<const Storage>> Pack(
    const Unpacked& operand, const dnnl_memory_desc_t& from,
    const dnnl_memory_desc_t& to, Device& device) {
  // Descriptions are plain numbers, zero where nothing is said.
  const auto text_of = [](const dnnl_memory_desc_t& desc) {
    return absl::string_view(reinterpret_cast<const char*>(&desc),
                             sizeof(desc));
  };
  return PackedStoreOf(device).Get(
      operand.content,
      absl::StrCat("oneDNN ", operand.change, " ", text_of(from), text_of(to)),
      dnnl_memory_desc_get_size(&to), [&](std::byte* packed) {
        return Reorder(from, operand.elements(), to, packed);
      });
}

}  // namespace tensord::onednn
