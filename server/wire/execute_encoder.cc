#include "server/wire/execute_encoder.h"

#include <utility>

#include "server/wire/wire_writer.h"

namespace tensord {
namespace {

namespace response {
enum Field : uint32_t {
  kExecutionId = 1,
  kDevice = 2,
  kIsReplay = 3,
  kTimings = 4,
  kTrace = 5,
  kBatchSize = 6,
  kOutputs = 15
};
}
namespace output {
enum Field : uint32_t { kName = 1, kHandle = 2, kTensor = 15 };
}
namespace tensor {
enum Field : uint32_t { kDType = 1, kDims = 2, kData = 15 };
}

// PhaseTimings has a field for each phase, in their order, from 1.
size_t TimingsSize(absl::Span<const int64_t> phase_ns) {
  size_t size = 0;
  for (int64_t ns : phase_ns) {
    if (ns != 0) size += 1 + WireWriter::VarintSize(ns);
  }
  return size;
}

size_t DimsSize(const Shape& shape) {
  size_t size = 0;
  for (int64_t extent : shape.extents()) size += WireWriter::VarintSize(extent);
  return size;
}

}  // namespace

void ExecuteEncoder::BeginWith(absl::string_view head) {
  Clear();
  text_.append(head.data(), head.size());
  EndPart(PooledBuffer());
}

void ExecuteEncoder::Clear() {
  text_.clear();
  parts_.clear();
  parted_bytes_ = 0;
  size_bytes_ = 0;
}

void ExecuteEncoder::Begin(const Head& head) {
  Clear();
  WireWriter out(text_);
  out.Bytes(response::kExecutionId, head.execution_id);
  out.Bytes(response::kDevice, head.device);
  out.Number(response::kIsReplay, head.is_replay ? 1 : 0);
  out.Begin(response::kTimings, TimingsSize(head.phase_ns));
  for (size_t i = 0; i < head.phase_ns.size(); ++i) {
    out.Number(static_cast<uint32_t>(i + 1), head.phase_ns[i]);
  }
  if (!head.trace.empty()) out.Bytes(response::kTrace, head.trace);
  out.Number(response::kBatchSize, 1);
  EndPart(PooledBuffer());
}

void ExecuteEncoder::AddOutput(absl::string_view name, HostValue value) {
  const size_t data_bytes = value.bytes.size();
  const size_t dims_bytes = DimsSize(value.shape);
  const auto dtype = static_cast<uint64_t>(value.dtype);
  size_t tensor_bytes = dtype == 0 ? 0 : 1 + WireWriter::VarintSize(dtype);
  if (dims_bytes > 0) {
    tensor_bytes += WireWriter::LengthDelimitedSize(tensor::kDims, dims_bytes);
  }
  if (data_bytes > 0) {
    tensor_bytes += WireWriter::LengthDelimitedSize(tensor::kData, data_bytes);
  }
  WireWriter out(text_);
  out.Begin(response::kOutputs,
            WireWriter::LengthDelimitedSize(output::kName, name.size()) +
                WireWriter::LengthDelimitedSize(output::kTensor, tensor_bytes));
  out.Bytes(output::kName, name);
  out.Begin(output::kTensor, tensor_bytes);
  out.Number(tensor::kDType, dtype);
  if (dims_bytes > 0) {
    out.Begin(tensor::kDims, dims_bytes);
    for (int64_t extent : value.shape.extents()) out.Varint(extent);
  }
  if (data_bytes > 0) out.Begin(tensor::kData, data_bytes);
  EndPart(std::move(value.bytes));
}

void ExecuteEncoder::AddHandle(absl::string_view name, absl::string_view info) {
  WireWriter out(text_);
  out.Begin(response::kOutputs,
            WireWriter::LengthDelimitedSize(output::kName, name.size()) +
                WireWriter::LengthDelimitedSize(output::kHandle, info.size()));
  out.Bytes(output::kName, name);
  out.Bytes(output::kHandle, info);
  EndPart(PooledBuffer());
}

void ExecuteEncoder::EndPart(PooledBuffer data) {
  const size_t header_bytes = text_.size() - parted_bytes_;
  parted_bytes_ = text_.size();
  size_bytes_ += header_bytes + data.size();
  // A part without data grows by the next one's header: fewer slices.
  if (!parts_.empty() && parts_.back().data.size() == 0) {
    parts_.back().header_bytes += header_bytes;
    parts_.back().data = std::move(data);
    return;
  }
  parts_.push_back({header_bytes, std::move(data)});
}

}  // namespace tensord
