#ifndef TENSORD_SERVER_WIRE_EXECUTE_DECODER_H_
#define TENSORD_SERVER_WIRE_EXECUTE_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "engine/exec/execution.h"
#include "engine/memory/buffer_pool.h"
#include "server/wire/wire_reader.h"

namespace tensord {

// Decoding tensord.v1.ExecuteRequest by hand, so that the bytes of tensors are
// copied once: from where gRPC received them into pooled, aligned buffers.
//
// It is done in two walks. The first finds what is small; the graph is then
// known, and with it how many inputs there may be, so that the second cannot be
// made to allocate more than the message has bytes.
//
// Threading: pure but for the pool. Ownership: borrows the message.
// Errors: kInvalidArgument, MALFORMED_MESSAGE, for bytes that are no such
//   message; see each function for others.

// What the first walk finds.
struct ExecuteHead {
  std::string graph_id;
  std::optional<std::string> options;  // a serialized ExecuteOptions
  size_t input_count = 0;
  size_t output_count = 0;
};

// Reuses the strings of `head`. kInvalidArgument for graph_id or options that
// occur twice or are longer than any that is right.
absl::Status DecodeExecuteHead(WireReader reader, ExecuteHead& head);

// How an input is given. kNone: its source is missing.
enum class InputSource : uint8_t {
  kNone,
  kTensorId,
  kAbsent,
  kSequence,
  kTensor
};

struct DecodedInput {
  std::string name;
  bool donate = false;
  InputSource source = InputSource::kNone;
  std::string tensor_id;  // with kTensorId
  HostValue value;        // with kTensor
};

struct DecodedOutput {
  std::string name;
  bool keep_on_device = false;
  std::optional<std::string> time_to_live;  // a serialized Duration
  std::string reuse_input;
};

struct ExecuteLimits {
  int64_t max_rank = 16;
  int64_t max_elements = int64_t{1} << 31;
  int64_t max_name_bytes = 512;
};

// Where the bytes of tensors went; for the proof that they are copied once.
struct DecodeStats {
  uint64_t tensor_bytes_copied = 0;
};

class ExecuteBodyDecoder {
 public:
  ExecuteBodyDecoder(const ExecuteLimits& limits, BufferPool& pool)
      : limits_(limits), pool_(pool) {}

  // The second walk: every output and every input, in the order of the bytes.
  // The callbacks may move from what they get; their first error ends the walk.
  // kInvalidArgument for a tensor whose bytes do not fit its dtype and shape
  // (InvalidTensor) and for a dtype or data that occurs twice;
  // kResourceExhausted for a limit or without memory; kUnimplemented for
  // strings.
  absl::Status Decode(WireReader reader,
                      absl::FunctionRef<absl::Status(DecodedOutput&)> on_output,
                      absl::FunctionRef<absl::Status(DecodedInput&)> on_input);

  const DecodeStats& stats() const { return stats_; }

 private:
  absl::Status DecodeInput(WireReader& reader);
  absl::Status DecodeOutput(WireReader& reader);
  absl::Status DecodeTensor(WireReader& reader);

  const ExecuteLimits limits_;
  BufferPool& pool_;
  DecodeStats stats_;
  // Used again for each, so that names keep their capacity.
  DecodedInput input_;
  DecodedOutput output_;
};

}  // namespace tensord

#endif  // TENSORD_SERVER_WIRE_EXECUTE_DECODER_H_
