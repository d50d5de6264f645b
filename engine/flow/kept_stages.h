#ifndef TENSORD_ENGINE_FLOW_KEPT_STAGES_H_
#define TENSORD_ENGINE_FLOW_KEPT_STAGES_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace tensord {

// What the stages that a program keeps for the next run take together, those of
// its bodies included. Each takes memory in proportion to its graph, and there
// may be as many as the graph has nodes.
//
// Threading: thread-safe. Ownership: shared by the programs and by what is
// kept.
class KeptStages {
 public:
  static constexpr uint64_t kMaxBytes = uint64_t{64} << 20;

  // False above kMaxBytes: the stage is run and forgotten.
  bool Charge(uint64_t bytes) {
    if (used_.fetch_add(bytes) + bytes <= kMaxBytes) return true;
    used_ -= bytes;
    return false;
  }

  // Gives back what was charged when the last copy goes.
  static std::shared_ptr<const void> Share(std::shared_ptr<KeptStages> stages,
                                           uint64_t bytes) {
    return {nullptr, [stages = std::move(stages), bytes](const void*) {
              stages->used_ -= bytes;
            }};
  }

  uint64_t used() const { return used_; }

 private:
  std::atomic<uint64_t> used_{0};
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_FLOW_KEPT_STAGES_H_
