#ifndef TENSORD_ENGINE_EXEC_LANE_PROGRAMS_H_
#define TENSORD_ENGINE_EXEC_LANE_PROGRAMS_H_

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/api/backend.h"
#include "engine/compiled/compiled_graph.h"
#include "engine/profile/program_counter.h"

namespace tensord {

// The programs that one lane has recorded, one for each stretch of steps of its
// device: what was launched step by step in the stretch's first run here is
// recorded in its second and submitted as a whole from then on.
//
// A program points into the lane's arena, at weights and at what kernels have
// prepared, and must die before all of these and on the lane's thread. So an
// entry shares its graph, and a later segment, with whoever else has it;
// Sweep() drops the entries of those that nobody else has any more, and Clear()
// all programs, before the arena moves.
//
// Bounded: above kMaxLaunches recorded launches the least recently used entries
// go. What an entry holds counts for its graph (CompiledGraph::program_bytes).
//
// Threading: whoever leases the lane. Ownership: owns programs and their
// counters, whose profile outlives them; dies before the lane.
class LanePrograms {
 public:
  static constexpr int64_t kMaxLaunches = 1 << 16;
  static constexpr size_t kMaxEntries = 256;
  // Host bytes of a recorded launch, roughly.
  static constexpr uint64_t kLaunchBytes = 1024;

  // What there is of one stretch.
  struct Recording {
    std::unique_ptr<Program> program;
    // The same launches with time marks between them.
    std::unique_ptr<Program> marked_program;
    // Of both; null without a profile.
    std::unique_ptr<op_profile::ProgramCounter> counter;
    bool has_run = false;     // step by step, here
    bool is_refused = false;  // recording it failed, and is not tried again
    bool marked_is_refused = false;
  };

  ~LanePrograms();

  // What there is of stretch `index`, for the caller to fill; null for what is
  // not recorded: too many launches. `owner` shares a later segment, and is
  // null for the graph's first. Valid until the next call of any method.
  Recording* Find(const CompiledGraph& graph, const Segment& segment,
                  const std::shared_ptr<const Segment>& owner, size_t index);

  // The caller has put a program of `launch_count` launches into `recording` of
  // the segment. Drops others that are too many then.
  void CountRecorded(const Segment& segment, int64_t launch_count);

  // True when another lane still has something of a graph that goes: whoever
  // sweeps has to sweep that, too.
  bool Sweep();

  // All programs, or those with marks only; their stretches are recorded anew
  // in their next run.
  void Clear();
  void ClearMarked();

  bool empty() const { return entries_.empty(); }
  int64_t launch_count() const { return launch_count_; }

 private:
  struct Entry {
    std::shared_ptr<const CompiledGraph> graph;
    std::shared_ptr<const Segment> segment;  // null for the graph's first
    const Segment* key = nullptr;
    std::vector<Recording> recordings;  // by stretch
    int64_t launch_count = 0;           // recorded
  };
  using Entries = std::list<Entry>;

  Entry* FindEntry(const CompiledGraph& graph, const Segment& segment,
                   const std::shared_ptr<const Segment>& owner);
  // Nobody but lanes has its graph, or its segment.
  static bool IsLeft(const Entry& entry);
  void Drop(Entries::iterator entry);
  void Forget(Entry& entry, int64_t launch_count);

  Entries entries_;  // the most recently used first
  absl::flat_hash_map<const Segment*, Entries::iterator> by_segment_;
  int64_t launch_count_ = 0;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_EXEC_LANE_PROGRAMS_H_
