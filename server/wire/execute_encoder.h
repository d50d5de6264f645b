#ifndef TENSORD_SERVER_WIRE_EXECUTE_ENCODER_H_
#define TENSORD_SERVER_WIRE_EXECUTE_ENCODER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "engine/exec/execution.h"
#include "engine/memory/buffer_pool.h"
#include "engine/profile/phase_profile.h"

namespace tensord {

// Encoding tensord.v1.ExecuteResponse by hand, so that the bytes of tensors are
// not copied: what is small goes into one string, and between its pieces lie
// the tensors' own buffers.
//
// Threading: one thread. Ownership: owns the buffers that it was given.
class ExecuteEncoder {
 public:
  // `text`'s next `header_bytes`, and then all of `data`.
  struct Part {
    size_t header_bytes = 0;
    PooledBuffer data;
  };

  struct Head {
    absl::string_view execution_id;
    absl::string_view device;
    absl::Span<const int64_t> phase_ns;  // by Phase
    absl::string_view trace;             // a serialized ExecutionTrace, or none
    bool is_replay = false;
  };

  // Begins a message, over what was there before.
  void Begin(const Head& head);
  // Begins another message that has outputs where ExecuteResponse has them;
  // `head` is what it has before.
  void BeginWith(absl::string_view head);
  // The next output; its buffer becomes a part.
  void AddOutput(absl::string_view name, HostValue value);
  // One that stays: a serialized TensorInfo.
  void AddHandle(absl::string_view name, absl::string_view info);

  // Bytes of the whole message so far.
  uint64_t size_bytes() const { return size_bytes_; }
  const std::string& text() const { return text_; }
  absl::InlinedVector<Part, 4>& parts() { return parts_; }

 private:
  void Clear();
  // The header bytes since the last part.
  void EndPart(PooledBuffer data);

  std::string text_;  // keeps its capacity
  size_t parted_bytes_ = 0;
  uint64_t size_bytes_ = 0;
  absl::InlinedVector<Part, 4> parts_;
};

}  // namespace tensord

#endif  // TENSORD_SERVER_WIRE_EXECUTE_ENCODER_H_
