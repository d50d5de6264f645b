// Bytes as a tensord.v1.ExecuteRequest: the first byte says how they are cut
// into slices, the rest is the message.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "engine/memory/buffer_pool.h"
#include "server/wire/execute_decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tensord::BufferPool& pool = *new tensord::BufferPool(1 << 20);
  if (size == 0) return 0;
  const size_t piece = data[0] == 0 ? size : data[0];
  absl::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  std::vector<absl::string_view> segments;
  while (!bytes.empty()) {
    segments.push_back(bytes.substr(0, piece));
    bytes.remove_prefix(segments.back().size());
  }
  const tensord::WireReader reader(segments);
  tensord::ExecuteHead head;
  if (!tensord::DecodeExecuteHead(reader, head).ok()) return 0;
  tensord::ExecuteBodyDecoder decoder(tensord::ExecuteLimits(), pool);
  size_t inputs = 0, outputs = 0;
  const absl::Status status = decoder.Decode(
      reader,
      [&](tensord::DecodedOutput&) {
        ++outputs;
        return absl::OkStatus();
      },
      [&](tensord::DecodedInput&) {
        ++inputs;
        return absl::OkStatus();
      });
  // The first walk's counts bound the second's work.
  if (status.ok() && (inputs != head.input_count ||
                      outputs != head.output_count)) {
    __builtin_trap();
  }
  return 0;
}
