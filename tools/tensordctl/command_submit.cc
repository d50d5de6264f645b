#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/tensordctl/command.h"
#include "tools/tensordctl/errors.h"
#include "tools/tensordctl/graph_name.h"
#include "tools/tensordctl/graph_text.h"
#include "tools/tensordctl/proto_json.h"
#include "tools/tensordctl/shapes.h"
#include "tools/tensordctl/units.h"

namespace tensord::ctl {
namespace {

constexpr char kExamples[] =
    "  tensordctl submit model.onnx\n"
    "  tensordctl submit model.onnx --hint N=1 --hint N=8,W=640\n"
    "  id=$(tensordctl submit model.onnx --quiet)\n";

struct SubmitOptions {
  std::string path;
  std::string precision = "strict";
  bool deterministic = false;
  std::string device;
  std::vector<std::string> disabled_passes;
  std::vector<std::string> hints;
  bool quiet = false;
};

absl::StatusOr<v1::CompileOptions> CompileOptionsOf(
    const SubmitOptions& options) {
  v1::CompileOptions compile;
  compile.set_precision(options.precision == "tf32"   ? v1::PRECISION_ALLOW_TF32
                        : options.precision == "bf16" ? v1::PRECISION_ALLOW_BF16
                                                      : v1::PRECISION_STRICT);
  compile.set_deterministic(options.deterministic);
  compile.set_device(options.device);
  for (const std::string& pass : options.disabled_passes) {
    compile.add_disabled_passes(pass);
  }
  for (const std::string& hint : options.hints) {
    const auto symbols = ParseSymbols(absl::StrSplit(hint, ','));
    if (!symbols.ok()) return symbols.status();
    auto& binding = *compile.add_shape_hints()->mutable_symbols();
    binding.insert(symbols->begin(), symbols->end());
  }
  return compile;
}

absl::StatusOr<ExitCode> Submit(const Context& context,
                                const SubmitOptions& options) {
  const auto compile = CompileOptionsOf(options);
  if (!compile.ok()) return compile.status();
  auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto submitted = SubmitFile(*client, options.path, *compile);
  if (!submitted.ok()) return submitted.status();
  if (context.options.json) {
    context.PrintJson(JsonOfMessage(*submitted));
    return ExitCode::kOk;
  }
  std::ostream& out = context.console.out;
  if (options.quiet) {
    out << submitted->graph_id() << "\n";
    return ExitCode::kOk;
  }
  PrintGraph(context.console, submitted->graph());
  const auto& duration = submitted->compile_duration();
  out << "compiled   in "
      << FormatNs(static_cast<double>(duration.seconds()) * 1e9 +
                  duration.nanos())
      << (submitted->already_known() ? "; you held the graph before" : "")
      << "\n";
  for (const std::string& warning : submitted->warnings()) {
    out << "warning    " << Printable(warning) << "\n";
  }
  return ExitCode::kOk;
}

}  // namespace

void AddSubmitCommand(CLI::App& app, CommonOptions& common, Command& chosen) {
  const auto options = std::make_shared<SubmitOptions>();
  CLI::App& command = AddCommand(
      app, common, chosen, "submit",
      "Submit an ONNX model; prints its graph id", kExamples,
      [options](const Context& context) { return Submit(context, *options); });
  command.add_option("MODEL", options->path, "The ONNX file")->required();
  command
      .add_option("--precision", options->precision,
                  "What float32 arithmetic may become")
      ->check(CLI::IsMember({"strict", "tf32", "bf16"}))
      ->capture_default_str();
  command.add_flag("--deterministic", options->deterministic,
                   "The same bits on every run");
  command.add_option("--device", options->device,
                     "Compile for this device or backend: cpu:0, cpu");
  command
      .add_option("--disable-pass", options->disabled_passes,
                  "Leave a compile pass out (see explain -v)")
      ->allow_extra_args(false);
  command
      .add_option("--hint", options->hints,
                  "Compile for these extents at once: N=1,W=640")
      ->allow_extra_args(false);
  command.add_flag("-q,--quiet", options->quiet, "Print the graph id alone");
}

}  // namespace tensord::ctl
