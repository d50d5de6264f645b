#include "engine/tune/trial.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/compiled/bind_node.h"
#include "engine/graph/status_macros.h"
#include "engine/tune/operand_data.h"
#include "engine/tune/result_check.h"
#include "engine/tune/site_tolerance.h"
#include "engine/tune/trial_candidate.h"

namespace tensord {
namespace {

constexpr uint64_t kSeed = 1;
// A trial takes one part in so many of the memory that its device has free.
constexpr uint64_t kFreeShare = 4;

using Outputs = std::vector<std::shared_ptr<HostBytes>>;

class Trial {
 public:
  Trial(std::shared_ptr<const CompiledGraph> graph, const Step& step,
        const KernelBindingTable& table, TrialLane& lane,
        const TrialLimits& limits)
      : step_(step),
        site_(SiteOf(step.node, step.layouts, step.host_constants)),
        table_(table),
        lane_(lane),
        limits_(limits),
        spent_before_(lane.spent()),
        free_bytes_(FreeBytes(lane.device())) {
    memory_->graph = std::move(graph);
  }

  absl::StatusOr<TrialResult> Run() {
    TENSORD_RETURN_IF_ERROR(FindCandidates());
    TENSORD_RETURN_IF_ERROR(MakeOperands());
    TENSORD_RETURN_IF_ERROR(Prepare());
    TENSORD_RETURN_IF_ERROR(CheckResults());
    TENSORD_RETURN_IF_ERROR(Race());
    return Decide();
  }

 private:
  using Candidate = TrialCandidate;

  static uint64_t FreeBytes(const Device& device) {
    const uint64_t limit = device.info().memory_limit_bytes;
    if (limit == 0) return UINT64_MAX;
    return limit - std::min(limit, device.allocated_bytes());
  }

  Candidate& first() { return candidates_.front(); }
  Candidate& portable() { return candidates_.back(); }

  absl::Status FindCandidates() {
    if (step_.extent_cell_count > 0) {
      return absl::UnimplementedError("the data tells its extents");
    }
    if (!HasKnownDepth(site_.op)) {
      return absl::UnimplementedError("the depth of its sums is not known");
    }
    if (step_.node.estimated_ns >
        absl::ToDoubleNanoseconds(limits_.max_estimate)) {
      return absl::UnimplementedError("a launch takes too long");
    }
    for (const KernelEntry* entry :
         AcceptingSiblings(table_, site_, step_.node.backend)) {
      candidates_.push_back({.entry = entry});
    }
    if (candidates_.size() < 2) {
      return absl::UnimplementedError("no two kernels take it");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<StorageView> Allocate(uint64_t size_bytes) {
    bytes_ += size_bytes;
    if (bytes_ > limits_.max_bytes) {
      return absl::UnimplementedError(absl::StrCat(
          "its operands have more than ", limits_.max_bytes, " bytes"));
    }
    if (bytes_ > free_bytes_ / kFreeShare) {
      return absl::AbortedError("its device has too little memory free");
    }
    TENSORD_ASSIGN_OR_RETURN(std::unique_ptr<Storage> storage,
                             lane_.device().Allocate(size_bytes));
    const StorageView view{storage.get(), 0, size_bytes};
    memory_->storages.push_back(std::move(storage));
    return view;
  }

  // What the host alone does takes its time as well.
  template <typename Work>
  auto Charged(const Work& work) {
    const absl::Time start = absl::Now();
    auto result = work();
    lane_.Charge(absl::Now() - start);
    return result;
  }

  absl::Status MakeOperands() {
    for (size_t i = 0; i < step_.operands.size(); ++i) {
      const Operand& operand = step_.operands[i];
      StorageView view;
      if (operand.place == Operand::Place::kWeight) {
        view = {memory_->graph->weights[operand.index]->storage.get(), 0,
                operand.size_bytes};
      } else if (operand.place != Operand::Place::kAbsent) {
        TENSORD_ASSIGN_OR_RETURN(view, Allocate(operand.size_bytes));
        if (static_cast<int>(i) < site_.input_count) {
          TENSORD_RETURN_IF_ERROR(FillInput(static_cast<int>(i), view));
        }
      }
      operands_.push_back(view);
    }
    uint64_t workspace_bytes = 0;
    for (const Candidate& candidate : candidates_) {
      if (candidate.entry->workspace_bytes == nullptr) continue;
      workspace_bytes =
          std::max(workspace_bytes, candidate.entry->workspace_bytes(site_));
    }
    if (workspace_bytes == 0) return absl::OkStatus();
    TENSORD_ASSIGN_OR_RETURN(workspace_, Allocate(workspace_bytes));
    return absl::OkStatus();
  }

  absl::Status FillInput(int i, StorageView view) {
    const auto bytes = std::make_shared<HostBytes>(view.size_bytes);
    TENSORD_RETURN_IF_ERROR(Charged([&] {
      return FillOperand(site_, i, kSeed + i, absl::MakeSpan(*bytes));
    }));
    return lane_.Upload(bytes, view, memory_);
  }

  absl::Status Prepare() {
    for (Candidate& candidate : candidates_) {
      if (candidate.entry->prepare == nullptr) continue;
      auto state = Charged(
          [&] { return candidate.entry->prepare(site_, lane_.device()); });
      if (!state.ok()) return WithKernel(candidate, state.status());
      candidate.state = state->get();
      memory_->states.push_back(*std::move(state));
    }
    return absl::OkStatus();
  }

  static absl::Status WithKernel(const Candidate& candidate,
                                 const absl::Status& status) {
    return absl::Status(status.code(), absl::StrCat(candidate.entry->name, ": ",
                                                    status.message()));
  }

  absl::StatusOr<absl::Duration> Launch(const Candidate& candidate) {
    const absl::Span<const StorageView> all = operands_;
    absl::StatusOr<absl::Duration> duration =
        lane_.Launch({.entry = *candidate.entry,
                      .inputs = all.first(site_.input_count),
                      .outputs = all.subspan(site_.input_count),
                      .layouts = step_.layouts,
                      .params = step_.node.params,
                      .state = candidate.state,
                      .workspace = workspace_},
                     memory_);
    if (!duration.ok()) return WithKernel(candidate, duration.status());
    return duration;
  }

  // The outputs of one launch; what it leaves out shows as 0xDD.
  absl::StatusOr<Outputs> OutputsOf(const Candidate& candidate) {
    Outputs outputs;
    for (size_t i = site_.input_count; i < operands_.size(); ++i) {
      outputs.push_back(std::make_shared<HostBytes>(operands_[i].size_bytes,
                                                    std::byte{0xDD}));
      if (!operands_[i].is_present()) continue;
      TENSORD_RETURN_IF_ERROR(
          lane_.Upload(outputs.back(), operands_[i], memory_));
    }
    if (auto duration = Launch(candidate); !duration.ok()) {
      return duration.status();
    }
    for (size_t i = site_.input_count; i < operands_.size(); ++i) {
      if (!operands_[i].is_present()) continue;
      TENSORD_RETURN_IF_ERROR(lane_.Download(
          operands_[i], outputs[i - site_.input_count], memory_));
    }
    return outputs;
  }

  absl::Status CheckResults() {
    TENSORD_ASSIGN_OR_RETURN(const Outputs expected, OutputsOf(portable()));
    for (size_t c = 0; c + 1 < candidates_.size(); ++c) {
      Candidate& candidate = candidates_[c];
      TENSORD_ASSIGN_OR_RETURN(const Outputs actual, OutputsOf(candidate));
      for (size_t i = 0; i < expected.size() && candidate.agrees; ++i) {
        const DType dtype = site_.output_dtype(static_cast<int>(i));
        const absl::Status status = Charged([&] {
          return CheckResult(dtype, *actual[i], *expected[i],
                             SiteTolerance(site_, dtype));
        });
        if (status.ok()) continue;
        candidate.agrees = candidate.is_racing = false;
        result_.disagreements.push_back(absl::StrCat(
            candidate.entry->name, ": output ", i, ": ", status.message()));
      }
    }
    return absl::OkStatus();
  }

  bool IsOutOfTime() const {
    return lane_.spent() - spent_before_ > limits_.max_time;
  }

  // Every sibling once, then every sibling again: what else changes on the
  // machine meanwhile hits all of them.
  absl::Status Race() {
    if (!first().agrees) return absl::OkStatus();
    for (int round = 0; round < limits_.max_rounds; ++round) {
      for (Candidate& candidate : candidates_) {
        if (!candidate.is_racing) continue;
        TENSORD_ASSIGN_OR_RETURN(const absl::Duration duration,
                                 Launch(candidate));
        candidate.times.push_back(duration);
      }
      if (round == 0) DropTheLong(limits_.max_estimate, candidates_);
      if (round + 1 == kRoundsBeforeDropping) DropTheHopeless(candidates_);
      if (!IsOutOfTime()) continue;
      if (round + 1 >= limits_.min_rounds) break;
      return absl::UnimplementedError(
          absl::StrCat(round + 1, " rounds took more than ",
                       absl::FormatDuration(limits_.max_time), ", and ",
                       limits_.min_rounds, " are needed"));
    }
    return absl::OkStatus();
  }

  TrialResult Decide() {
    MeasuredSite& site = result_.site;
    for (Candidate& candidate : candidates_) {
      site.siblings.push_back(
          {.kernel = candidate.entry->name,
           .ns = candidate.times.empty()
                     ? 0
                     : absl::ToDoubleNanoseconds(candidate.Median()),
           .agrees = candidate.agrees});
    }
    // Then nothing was raced, and the order of the table stands.
    if (!first().agrees) return std::move(result_);
    // Medians decide; that the quickest launches agree with them keeps a busy
    // machine from deciding.
    const double share = 1 - limits_.clear_win;
    double best_ns = site.siblings.front().ns * share;
    for (size_t i = 1; i < candidates_.size(); ++i) {
      if (!candidates_[i].is_racing || site.siblings[i].ns >= best_ns ||
          candidates_[i].best() >= first().best() * share) {
        continue;
      }
      site.chosen = i;
      best_ns = site.siblings[i].ns;
    }
    return std::move(result_);
  }

  const Step& step_;
  const NodeSite site_;
  const KernelBindingTable& table_;
  TrialLane& lane_;
  const TrialLimits& limits_;
  const absl::Duration spent_before_;
  const uint64_t free_bytes_;
  const std::shared_ptr<TrialMemory> memory_ = std::make_shared<TrialMemory>();
  uint64_t bytes_ = 0;
  std::vector<Candidate> candidates_;  // in the order of the table
  std::vector<StorageView> operands_;  // inputs, then outputs
  StorageView workspace_;
  TrialResult result_;
};

}  // namespace

absl::StatusOr<TrialResult> RunTrial(
    const std::shared_ptr<const CompiledGraph>& graph, const Step& step,
    const KernelBindingTable& table, TrialLane& lane,
    const TrialLimits& limits) {
  return Trial(graph, step, table, lane, limits).Run();
}

}  // namespace tensord
