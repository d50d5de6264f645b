#include "tools/conformance/suite.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"

namespace tensord::conformance {
namespace {

class Suite {
 public:
  Suite(const std::vector<Case>& cases, const CaseStore& store, Target& target,
        const SuiteOptions& options)
      : cases_(cases),
        store_(store),
        target_(target),
        options_(options),
        results_(cases.size()) {}

  absl::StatusOr<std::vector<Result>> Run() {
    std::vector<std::vector<size_t>> suspects;
    while (next_ < cases_.size()) {
      std::vector<size_t> of_round = RunRound();
      if (of_round.empty()) continue;
      suspects.push_back(std::move(of_round));
      const absl::Status status = target_.Restart();
      if (!status.ok()) return status;
    }
    for (const std::vector<size_t>& of_round : suspects) {
      const absl::Status status = TryEachAlone(of_round);
      if (!status.ok()) return status;
    }
    return std::move(results_);
  }

 private:
  Result RunOne(size_t index) {
    return RunCase(target_.client(), store_, cases_[index], options_.run,
                   in_use_);
  }

  static bool IsSuspect(const Result& result) {
    return result.outcome == Outcome::kCrash ||
           result.outcome == Outcome::kHang;
  }

  // Runs cases from next_ on until they are all done or one is a suspect;
  // returns the suspects, whose results say what was seen of them.
  std::vector<size_t> RunRound() {
    absl::Mutex mu;
    std::vector<size_t> suspects;
    std::atomic<bool> is_over = false;
    const auto work = [&] {
      while (!is_over) {
        const size_t index = next_++;
        if (index >= cases_.size()) return;
        results_[index] = RunOne(index);
        if (!IsSuspect(results_[index])) continue;
        is_over = true;
        absl::MutexLock lock(&mu);
        suspects.push_back(index);
      }
    };
    std::vector<std::thread> workers;
    for (int i = 0; i < options_.in_flight; ++i) workers.emplace_back(work);
    for (std::thread& worker : workers) worker.join();
    absl::c_sort(suspects);
    return suspects;
  }

  absl::Status TryEachAlone(const std::vector<size_t>& suspects) {
    const bool had_crash = absl::c_any_of(suspects, [&](size_t index) {
      return results_[index].outcome == Outcome::kCrash;
    });
    bool crashed_alone = false;
    for (size_t index : suspects) {
      const Result before = results_[index];
      Result& result = results_[index] = RunOne(index);
      if (!IsSuspect(result)) {
        if (before.outcome == Outcome::kHang) {
          absl::StrAppend(&result.note, result.note.empty() ? "" : "; ",
                          "in time only when it ran alone");
        }
        continue;
      }
      if (result.outcome == Outcome::kCrash) {
        // For somebody else's daemon a broken connection is all that shows.
        const auto ending = target_.Ending();
        if (ending) {
          crashed_alone = true;
          result.reason = absl::StrCat("the daemon died: ", *ending);
        } else {
          result.outcome = Outcome::kError;
        }
      }
      const absl::Status status = target_.Restart();
      if (!status.ok()) return status;
    }
    if (had_crash && !crashed_alone) BlameAll(suspects);
    return absl::OkStatus();
  }

  // The daemon died, and will not again: no case may pass as if it had not.
  void BlameAll(const std::vector<size_t>& suspects) {
    for (size_t index : suspects) {
      if (IsFailure(results_[index].outcome)) continue;
      results_[index].outcome = Outcome::kCrash;
      results_[index].reason = absl::StrCat(
          "the connection broke while this and ", suspects.size() - 1,
          " others were under way; alone it passes");
    }
  }

  const std::vector<Case>& cases_;
  const CaseStore& store_;
  ModelsInUse in_use_;
  Target& target_;
  const SuiteOptions& options_;
  std::vector<Result> results_;
  std::atomic<size_t> next_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<Result>> RunSuite(const std::vector<Case>& cases,
                                             const CaseStore& store,
                                             Target& target,
                                             const SuiteOptions& options) {
  return Suite(cases, store, target, options).Run();
}

}  // namespace tensord::conformance
