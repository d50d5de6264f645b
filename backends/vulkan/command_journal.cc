#include "backends/vulkan/command_journal.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace tensord::vulkan {
namespace {

bool Meet(const std::vector<ByteRange>& some,
          const std::vector<ByteRange>& others) {
  for (const ByteRange& one : some) {
    for (const ByteRange& other : others) {
      if (one.begin < other.end && other.begin < one.end) return true;
    }
  }
  return false;
}

}  // namespace

void CommandJournal::NoteBegin(VkCommandBuffer commands) {
  absl::MutexLock lock(&mu_);
  recordings_.push_back({commands, {}});
}

void CommandJournal::NoteBarrier(VkCommandBuffer commands) {
  Note(commands, {.is_barrier = true, .accesses = {}});
}

void CommandJournal::NoteCommand(VkCommandBuffer commands,
                                 absl::Span<const ByteRange> reads,
                                 absl::Span<const ByteRange> writes) {
  Entry entry;
  entry.accesses.reads.assign(reads.begin(), reads.end());
  entry.accesses.writes.assign(writes.begin(), writes.end());
  Note(commands, std::move(entry));
}

void CommandJournal::Note(VkCommandBuffer commands, Entry entry) {
  absl::MutexLock lock(&mu_);
  // A buffer is recorded anew after it has ended: the last one counts.
  for (auto it = recordings_.rbegin(); it != recordings_.rend(); ++it) {
    if (it->commands != commands) continue;
    it->entries.push_back(std::move(entry));
    return;
  }
  // Begun before the others were taken.
  recordings_.push_back({commands, {}});
  recordings_.back().entries.push_back(std::move(entry));
}

std::vector<CommandJournal::Recording> CommandJournal::Take() {
  absl::MutexLock lock(&mu_);
  return std::exchange(recordings_, {});
}

std::vector<std::string> FindHazards(
    absl::Span<const CommandJournal::Entry> entries) {
  std::vector<std::string> hazards;
  for (size_t i = 0; i < entries.size(); ++i) {
    for (size_t j = i + 1; j < entries.size(); ++j) {
      if (entries[j].is_barrier) break;
      const Accesses& first = entries[i].accesses;
      const Accesses& second = entries[j].accesses;
      const auto note = [&](const char* does, const char* did) {
        hazards.push_back(absl::StrCat("command ", j, " ", does,
                                       " what command ", i, " ", did));
      };
      if (Meet(second.reads, first.writes)) note("reads", "writes");
      if (Meet(second.writes, first.reads)) note("writes", "reads");
      if (Meet(second.writes, first.writes)) note("writes", "writes");
    }
  }
  return hazards;
}

}  // namespace tensord::vulkan
