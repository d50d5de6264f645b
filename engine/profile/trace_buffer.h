#ifndef TENSORD_ENGINE_PROFILE_TRACE_BUFFER_H_
#define TENSORD_ENGINE_PROFILE_TRACE_BUFFER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tensord::op_profile {

// One launch of a traced execution.
struct TraceRow {
  uint32_t node_index = 0;  // as the launch's LaunchSite had it
  uint32_t slot = 0;        // OpProfile::Describe() says what it stands for
  uint64_t start_ns = 0;    // since the execution began
  uint64_t host_ns = 0;     // its own, without launches nested in it
  uint64_t bytes = 0;       // read and written
  int32_t segment_index = 0;
  // Since the execution began, and by the device's clock; -1: not measured.
  int64_t device_start_ns = -1;
  int64_t device_ns = -1;
  std::string node;  // its name, cut to kMaxNameBytes
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
  // A client's names are longer than anybody reads in a trace.
  static constexpr size_t kMaxNameBytes = 160;

  // Rows are allocated as they come, but for the first few: a client may ask
  // for many in each of the runs that wait.
  explicit TraceBuffer(size_t capacity, bool wants_device_times = false)
      : wants_device_times_(wants_device_times), capacity_(capacity) {
    rows_.reserve(std::min(capacity, kFirstRows));
  }

  // Whether the executor is to fill in the device's times.
  bool wants_device_times() const { return wants_device_times_; }

  const std::vector<TraceRow>& rows() const { return rows_; }
  uint64_t dropped_count() const { return dropped_count_; }
  // Of all rows and their names.
  uint64_t size_bytes() const {
    uint64_t bytes = rows_.capacity() * sizeof(TraceRow);
    for (const TraceRow& row : rows_) bytes += row.node.capacity();
    return bytes;
  }

  // Gives back the room that no row took.
  void Shrink() { rows_.shrink_to_fit(); }

  // For Shard: empties the buffer; begins a row (kNoRow when it is full); ends
  // it.
  void Clear() {
    rows_.clear();
    dropped_count_ = 0;
    segment_count_ = 0;
  }
  uint32_t BeginRow(uint32_t node_index, uint32_t slot, uint64_t start_ns,
                    uint64_t bytes = 0) {
    if (rows_.size() >= capacity_) {
      ++dropped_count_;
      return kNoRow;
    }
    TraceRow& row = rows_.emplace_back();
    row.node_index = node_index;
    row.slot = slot;
    row.start_ns = start_ns;
    row.bytes = bytes;
    row.segment_index = segment_count_ > 0 ? segment_count_ - 1 : 0;
    return static_cast<uint32_t>(rows_.size() - 1);
  }
  void EndRow(uint32_t row, uint64_t host_ns) {
    if (row != kNoRow) rows_[row].host_ns = host_ns;
  }

  // For the executor, which knows what a shard does not: the rows that come
  // belong to the next segment; what the node of row `row` is called; when its
  // device was at it. A row that was not kept is none of these functions'.
  void BeginSegment() { ++segment_count_; }
  void SetNode(size_t row, absl::string_view name) {
    if (row >= rows_.size()) return;
    const absl::string_view kept = name.substr(0, kMaxNameBytes);
    rows_[row].node.assign(kept.data(), kept.size());
  }
  void SetDeviceTimes(size_t row, int64_t start_ns, int64_t duration_ns) {
    if (row >= rows_.size()) return;
    rows_[row].device_start_ns = start_ns;
    rows_[row].device_ns = duration_ns;
  }

 private:
  static constexpr size_t kFirstRows = 256;

  const bool wants_device_times_;
  const size_t capacity_;
  std::vector<TraceRow> rows_;
  uint64_t dropped_count_ = 0;
  int32_t segment_count_ = 0;
};

}  // namespace tensord::op_profile

#endif  // TENSORD_ENGINE_PROFILE_TRACE_BUFFER_H_
