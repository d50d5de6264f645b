#include "tools/tensordctl/profile_table.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tools/tensordctl/histogram.h"
#include "tools/tensordctl/table.h"
#include "tools/tensordctl/units.h"

namespace tensord::ctl {
namespace {

// One line of a table of durations.
struct TimedRow {
  std::vector<std::string> names;
  int64_t count = 0;
  double total_ns = 0;
  bool is_estimate = false;
  const v1::DurationHistogram* histogram = nullptr;
};

double MeanNs(const v1::DurationHistogram& histogram) {
  if (histogram.sample_count() == 0) return 0;
  return static_cast<double>(histogram.total_ns()) /
         static_cast<double>(histogram.sample_count());
}

std::string QuantileText(const v1::OpProfile& profile,
                         const v1::DurationHistogram& histogram, double q) {
  const auto quantile =
      QuantileNs(profile.bucket_bounds_ns(), histogram.bucket_counts(), q);
  return quantile ? FormatNs(*quantile) : "-";
}

void AddTimeColumns(std::vector<Column>& columns) {
  for (const char* title : {"TOTAL", "SHARE", "MEAN", "~P50", "~P99"}) {
    columns.push_back({title, Align::kRight});
  }
}

void AddTimeCells(const v1::OpProfile& profile, const TimedRow& row,
                  double whole_ns, std::vector<std::string>& cells) {
  const v1::DurationHistogram& histogram = *row.histogram;
  if (histogram.sample_count() == 0) {
    for (int i = 0; i < 5; ++i) cells.push_back("-");
    return;
  }
  cells.push_back(
      absl::StrCat(row.is_estimate ? "~" : "", FormatNs(row.total_ns)));
  cells.push_back(FormatShare(row.total_ns, whole_ns));
  cells.push_back(FormatNs(MeanNs(histogram)));
  cells.push_back(QuantileText(profile, histogram, 0.5));
  cells.push_back(QuantileText(profile, histogram, 0.99));
}

double WholeNs(const std::vector<TimedRow>& rows) {
  double whole_ns = 0;
  for (const TimedRow& row : rows) whole_ns += row.total_ns;
  return whole_ns;
}

}  // namespace

void PrintProfileConfig(const Console& console,
                        const v1::OpProfileConfig& config) {
  const std::string& name = v1::OpProfileMode_Name(config.mode());
  console.out << "op_profile "
              << absl::AsciiStrToLower(absl::StripPrefix(
                     absl::string_view(name), "OP_PROFILE_MODE_"));
  if (config.mode() == v1::OP_PROFILE_MODE_SAMPLED) {
    console.out << ", one run in " << config.sample_every() << " is timed";
  }
  console.out << "\n";
}

void PrintOpTable(const Console& console, const v1::OpProfile& profile) {
  std::vector<TimedRow> rows;
  for (const v1::OpProfileRow& op : profile.rows()) {
    const v1::DurationHistogram& time = op.host_time();
    const bool is_estimate = time.sample_count() < op.launch_count();
    rows.push_back(
        {.names = {op.op(), op.backend(),
                   op.has_device_time() ? FormatNs(MeanNs(op.device_time()))
                                        : "-"},
         .count = op.launch_count(),
         .total_ns = is_estimate
                         ? MeanNs(time) * static_cast<double>(op.launch_count())
                         : static_cast<double>(time.total_ns()),
         .is_estimate = is_estimate,
         .histogram = &time});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const TimedRow& a, const TimedRow& b) {
                     return a.total_ns > b.total_ns;
                   });
  std::vector<Column> columns = {{"OP"},
                                 {"BACKEND"},
                                 {"LAUNCHES", Align::kRight},
                                 {"TIMED", Align::kRight}};
  AddTimeColumns(columns);
  columns.push_back(
      {.title = "DEVICE MEAN", .align = Align::kRight, .only_if_used = true});
  Table table(std::move(columns));
  const double whole_ns = WholeNs(rows);
  for (const TimedRow& row : rows) {
    std::vector<std::string> cells = {
        row.names[0], row.names[1], absl::StrCat(row.count),
        absl::StrCat(row.histogram->sample_count())};
    AddTimeCells(profile, row, whole_ns, cells);
    cells.push_back(row.names[2]);
    table.AddRow(std::move(cells));
  }
  table.Print(console);
}

void PrintKernelTable(const Console& console, const v1::OpProfile& profile) {
  Table table({{"OP"},
               {"BACKEND"},
               {"KERNEL"},
               {"DTYPE"},
               {"LAUNCHES", Align::kRight}});
  for (const v1::KernelProfileRow& row : profile.kernels()) {
    table.AddRow({row.op(), row.backend(), row.kernel(), row.dtype(),
                  absl::StrCat(row.launch_count())});
  }
  table.Print(console);
}

void PrintPhaseTable(const Console& console, const v1::OpProfile& profile) {
  std::vector<TimedRow> rows;
  for (const v1::PhaseProfileRow& phase : profile.phases()) {
    const v1::DurationHistogram& time = phase.host_time();
    rows.push_back({.names = {phase.phase(), phase.backend()},
                    .count = time.sample_count(),
                    .total_ns = static_cast<double>(time.total_ns()),
                    .histogram = &time});
  }
  std::vector<Column> columns = {
      {"PHASE"}, {"BACKEND"}, {"RUNS", Align::kRight}};
  AddTimeColumns(columns);
  Table table(std::move(columns));
  const double whole_ns = WholeNs(rows);
  for (const TimedRow& row : rows) {
    std::vector<std::string> cells = {row.names[0], row.names[1],
                                      absl::StrCat(row.count)};
    AddTimeCells(profile, row, whole_ns, cells);
    table.AddRow(std::move(cells));
  }
  table.Print(console);
}

}  // namespace tensord::ctl
