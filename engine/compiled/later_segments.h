#ifndef TENSORD_ENGINE_COMPILED_LATER_SEGMENTS_H_
#define TENSORD_ENGINE_COMPILED_LATER_SEGMENTS_H_

#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "backends/api/backend.h"
#include "engine/compiled/compiled_graph.h"
#include "engine/compiled/graph_compiler.h"
#include "engine/compiled/place_values.h"
#include "engine/compiled/schedule.h"
#include "engine/compiled/side_plan.h"

namespace tensord {

// The segments of one planned graph after its first, compiled when the data has
// told their extents. A segment keeps the plan's offsets and gets its own
// kernels and layouts; one is kept for each set of extents, the least recently
// used go.
//
// Threading: thread-safe. Compiles on the calling thread, without the lock; two
//   lanes that need the same new segment at once both compile it, and one
//   stays.
// Ownership: shares the graph; owns its copy of the plan; borrows the device.
class LaterSegments final : public SegmentSource {
 public:
  // How many compiled segments are kept.
  static constexpr size_t kMaxKept = 64;

  // What the plan holds a launch to, whatever its extents turn out to be.
  struct PlannedLaunch {
    uint64_t workspace_bytes = 0;
    bool runs_on_host = false;
  };

  LaterSegments(std::shared_ptr<const Graph> graph, std::vector<Shape> inputs,
                CompileOptions options, Schedule schedule, SidePlan sides,
                Placement placement, std::vector<PlannedLaunch> launches,
                Device& device, const CompilerEnvironment& environment);

  absl::StatusOr<std::shared_ptr<const Segment>> Get(
      int index, absl::Span<const int64_t> extents) override;
  absl::StatusOr<std::vector<Shape>> OutputShapes(
      absl::Span<const int64_t> extents) override;
  int segment_count() const override {
    return static_cast<int>(schedule_.segments.size());
  }
  uint64_t footprint_bytes() const override;

 private:
  // The segment, and the cells that were told when it started.
  using Key = std::pair<int, std::vector<int64_t>>;
  struct Kept {
    Key key;
    std::shared_ptr<const Segment> segment;
    uint64_t bytes;
  };

  absl::StatusOr<Inference> Infer(absl::Span<const int64_t> extents) const;
  absl::StatusOr<std::shared_ptr<const Segment>> Compile(
      int index, absl::Span<const int64_t> extents) const;
  std::shared_ptr<const Segment> Find(const Key& key);
  void Keep(const Key& key, std::shared_ptr<const Segment> segment);

  const std::shared_ptr<const Graph> graph_;
  const std::vector<Shape> inputs_;
  const CompileOptions options_;
  const Schedule schedule_;
  const SidePlan sides_;
  const Placement placement_;
  const std::vector<PlannedLaunch> launches_;
  Device& device_;
  const CompilerEnvironment environment_;
  std::vector<int32_t> first_launch_;  // by segment

  mutable absl::Mutex mu_;
  uint64_t kept_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  std::list<Kept> kept_ ABSL_GUARDED_BY(mu_);  // latest use first
  absl::flat_hash_map<Key, std::list<Kept>::iterator> by_key_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_COMPILED_LATER_SEGMENTS_H_
