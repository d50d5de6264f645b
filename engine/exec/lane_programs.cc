#include "engine/exec/lane_programs.h"

#include <iterator>
#include <utility>

namespace tensord {

LanePrograms::~LanePrograms() {
  while (!entries_.empty()) Drop(entries_.begin());
}

LanePrograms::Recording* LanePrograms::Find(
    const CompiledGraph& graph, const Segment& segment,
    const std::shared_ptr<const Segment>& owner, size_t index) {
  if (segment.stretches[index].step_count > kMaxLaunches) return nullptr;
  Entry* entry = FindEntry(graph, segment, owner);
  return entry == nullptr ? nullptr : &entry->recordings[index];
}

LanePrograms::Entry* LanePrograms::FindEntry(
    const CompiledGraph& graph, const Segment& segment,
    const std::shared_ptr<const Segment>& owner) {
  if (!entries_.empty() && entries_.front().key == &segment) {
    return &entries_.front();
  }
  const auto found = by_segment_.find(&segment);
  if (found != by_segment_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    return &entries_.front();
  }
  std::shared_ptr<const CompiledGraph> shared = graph.weak_from_this().lock();
  if (shared == nullptr) return nullptr;
  if (entries_.size() >= kMaxEntries) Drop(std::prev(entries_.end()));
  graph.lane_holders.fetch_add(1);
  if (owner != nullptr) segment.lane_holders.fetch_add(1);
  entries_.push_front(
      {.graph = std::move(shared),
       .segment = owner,
       .key = &segment,
       .recordings = std::vector<Recording>(segment.stretches.size())});
  by_segment_[&segment] = entries_.begin();
  return &entries_.front();
}

void LanePrograms::CountRecorded(const Segment& segment, int64_t launch_count) {
  Entry& entry = *by_segment_.find(&segment)->second;
  entry.launch_count += launch_count;
  launch_count_ += launch_count;
  entry.graph->program_bytes.fetch_add(launch_count * kLaunchBytes);
  while (launch_count_ > kMaxLaunches && entries_.back().key != &segment) {
    Drop(std::prev(entries_.end()));
  }
}

bool LanePrograms::IsLeft(const Entry& entry) {
  if (entry.graph.use_count() == entry.graph->lane_holders.load()) return true;
  return entry.segment != nullptr &&
         entry.segment.use_count() == entry.segment->lane_holders.load();
}

bool LanePrograms::Sweep() {
  bool others_have_some = false;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (IsLeft(*entry)) {
      others_have_some |= entry->graph->lane_holders.load() > 1;
      Drop(entry);
    }
    entry = next;
  }
  return others_have_some;
}

void LanePrograms::Drop(Entries::iterator entry) {
  Forget(*entry, entry->launch_count);
  by_segment_.erase(entry->key);
  // Programs before what they point to.
  entry->recordings.clear();
  if (entry->segment != nullptr) entry->segment->lane_holders.fetch_sub(1);
  entry->graph->lane_holders.fetch_sub(1);
  entries_.erase(entry);
}

void LanePrograms::Forget(Entry& entry, int64_t launch_count) {
  entry.launch_count -= launch_count;
  launch_count_ -= launch_count;
  entry.graph->program_bytes.fetch_sub(launch_count * kLaunchBytes);
}

void LanePrograms::Clear() {
  for (Entry& entry : entries_) {
    Forget(entry, entry.launch_count);
    for (Recording& recording : entry.recordings) {
      recording.program.reset();
      recording.marked_program.reset();
    }
  }
}

void LanePrograms::ClearMarked() {
  for (Entry& entry : entries_) {
    for (size_t i = 0; i < entry.recordings.size(); ++i) {
      if (entry.recordings[i].marked_program == nullptr) continue;
      entry.recordings[i].marked_program.reset();
      Forget(entry, entry.key->stretches[i].step_count);
    }
  }
}

}  // namespace tensord
