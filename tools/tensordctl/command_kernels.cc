#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "tools/tensordctl/command.h"
#include "tools/tensordctl/errors.h"
#include "tools/tensordctl/proto_json.h"
#include "tools/tensordctl/table.h"
#include "tools/tensordctl/type_text.h"

namespace tensord::ctl {
namespace {

constexpr char kExamples[] =
    "  tensordctl kernels\n"
    "  tensordctl kernels --op MatMul --backend cpu\n"
    "  tensordctl kernels --dtype float16 -v\n";

struct KernelsOptions {
  std::string op;
  std::string backend;
  std::string dtype;
};

absl::StatusOr<ExitCode> Kernels(const Context& context,
                                 const KernelsOptions& options) {
  v1::ListKernelsRequest request;
  request.set_op(options.op);
  request.set_backend(options.backend);
  request.set_dtype(DTypeFromText(options.dtype));
  if (!options.dtype.empty() && request.dtype() == v1::DTYPE_UNSPECIFIED) {
    return LocalError(absl::StrCat("--dtype ", options.dtype,
                                   ": no dtype, such as float32 or int64"));
  }
  auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto kernels = client->ListKernels(request);
  if (!kernels.ok()) return kernels.status();
  if (context.options.json) {
    auto json = nlohmann::ordered_json::array();
    for (const v1::Kernel& kernel : *kernels) {
      json.push_back(JsonOfMessage(kernel));
    }
    context.PrintJson({{"kernels", std::move(json)}});
    return ExitCode::kOk;
  }
  std::vector<Column> columns = {{"OP"},     {"BACKEND"},
                                 {"KERNEL"}, {"ORDER", Align::kRight},
                                 {"DTYPES"}, {"SOURCE", Align::kLeft, true}};
  if (context.options.verbose) {
    columns.push_back({"REVISION"});
    columns.push_back({"DETERMINISTIC"});
    columns.push_back({"STRIDES"});
  }
  Table table(std::move(columns));
  for (const v1::Kernel& kernel : *kernels) {
    std::vector<std::string> cells = {
        kernel.op(),
        kernel.backend(),
        kernel.name(),
        absl::StrCat(kernel.sibling_index() + 1, "/", kernel.sibling_count()),
        SignatureText(kernel.dtypes()),
        kernel.source()};
    if (context.options.verbose) {
      cells.push_back(kernel.revision_hash());
      cells.push_back(kernel.is_deterministic() ? "yes" : "no");
      cells.push_back(kernel.takes_strided_input() ? "any" : "contiguous");
    }
    table.AddRow(std::move(cells));
  }
  table.Print(context.console);
  return ExitCode::kOk;
}

}  // namespace

void AddKernelsCommand(CLI::App& app, CommonOptions& common, Command& chosen) {
  const auto options = std::make_shared<KernelsOptions>();
  CLI::App& command = AddCommand(
      app, common, chosen, "kernels", "List the kernels that ops are bound to",
      kExamples,
      [options](const Context& context) { return Kernels(context, *options); });
  command.add_option("--op", options->op, "Only this op's: MatMul");
  command.add_option("--backend", options->backend, "Only this backend's");
  command.add_option("--dtype", options->dtype,
                     "Only those that take this dtype: float32");
}

}  // namespace tensord::ctl
