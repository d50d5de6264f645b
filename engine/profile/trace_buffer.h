#ifndef TENSORD_ENGINE_PROFILE_TRACE_BUFFER_H_
#define TENSORD_ENGINE_PROFILE_TRACE_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tensord::op_profile {

// One launch of a traced execution.
struct TraceRow {
  uint32_t node_index;  // as the launch's LaunchSite had it
  uint32_t slot;        // OpProfile::Describe() says what it stands for
  uint64_t start_ns;    // since the execution began
  uint64_t host_ns;     // its own: launches nested in it are not counted in it
};

// The launches of one execution, in the order in which they began. Bounded: a
// launch past the capacity is counted and not kept, so a client cannot make it
// grow by asking for the trace of a loop.
//
// Threading: written by the thread that runs the execution; read after it.
// Ownership: the caller's; it outlives the ExecutionScope that fills it.
class TraceBuffer {
 public:
  static constexpr uint32_t kNoRow = UINT32_MAX;

  // Allocates everything that it will ever need.
  explicit TraceBuffer(size_t capacity) : capacity_(capacity) {
    rows_.reserve(capacity);
  }

  const std::vector<TraceRow>& rows() const { return rows_; }
  uint64_t dropped_count() const { return dropped_count_; }

  // For Shard: empties the buffer; begins a row (kNoRow when it is full); ends
  // it.
  void Clear() {
    rows_.clear();
    dropped_count_ = 0;
  }
  uint32_t BeginRow(uint32_t node_index, uint32_t slot, uint64_t start_ns) {
    if (rows_.size() >= capacity_) {
      ++dropped_count_;
      return kNoRow;
    }
    rows_.push_back({node_index, slot, start_ns, 0});
    return static_cast<uint32_t>(rows_.size() - 1);
  }
  void EndRow(uint32_t row, uint64_t host_ns) {
    if (row != kNoRow) rows_[row].host_ns = host_ns;
  }

 private:
  const size_t capacity_;
  std::vector<TraceRow> rows_;
  uint64_t dropped_count_ = 0;
};

}  // namespace tensord::op_profile

#endif  // TENSORD_ENGINE_PROFILE_TRACE_BUFFER_H_
