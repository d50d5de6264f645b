#ifndef TENSORD_BACKENDS_VULKAN_COMMAND_JOURNAL_H_
#define TENSORD_BACKENDS_VULKAN_COMMAND_JOURNAL_H_

#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "backends/vulkan/hazard_tracker.h"
#include "backends/vulkan/vulkan_api.h"

namespace tensord::vulkan {

// What lanes have recorded, command by command, for tests of where barriers
// stand: validation layers see nothing of what goes by addresses.
//
// Threading: thread-safe. Ownership: the test's; it outlives the devices that
//   note in it.
class CommandJournal {
 public:
  struct Entry {
    bool is_barrier = false;
    Accesses accesses;  // of a command, as its kernel declared them
  };
  // One command buffer, from its begin (which is a barrier).
  struct Recording {
    VkCommandBuffer commands;
    std::vector<Entry> entries;
  };

  void NoteBegin(VkCommandBuffer commands);
  void NoteBarrier(VkCommandBuffer commands);
  void NoteCommand(VkCommandBuffer commands, absl::Span<const ByteRange> reads,
                   absl::Span<const ByteRange> writes);

  // What was recorded so far; it is forgotten.
  std::vector<Recording> Take();

 private:
  void Note(VkCommandBuffer commands, Entry entry);

  absl::Mutex mu_;
  std::vector<Recording> recordings_ ABSL_GUARDED_BY(mu_);
};

// Each pair of commands without a barrier between them of which one writes what
// the other reads or writes: "command 3 reads what command 1 writes". Compares
// every pair, and knows nothing of HazardTracker.
std::vector<std::string> FindHazards(
    absl::Span<const CommandJournal::Entry> entries);

}  // namespace tensord::vulkan

#endif  // TENSORD_BACKENDS_VULKAN_COMMAND_JOURNAL_H_
