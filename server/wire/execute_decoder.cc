#include "server/wire/execute_decoder.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/api/dtype.h"
#include "backends/api/shape.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "server/errors/error_details.h"
#include "server/wire/tensor_check.h"

namespace tensord {
namespace {

constexpr absl::string_view kMessage = "tensord.v1.ExecuteRequest";

// Longer than any graph id, so that a wrong one is told as what it is.
constexpr size_t kMaxGraphIdBytes = 256;
constexpr size_t kMaxOptionsBytes = 64 << 10;
// Longer than any id, and any duration.
constexpr size_t kMaxTensorIdBytes = 256;
constexpr size_t kMaxDurationBytes = 64;
// Names may be longer than the limit here, to be refused with both numbers.
constexpr size_t kNameSlackBytes = 4096;

namespace request {
enum Field : uint32_t {
  kGraphId = 1,
  kOptions = 2,
  kOutputs = 3,
  kInputs = 15
};
}
namespace input {
enum Field : uint32_t {
  kName = 1,
  kDonate = 2,
  kTensorId = 3,
  kIsAbsent = 4,
  kSequence = 14,
  kTensor = 15
};
}
namespace output {
enum Field : uint32_t { kName = 1, kKeep = 2, kTimeToLive = 3, kReuse = 4 };
}
namespace tensor {
enum Field : uint32_t { kDType = 1, kDims = 2, kData = 15 };
}

absl::Status Malformed(const WireReader& reader) {
  return MalformedMessage(kMessage, reader.position());
}

bool Is(WireReader::Tag tag, uint32_t field, WireReader::WireType type) {
  return tag.field == field && tag.type == type;
}

absl::Status Twice(absl::string_view field) {
  return absl::InvalidArgumentError(
      absl::StrCat("ExecuteRequest: ", field, " occurs twice"));
}

bool ReadBool(WireReader& reader, bool& value) {
  uint64_t number;
  if (!reader.ReadVarint(number)) return false;
  value = number != 0;
  return true;
}

absl::Status AppendDim(uint64_t number, const ExecuteLimits& limits,
                       Dims& dims) {
  if (static_cast<int64_t>(dims.size()) >= limits.max_rank) {
    return LimitExceeded("a tensor", dims.size() + 1, "dims", "max_rank",
                         limits.max_rank);
  }
  dims.push_back(static_cast<int64_t>(number));
  return absl::OkStatus();
}

}  // namespace

absl::Status DecodeExecuteHead(WireReader reader, ExecuteHead& head) {
  head.graph_id.clear();
  head.options.reset();
  head.input_count = 0;
  head.output_count = 0;
  bool has_graph_id = false;
  while (!reader.AtEnd()) {
    WireReader::Tag tag;
    if (!reader.ReadTag(tag)) return Malformed(reader);
    if (Is(tag, request::kGraphId, WireReader::kLengthDelimited)) {
      if (std::exchange(has_graph_id, true)) return Twice("graph_id");
      if (!reader.ReadString(kMaxGraphIdBytes, head.graph_id)) {
        return Malformed(reader);
      }
      continue;
    }
    if (Is(tag, request::kOptions, WireReader::kLengthDelimited)) {
      if (head.options.has_value()) return Twice("options");
      if (!reader.ReadString(kMaxOptionsBytes, head.options.emplace())) {
        return Malformed(reader);
      }
      continue;
    }
    if (Is(tag, request::kOutputs, WireReader::kLengthDelimited)) {
      ++head.output_count;
    } else if (Is(tag, request::kInputs, WireReader::kLengthDelimited)) {
      ++head.input_count;
    }
    if (!reader.SkipValue(tag)) return Malformed(reader);
  }
  return absl::OkStatus();
}

absl::Status ExecuteBodyDecoder::Decode(
    WireReader reader,
    absl::FunctionRef<absl::Status(DecodedOutput&)> on_output,
    absl::FunctionRef<absl::Status(DecodedInput&)> on_input) {
  while (!reader.AtEnd()) {
    WireReader::Tag tag;
    if (!reader.ReadTag(tag)) return Malformed(reader);
    size_t outer_end;
    if (Is(tag, request::kInputs, WireReader::kLengthDelimited)) {
      if (!reader.Enter(outer_end)) return Malformed(reader);
      TENSORD_RETURN_IF_ERROR(DecodeInput(reader));
      reader.Leave(outer_end);
      TENSORD_RETURN_IF_ERROR(on_input(input_));
    } else if (Is(tag, request::kOutputs, WireReader::kLengthDelimited)) {
      if (!reader.Enter(outer_end)) return Malformed(reader);
      TENSORD_RETURN_IF_ERROR(DecodeOutput(reader));
      reader.Leave(outer_end);
      TENSORD_RETURN_IF_ERROR(on_output(output_));
    } else if (!reader.SkipValue(tag)) {
      return Malformed(reader);
    }
  }
  return absl::OkStatus();
}

absl::Status ExecuteBodyDecoder::DecodeInput(WireReader& reader) {
  input_.name.clear();
  input_.donate = false;
  input_.source = InputSource::kNone;
  input_.value = HostValue();
  while (!reader.AtEnd()) {
    WireReader::Tag tag;
    if (!reader.ReadTag(tag)) return Malformed(reader);
    if (Is(tag, input::kName, WireReader::kLengthDelimited)) {
      if (!reader.ReadString(limits_.max_name_bytes + kNameSlackBytes,
                             input_.name)) {
        return Malformed(reader);
      }
    } else if (Is(tag, input::kDonate, WireReader::kVarint)) {
      if (!ReadBool(reader, input_.donate)) return Malformed(reader);
    } else if (Is(tag, input::kTensor, WireReader::kLengthDelimited)) {
      if (input_.source != InputSource::kNone) return Twice("input's source");
      input_.source = InputSource::kTensor;
      size_t outer_end;
      if (!reader.Enter(outer_end)) return Malformed(reader);
      TENSORD_RETURN_IF_ERROR(DecodeTensor(reader));
      reader.Leave(outer_end);
    } else if (Is(tag, input::kTensorId, WireReader::kLengthDelimited)) {
      if (input_.source != InputSource::kNone) return Twice("input's source");
      input_.source = InputSource::kTensorId;
      if (!reader.ReadString(kMaxTensorIdBytes, input_.tensor_id)) {
        return Malformed(reader);
      }
    } else {
      InputSource source = InputSource::kNone;
      if (Is(tag, input::kIsAbsent, WireReader::kVarint)) {
        source = InputSource::kAbsent;
      } else if (Is(tag, input::kSequence, WireReader::kLengthDelimited)) {
        source = InputSource::kSequence;
      }
      if (source != InputSource::kNone) {
        if (input_.source != InputSource::kNone) return Twice("input's source");
        input_.source = source;
      }
      if (!reader.SkipValue(tag)) return Malformed(reader);
    }
  }
  if (input_.source == InputSource::kTensor) {
    return CheckTensorBytes(input_.name, input_.value);
  }
  return absl::OkStatus();
}

absl::Status ExecuteBodyDecoder::DecodeOutput(WireReader& reader) {
  output_.name.clear();
  output_.keep_on_device = false;
  output_.time_to_live.reset();
  output_.reuse_input.clear();
  while (!reader.AtEnd()) {
    WireReader::Tag tag;
    if (!reader.ReadTag(tag)) return Malformed(reader);
    if (Is(tag, output::kName, WireReader::kLengthDelimited)) {
      if (!reader.ReadString(limits_.max_name_bytes + kNameSlackBytes,
                             output_.name)) {
        return Malformed(reader);
      }
      continue;
    }
    if (Is(tag, output::kKeep, WireReader::kVarint)) {
      if (!ReadBool(reader, output_.keep_on_device)) return Malformed(reader);
      continue;
    }
    if (Is(tag, output::kTimeToLive, WireReader::kLengthDelimited)) {
      if (!reader.ReadString(kMaxDurationBytes,
                             output_.time_to_live.emplace())) {
        return Malformed(reader);
      }
      continue;
    }
    if (Is(tag, output::kReuse, WireReader::kLengthDelimited)) {
      if (!reader.ReadString(limits_.max_name_bytes + kNameSlackBytes,
                             output_.reuse_input)) {
        return Malformed(reader);
      }
      continue;
    }
    if (!reader.SkipValue(tag)) return Malformed(reader);
  }
  return absl::OkStatus();
}

absl::Status ExecuteBodyDecoder::DecodeTensor(WireReader& reader) {
  bool has_dtype = false, has_data = false;
  uint64_t dtype_number = 0;
  Dims dims;
  while (!reader.AtEnd()) {
    WireReader::Tag tag;
    if (!reader.ReadTag(tag)) return Malformed(reader);
    if (Is(tag, tensor::kDType, WireReader::kVarint)) {
      if (std::exchange(has_dtype, true)) return Twice("a tensor's dtype");
      if (!reader.ReadVarint(dtype_number)) return Malformed(reader);
    } else if (Is(tag, tensor::kDims, WireReader::kLengthDelimited)) {
      size_t outer_end;
      if (!reader.Enter(outer_end)) return Malformed(reader);
      while (!reader.AtEnd()) {
        uint64_t extent;
        if (!reader.ReadVarint(extent)) return Malformed(reader);
        TENSORD_RETURN_IF_ERROR(AppendDim(extent, limits_, dims));
      }
      reader.Leave(outer_end);
    } else if (Is(tag, tensor::kDims, WireReader::kVarint)) {
      uint64_t extent;
      if (!reader.ReadVarint(extent)) return Malformed(reader);
      TENSORD_RETURN_IF_ERROR(AppendDim(extent, limits_, dims));
    } else if (Is(tag, tensor::kData, WireReader::kLengthDelimited)) {
      if (std::exchange(has_data, true)) return Twice("a tensor's data");
      size_t size;
      if (!reader.ReadLength(size)) return Malformed(reader);
      absl::StatusOr<PooledBuffer> bytes = pool_.Allocate(size);
      if (!bytes.ok()) return bytes.status();
      if (!reader.CopyTo(bytes->data(), size)) return Malformed(reader);
      stats_.tensor_bytes_copied += size;
      input_.value.bytes = *std::move(bytes);
    } else if (!reader.SkipValue(tag)) {
      return Malformed(reader);
    }
  }
  absl::StatusOr<DType> dtype = CheckedDType(input_.name, dtype_number);
  if (!dtype.ok()) return dtype.status();
  input_.value.dtype = *dtype;
  absl::StatusOr<Shape> shape =
      CheckedShape(input_.name, dims, limits_.max_elements);
  if (!shape.ok()) return shape.status();
  input_.value.shape = *std::move(shape);
  return absl::OkStatus();
}

}  // namespace tensord
