#include "tools/tensordctl/run_report.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/tensordctl/elements.h"
#include "tools/tensordctl/errors.h"
#include "tools/tensordctl/files.h"
#include "tools/tensordctl/npy.h"
#include "tools/tensordctl/onnx_tensor.h"
#include "tools/tensordctl/table.h"
#include "tools/tensordctl/top_classes.h"
#include "tools/tensordctl/type_text.h"
#include "tools/tensordctl/units.h"

namespace tensord::ctl {
namespace {

using Json = nlohmann::ordered_json;

std::string LabelOf(int64_t index, const std::vector<std::string>& labels) {
  if (index >= static_cast<int64_t>(labels.size())) return "";
  return labels[static_cast<size_t>(index)];
}

// "min -1.2, max 3.4, mean 0.5: 0.1 0.2 0.3 ..."
std::string ValuesText(const v1::Tensor& tensor) {
  constexpr size_t kShown = 8;
  const auto values = AsDoubles(tensor);
  if (!values.ok())
    return FormatBytes(static_cast<int64_t>(tensor.data().size()));
  if (values->empty()) return "empty";
  std::string text;
  if (values->size() > kShown) {
    double sum = 0;
    for (double value : *values) sum += value;
    const auto [min, max] = std::minmax_element(values->begin(), values->end());
    text = absl::StrFormat("min %.4g, max %.4g, mean %.4g: ", *min, *max,
                           sum / static_cast<double>(values->size()));
  }
  for (size_t i = 0; i < std::min(kShown, values->size()); ++i) {
    absl::StrAppendFormat(&text, "%s%.6g", i == 0 ? "" : " ", (*values)[i]);
  }
  return values->size() > kShown ? text + " ..." : text;
}

}  // namespace

void PrintOutputs(const Console& console, const v1::ExecuteResponse& response) {
  for (const v1::ExecuteOutput& output : response.outputs()) {
    console.out << "output     " << Printable(output.name()) << " ";
    switch (output.value_case()) {
      case v1::ExecuteOutput::kTensor:
        console.out << TypeText(output.tensor()) << "  "
                    << ValuesText(output.tensor());
        break;
      case v1::ExecuteOutput::kSequence:
        console.out << "sequence of " << output.sequence().tensors_size() << " "
                    << DTypeText(output.sequence().dtype()) << " tensors";
        break;
      case v1::ExecuteOutput::kHandle:
        console.out << "on " << output.handle().device() << " as "
                    << output.handle().tensor_id();
        break;
      default:
        console.out << "absent";
    }
    console.out << "\n";
  }
}

absl::Status PrintTopClasses(const Console& console,
                             const v1::ExecuteResponse& response, int64_t count,
                             const std::vector<std::string>& labels) {
  for (const v1::ExecuteOutput& output : response.outputs()) {
    if (!output.has_tensor()) continue;
    const auto rows = TopClasses(output.tensor(), count);
    if (!rows.ok()) return LocalError("--top", rows.status());
    console.out << "output     " << Printable(output.name()) << " "
                << TypeText(output.tensor()) << "\n";
    std::vector<Column> columns = {{"ROW", Align::kRight},
                                   {"CLASS", Align::kRight}};
    if (!labels.empty()) columns.push_back({"LABEL"});
    columns.push_back({"SCORE", Align::kRight});
    Table table(std::move(columns));
    for (size_t row = 0; row < rows->size(); ++row) {
      for (const ScoredClass& scored : (*rows)[row]) {
        std::vector<std::string> cells = {absl::StrCat(row),
                                          absl::StrCat(scored.index)};
        if (!labels.empty()) cells.push_back(LabelOf(scored.index, labels));
        cells.push_back(absl::StrFormat("%.6g", scored.score));
        table.AddRow(std::move(cells));
      }
    }
    table.Print(console);
  }
  return absl::OkStatus();
}

absl::StatusOr<Json> JsonOfTopClasses(const v1::ExecuteResponse& response,
                                      int64_t count,
                                      const std::vector<std::string>& labels) {
  Json list = Json::array();
  for (const v1::ExecuteOutput& output : response.outputs()) {
    if (!output.has_tensor()) continue;
    const auto rows = TopClasses(output.tensor(), count);
    if (!rows.ok()) return LocalError("--top", rows.status());
    for (size_t row = 0; row < rows->size(); ++row) {
      Json classes = Json::array();
      for (const ScoredClass& scored : (*rows)[row]) {
        Json one = {{"class", scored.index}};
        const std::string label = LabelOf(scored.index, labels);
        if (!label.empty()) one["label"] = label;
        one["score"] =
            std::isfinite(scored.score) ? Json(scored.score) : Json(nullptr);
        classes.push_back(std::move(one));
      }
      list.push_back({{"output", output.name()},
                      {"row", row},
                      {"classes", std::move(classes)}});
    }
  }
  return list;
}

void PrintTimings(const Console& console, const v1::ExecuteResponse& response) {
  const v1::PhaseTimings& t = response.timings();
  const std::pair<const char*, int64_t> phases[] = {
      {"decode", t.decode_ns()},     {"queue", t.queue_ns()},
      {"compile", t.compile_ns()},   {"upload", t.upload_ns()},
      {"run", t.run_ns()},           {"wait", t.wait_ns()},
      {"download", t.download_ns()}, {"encode", t.encode_ns()}};
  console.out << "ran on     " << Printable(response.device());
  const char* separator = ": ";
  for (const auto& [phase, ns] : phases) {
    if (ns == 0) continue;
    console.out << separator << phase << " "
                << FormatNs(static_cast<double>(ns));
    separator = ", ";
  }
  console.out << "\n";
}

void PrintTrace(const Console& console, const v1::ExecutionTrace& trace) {
  Table table(
      {{"#", Align::kRight},
       {"OP"},
       {.title = "NODE", .may_be_cut = true, .only_if_used = true},
       {.title = "KERNEL", .may_be_cut = true},
       {"START", Align::kRight},
       {"HOST", Align::kRight},
       {.title = "DEVICE", .align = Align::kRight, .only_if_used = true},
       {"BYTES", Align::kRight}});
  for (const v1::TraceRow& row : trace.rows()) {
    table.AddRow({row.node_index() < 0 ? "-" : absl::StrCat(row.node_index()),
                  row.op(), row.node(), row.kernel(),
                  FormatNs(static_cast<double>(row.start_ns())),
                  FormatNs(static_cast<double>(row.host_ns())),
                  row.has_device_ns()
                      ? FormatNs(static_cast<double>(row.device_ns()))
                      : "-",
                  FormatBytes(row.size_bytes())});
  }
  table.Print(console);
  if (trace.is_truncated()) {
    console.out << "The first " << trace.rows_size() << " of "
                << trace.launch_count() << " launches.\n";
  }
}

Latency SummarizeLatency(std::vector<int64_t> durations_ns) {
  Latency latency;
  if (durations_ns.empty()) return latency;
  std::sort(durations_ns.begin(), durations_ns.end());
  // The smallest value that at least the fraction q of all do not exceed.
  const auto quantile = [&](double q) {
    const double rank = std::ceil(q * static_cast<double>(durations_ns.size()));
    return durations_ns[static_cast<size_t>(std::max(rank, 1.0)) - 1];
  };
  latency.count = static_cast<int64_t>(durations_ns.size());
  latency.min_ns = durations_ns.front();
  latency.p50_ns = quantile(0.5);
  latency.p99_ns = quantile(0.99);
  latency.max_ns = durations_ns.back();
  return latency;
}

void PrintLatency(const Console& console, const Latency& latency) {
  const auto text = [](int64_t ns) {
    return FormatNs(static_cast<double>(ns));
  };
  console.out << "latency    of " << latency.count << " calls: min "
              << text(latency.min_ns) << ", p50 " << text(latency.p50_ns)
              << ", p99 " << text(latency.p99_ns) << ", max "
              << text(latency.max_ns) << "\n";
}

std::vector<ComparedOutput> CompareOutputs(const DataSet& set,
                                           const v1::ExecuteResponse& response,
                                           const Tolerance& tolerance) {
  std::vector<ComparedOutput> compared;
  for (size_t i = 0; i < set.outputs.size(); ++i) {
    if (i >= static_cast<size_t>(response.outputs_size())) {
      compared.push_back({absl::StrCat("output ", i),
                          {.mismatch = "the answer does not have it"}});
      continue;
    }
    const v1::ExecuteOutput& output = response.outputs(static_cast<int>(i));
    compared.push_back(
        {output.name(), Compare(set.outputs[i], output.tensor(), tolerance)});
  }
  return compared;
}

void PrintComparison(const Console& console, const std::string& set,
                     const std::vector<ComparedOutput>& outputs,
                     const Tolerance& tolerance) {
  for (const ComparedOutput& output : outputs) {
    const Difference& difference = output.difference;
    console.out << (difference.is_within() ? "as expected" : "differs    ")
                << "  " << set << ": " << Printable(output.name) << ", ";
    if (!difference.mismatch.empty()) {
      console.out << difference.mismatch << "\n";
      continue;
    }
    console.out << absl::StrFormat("max abs diff %.3g (rtol %g, atol %g)",
                                   difference.max_abs, tolerance.rtol,
                                   tolerance.atol);
    if (difference.outside_count > 0) {
      console.out << absl::StrFormat(
          "; %d of %d elements outside, the worst at %d: expected %.9g, got "
          "%.9g",
          difference.outside_count, difference.element_count,
          difference.worst_index, difference.worst_expected,
          difference.worst_actual);
    }
    console.out << "\n";
  }
}

Json JsonOfComparison(const std::string& set,
                      const std::vector<ComparedOutput>& outputs) {
  Json list = Json::array();
  for (const ComparedOutput& output : outputs) {
    const Difference& difference = output.difference;
    Json one = {{"output", output.name}, {"is_within", difference.is_within()}};
    if (difference.mismatch.empty()) {
      one["max_abs_diff"] = std::isfinite(difference.max_abs)
                                ? Json(difference.max_abs)
                                : Json("inf");
      one["element_count"] = difference.element_count;
      one["outside_count"] = difference.outside_count;
    } else {
      one["mismatch"] = difference.mismatch;
    }
    list.push_back(std::move(one));
  }
  return {{"data_set", set}, {"outputs", std::move(list)}};
}

absl::Status WriteOutputs(const v1::ExecuteResponse& response,
                          const std::string& folder,
                          std::vector<std::string>& written) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return LocalError(absl::StrCat(folder, ": ", error.message()));
  std::set<std::string> taken;
  for (const v1::ExecuteOutput& output : response.outputs()) {
    if (!output.has_tensor()) continue;
    std::string name = FileNameFor(output.name());
    while (!taken.insert(name).second) name += "_";
    const auto npy = WriteNpy(output.tensor());
    const std::string path =
        absl::StrCat(folder, "/", name, npy.ok() ? ".npy" : ".pb");
    const absl::Status status = WriteFile(
        path,
        npy.ok() ? *npy : WriteOnnxTensor(output.tensor(), output.name()));
    if (!status.ok()) return LocalError(status.message());
    written.push_back(path);
  }
  return absl::OkStatus();
}

}  // namespace tensord::ctl
