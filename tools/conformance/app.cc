#include "tools/conformance/app.h"

#include <fnmatch.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tools/conformance/case_list.h"
#include "tools/conformance/case_store.h"
#include "tools/conformance/report.h"
#include "tools/conformance/suite.h"
#include "tools/conformance/target.h"
#include "tools/tensordctl/files.h"

namespace tensord::conformance {
namespace {

constexpr char kFooter[] = R"(Outcomes of a case:
  passed   every output is as expected
  refused  UNIMPLEMENTED, INVALID_ARGUMENT or RESOURCE_EXHAUSTED
  wrong    an output differs
  crash    the daemon died
  hang     no answer within --timeout, not even alone
  error    another status, or a case that cannot be read
  skipped  not tried, or other values where the standard leaves room
All but passed and skipped are failures. Exit code: 0 when no case failed (but
those that --allow names) and --at-least is met, 1 otherwise, 2 when the cases
could not be run.

Examples:
  tensord_conformance --cases ../shared/conformance/onnx --tier 1
  tensord_conformance --cases cases --filter 'node/test_conv_*' --show wrong
  tensord_conformance --cases cases --allow refused --at-least 900
)";

const std::vector<std::string>& OutcomeNames() {
  static const auto& names = *new std::vector<std::string>([] {
    std::vector<std::string> all;
    for (int i = 0; i < kOutcomeCount; ++i) {
      all.push_back(OutcomeName(static_cast<Outcome>(i)));
    }
    return all;
  }());
  return names;
}

struct Options {
  std::string cases;
  std::string list;
  std::vector<int> tiers;
  std::vector<std::string> filters;
  std::string device;
  std::string server;
  std::string daemon;
  int in_flight = 4;
  double timeout_seconds = 10;
  std::string report;
  std::vector<std::string> shown;
  std::vector<std::string> allowed;
  int at_least = 0;
};

void AddOptions(CLI::App& app, Options& options) {
  app.add_option("--cases", options.cases,
                 "The folder of cases: FOLDER/CASE/, or FOLDER.tar.zst")
      ->required();
  app.add_option("--list", options.list,
                 "The list of cases (default: LIST.tsv there; without one, "
                 "every case that is there unpacked)");
  app.add_option("--tier", options.tiers, "Only cases of this tier; repeatable")
      ->allow_extra_args(false);
  app.add_option("--filter", options.filters,
                 "Only cases whose name, or folder/name, matches; repeatable")
      ->allow_extra_args(false);
  app.add_option("--device", options.device,
                 "Run on this device: cpu:0, cuda:0");
  app.add_option("--server", options.server,
                 "Send to the daemon at this address rather than start one");
  app.add_option("--daemon", options.daemon, "The program to start")
      ->capture_default_str();
  app.add_option("--in-flight", options.in_flight, "Cases under way at once")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--timeout", options.timeout_seconds, "Of a case, in seconds")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--report", options.report,
                 "Write a line of JSON for each case to this file");
  app.add_option("--show", options.shown,
                 "Print only cases of this outcome; repeatable")
      ->check(CLI::IsMember(OutcomeNames()))
      ->allow_extra_args(false);
  app.add_option("--allow", options.allowed,
                 "This outcome is no reason for exit code 1; repeatable")
      ->check(CLI::IsMember(OutcomeNames()))
      ->allow_extra_args(false);
  app.add_option("--at-least", options.at_least,
                 "Fewer cases passed is a reason for exit code 1")
      ->check(CLI::NonNegativeNumber);
}

absl::StatusOr<std::vector<Case>> ListedCases(const Options& options) {
  const std::string standard = options.cases + "/LIST.tsv";
  if (options.list.empty() && !ctl::IsFile(standard)) {
    return FindCases(options.cases);
  }
  const std::string& path = options.list.empty() ? standard : options.list;
  const auto text = ctl::ReadFile(path);
  if (!text.ok()) return text.status();
  auto cases = ParseCaseList(*text);
  if (cases.ok()) return cases;
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": ", cases.status().message()));
}

bool IsAsked(const Case& one, const Options& options) {
  const auto matches = [&](const std::string& filter) {
    return fnmatch(filter.c_str(), one.name.c_str(), 0) == 0 ||
           fnmatch(filter.c_str(), one.Id().c_str(), 0) == 0;
  };
  return (options.tiers.empty() ||
          absl::c_linear_search(options.tiers, one.tier)) &&
         (options.filters.empty() || absl::c_any_of(options.filters, matches));
}

absl::StatusOr<std::unique_ptr<Target>> Connect(const Options& options) {
  if (!options.server.empty()) return Target::At(options.server);
  std::string devices = "--devices=cpu:0";
  if (!options.device.empty() && options.device != "cpu:0") {
    absl::StrAppend(&devices, ",", options.device);
  }
  return Target::OwnDaemon(options.daemon, {devices, "--log-level=warning"});
}

// Whether any case failed in a way that is not allowed.
bool HasForbidden(const Counts& counts,
                  const absl::flat_hash_set<std::string>& allowed) {
  for (int i = 0; i < kOutcomeCount; ++i) {
    const Outcome outcome = static_cast<Outcome>(i);
    if (IsFailure(outcome) && counts.of(outcome) > 0 &&
        !allowed.contains(OutcomeName(outcome))) {
      return true;
    }
  }
  return false;
}

absl::StatusOr<int> Run(const Options& options, const ctl::Console& console) {
  auto cases = ListedCases(options);
  if (!cases.ok()) return cases.status();
  std::vector<Case> asked;
  absl::c_copy_if(*cases, std::back_inserter(asked),
                  [&](const Case& one) { return IsAsked(one, options); });
  if (asked.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "none of ", cases->size(), " cases is of --tier and --filter"));
  }
  const auto store = CaseStore::Open(options.cases, asked);
  if (!store.ok()) return store.status();
  const auto target = Connect(options);
  if (!target.ok()) return target.status();

  const absl::Time start = absl::Now();
  const auto results =
      RunSuite(asked, *store, **target,
               {.run = {.timeout = absl::Seconds(options.timeout_seconds),
                        .device = options.device},
                .in_flight = options.in_flight});
  if (!results.ok()) return results.status();
  const absl::Duration duration = absl::Now() - start;
  const absl::Status stopped = (*target)->Stop();

  const Counts counts(*results);
  if (!options.report.empty()) {
    const absl::Status written =
        ctl::WriteFile(options.report, ReportText(asked, *results));
    if (!written.ok()) return written;
  }
  PrintCases(console, asked, *results,
             {options.shown.begin(), options.shown.end()});
  PrintTable(console, asked, *results);
  console.out << "in "
              << absl::FormatDuration(
                     absl::Trunc(duration, absl::Milliseconds(100)))
              << "\n";
  int exit_code = 0;
  if (!stopped.ok()) {
    console.out << stopped.message() << "\n";
    exit_code = 1;
  }
  const int passed = counts.of(Outcome::kPassed);
  if (passed < options.at_least) {
    console.out << "fewer than the " << options.at_least
                << " that should have passed\n";
    exit_code = 1;
  }
  if (HasForbidden(counts, {options.allowed.begin(), options.allowed.end()})) {
    exit_code = 1;
  }
  PrintTotals(console, counts);
  return exit_code;
}

}  // namespace

int RunApp(const std::vector<std::string>& arguments, const std::string& daemon,
           const ctl::Console& console) {
  CLI::App app("Runs conformance cases of ONNX through tensord.",
               "tensord_conformance");
  app.footer(kFooter);
  Options options;
  options.daemon = daemon;
  AddOptions(app, options);
  try {
    // CLI11 takes a vector from its end.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    const bool is_help = app.exit(error, console.out, console.err) == 0;
    return is_help ? 0 : 2;
  }
  const auto exit_code = Run(options, console);
  if (exit_code.ok()) return *exit_code;
  console.err << "tensord_conformance: "
              << ctl::Printable(exit_code.status().message()) << "\n";
  return 2;
}

}  // namespace tensord::conformance
