#include "tools/conformance/case_runner.h"

#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tools/conformance/case_files.h"
#include "tools/conformance/compare.h"
#include "tools/conformance/comparison_rule.h"
#include "tools/tensordctl/errors.h"

namespace tensord::conformance {
namespace {

Outcome OutcomeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kResourceExhausted:
      return Outcome::kRefused;
    case absl::StatusCode::kUnavailable:
      return Outcome::kCrash;
    case absl::StatusCode::kDeadlineExceeded:
      return Outcome::kHang;
    default:
      return Outcome::kError;
  }
}

Result FailedBy(const absl::Status& status, absl::string_view call) {
  return {.outcome = OutcomeOf(status),
          .reason = absl::StrCat(call, ": ", ctl::ErrorLine(status))};
}

std::string NoteOf(const Comparison& comparison) {
  std::string note;
  if (comparison.wider_count > 0) {
    note = absl::StrCat(comparison.wider_count,
                        " elements pass by the wider tolerance only");
  }
  if (comparison.undefined_count > 0) {
    absl::StrAppend(&note, note.empty() ? "" : "; ", comparison.undefined_count,
                    " elements differ where the standard says nothing");
  }
  return note;
}

class CaseRun {
 public:
  CaseRun(Client& client, const RunOptions& options, ModelsInUse& in_use)
      : client_(client),
        in_use_(in_use),
        options_(options),
        deadline_(absl::Now() + options.timeout) {}

  Result Do(const CaseStore& store, const Case& to_run) {
    const auto rule = ParseComparisonRule(to_run.tolerance);
    if (!rule.ok()) return Unusable(rule.status());
    auto files = ReadCaseFiles(store, to_run);
    if (absl::IsUnimplemented(files.status())) {
      return {.outcome = Outcome::kSkipped,
              .reason = std::string(files.status().message())};
    }
    if (!files.ok()) return Unusable(files.status());
    in_use_.Take(files->model);
    const absl::Cleanup release = [&] { in_use_.Release(files->model); };
    // The deadline is the daemon's; it starts when the files are read.
    deadline_ = absl::Now() + options_.timeout;
    v1::CompileOptions compile;
    compile.set_device(options_.device);
    const auto submitted = client_.SubmitGraph(v1::GRAPH_FORMAT_ONNX,
                                               files->model, compile, Rest());
    if (!submitted.ok()) return FailedBy(submitted.status(), "SubmitGraph");
    Result result;
    for (DataSet& set : files->sets) {
      result = RunSet(submitted->graph_id(), std::move(set), *rule);
      if (result.outcome != Outcome::kPassed) break;
    }
    // Best effort: an error of this call is no error of the case.
    client_.DeleteGraph(submitted->graph_id(), {.timeout = options_.timeout})
        .IgnoreError();
    return result;
  }

 private:
  static Result Unusable(const absl::Status& status) {
    return {
        .outcome = Outcome::kError,
        .reason = absl::StrCat("this case cannot be used: ", status.message())};
  }

  CallOptions Rest() const {
    // Zero would be the client's default.
    return {.timeout =
                std::max(deadline_ - absl::Now(), absl::Milliseconds(1))};
  }

  Result RunSet(const std::string& graph_id, DataSet set,
                const ComparisonRule& rule) {
    v1::ExecuteRequest request;
    request.set_graph_id(graph_id);
    request.mutable_options()->set_device(options_.device);
    for (const v1::ExecuteInput& input : set.inputs) {
      *request.add_inputs() = input;
    }
    const auto response = client_.Execute(request, Rest());
    if (!response.ok()) return FailedBy(response.status(), "Execute");
    const std::vector<v1::ExecuteOutput> outputs(response->outputs().begin(),
                                                 response->outputs().end());
    const Comparison comparison =
        CompareOutputs(set.outputs, outputs, set.inputs, rule);
    if (comparison.is_equal()) return {.note = NoteOf(comparison)};
    if (rule.is_disputed && comparison.is_of_values) {
      return {.outcome = Outcome::kSkipped,
              .reason = absl::StrCat("disputed among runtimes: ",
                                     comparison.difference)};
    }
    return {.outcome = Outcome::kWrong,
            .reason = absl::StrCat(set.name, ": ", comparison.difference)};
  }

  Client& client_;
  ModelsInUse& in_use_;
  const RunOptions& options_;
  absl::Time deadline_;
};

}  // namespace

Result RunCase(Client& client, const CaseStore& store, const Case& to_run,
               const RunOptions& options, ModelsInUse& in_use) {
  const absl::Time start = absl::Now();
  Result result = CaseRun(client, options, in_use).Do(store, to_run);
  result.duration = absl::Now() - start;
  return result;
}

}  // namespace tensord::conformance
