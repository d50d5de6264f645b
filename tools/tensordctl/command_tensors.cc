#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tools/tensordctl/arguments.h"
#include "tools/tensordctl/command.h"
#include "tools/tensordctl/errors.h"
#include "tools/tensordctl/files.h"
#include "tools/tensordctl/npy.h"
#include "tools/tensordctl/onnx_tensor.h"
#include "tools/tensordctl/progress_line.h"
#include "tools/tensordctl/proto_json.h"
#include "tools/tensordctl/run_inputs.h"
#include "tools/tensordctl/table.h"
#include "tools/tensordctl/type_text.h"
#include "tools/tensordctl/units.h"

namespace tensord::ctl {
namespace {

constexpr char kUploadExamples[] =
    "  id=$(tensordctl sessions create --quiet)\n"
    "  tensordctl upload x.npy --session $id --device cpu:0\n"
    "  tensordctl run model.onnx --input x=tensor:ID\n";
constexpr char kDownloadExamples[] =
    "  tensordctl download ID y.npy\n"
    "  tensordctl download ID y.pb    # dtypes that NumPy lacks\n";
constexpr char kTensorsExamples[] =
    "  tensordctl tensors\n"
    "  tensordctl tensors --session ID --device cuda\n"
    "  tensordctl tensors delete ID\n";

// A transfer's progress on the console, if that is a terminal.
TransferProgress ProgressOn(ProgressLine& line, const std::string& name) {
  return [&line, name, begin = absl::Now()](int64_t done, int64_t size) {
    line.Show(TransferText(name, done, size, absl::Now() - begin));
  };
}

std::string TypeOf(const v1::TensorInfo& info) {
  return absl::StrCat(DTypeText(info.dtype()), DimsText(info.dims()));
}

// "64.0 MiB in 120 ms, 533 MiB/s".
std::string SpeedText(int64_t size_bytes, absl::Duration elapsed) {
  const double seconds = absl::ToDoubleSeconds(elapsed);
  std::string text =
      absl::StrCat(FormatBytes(size_bytes), " in ", FormatNs(seconds * 1e9));
  if (seconds > 0 && size_bytes > 0) {
    absl::StrAppend(&text, ", ",
                    FormatBytes(static_cast<int64_t>(
                        static_cast<double>(size_bytes) / seconds)),
                    "/s");
  }
  return text;
}

struct UploadCommandOptions {
  std::string path;
  std::string dtype;
  std::string time_to_live;
  bool is_unchecked = false;
  bool quiet = false;
  UploadOptions upload;
};

absl::StatusOr<ExitCode> Upload(const Context& context,
                                const UploadCommandOptions& options) {
  UploadOptions upload = options.upload;
  upload.is_checked = !options.is_unchecked;
  if (!options.time_to_live.empty()) {
    const auto time = ParseTime("--ttl", options.time_to_live);
    if (!time.ok()) return time.status();
    upload.time_to_live = *time;
  }
  const v1::DType dtype = DTypeFromText(options.dtype);
  if (dtype == v1::DTYPE_UNSPECIFIED &&
      (!options.dtype.empty() || absl::EndsWith(options.path, ".json"))) {
    return LocalError(
        options.dtype.empty()
            ? absl::StrCat(options.path, ": a .json file needs --dtype")
            : absl::StrCat("--dtype ", options.dtype, ": there is none"));
  }
  const auto tensor = ReadTensorFile(options.path, dtype);
  if (!tensor.ok()) return tensor.status();
  auto client = context.Connect();
  if (!client.ok()) return client.status();
  ProgressLine line(context.console);
  upload.progress = ProgressOn(line, options.path);
  const absl::Time begin = absl::Now();
  const auto info = client->UploadTensor(*tensor, upload);
  line.Clear();
  if (!info.ok()) return info.status();
  if (context.options.json) {
    context.PrintJson(JsonOfMessage(*info));
  } else if (options.quiet) {
    context.console.out << info->tensor_id() << "\n";
  } else {
    context.console.out << "tensor     " << info->tensor_id() << "\n"
                        << "type       " << TypeOf(*info) << "\n"
                        << "device     " << info->device() << "\n"
                        << "sent       "
                        << SpeedText(info->size_bytes(), absl::Now() - begin)
                        << "\n";
  }
  return ExitCode::kOk;
}

struct DownloadCommandOptions {
  std::string id;
  std::string path;
};

absl::StatusOr<ExitCode> Download(const Context& context,
                                  const DownloadCommandOptions& options) {
  const bool is_proto = absl::EndsWith(options.path, ".pb");
  if (!is_proto && !absl::EndsWith(options.path, ".npy")) {
    return LocalError(absl::StrCat(options.path, ": not a .npy or .pb file"));
  }
  auto client = context.Connect();
  if (!client.ok()) return client.status();
  ProgressLine line(context.console);
  const absl::Time begin = absl::Now();
  const auto tensor = client->DownloadTensor(
      options.id, {.progress = ProgressOn(line, options.path)});
  line.Clear();
  if (!tensor.ok()) return tensor.status();
  const absl::Duration elapsed = absl::Now() - begin;
  std::string bytes;
  if (is_proto) {
    bytes = WriteOnnxTensor(*tensor, options.id);
  } else {
    auto npy = WriteNpy(*tensor);
    if (!npy.ok()) return LocalError(options.path, npy.status());
    bytes = *std::move(npy);
  }
  const absl::Status status = WriteFile(options.path, bytes);
  if (!status.ok()) return LocalError(status.message());
  if (context.options.json) {
    context.PrintJson(
        {{"written", options.path}, {"size_bytes", tensor->data().size()}});
  } else {
    context.console.out << "wrote      " << options.path << " "
                        << TypeText(*tensor) << ", "
                        << SpeedText(
                               static_cast<int64_t>(tensor->data().size()),
                               elapsed)
                        << "\n";
  }
  return ExitCode::kOk;
}

struct TensorsOptions {
  std::string action = "list";
  std::string id;
  v1::ListTensorsRequest filter;
};

absl::StatusOr<ExitCode> List(const Context& context, Client& client,
                              const v1::ListTensorsRequest& filter) {
  const auto tensors = client.ListTensors(filter);
  if (!tensors.ok()) return tensors.status();
  if (context.options.json) {
    auto json = nlohmann::ordered_json::array();
    for (const v1::TensorInfo& info : *tensors) {
      json.push_back(JsonOfMessage(info));
    }
    context.PrintJson({{"tensors", std::move(json)}});
    return ExitCode::kOk;
  }
  Table table({{"TENSOR"},
               {"TYPE"},
               {"SIZE", Align::kRight},
               {"DEVICE"},
               {"SESSION", Align::kLeft, true}});
  for (const v1::TensorInfo& info : *tensors) {
    table.AddRow({info.tensor_id(), TypeOf(info),
                  FormatBytes(info.size_bytes()), info.device(),
                  info.session_id()});
  }
  table.Print(context.console);
  return ExitCode::kOk;
}

absl::StatusOr<ExitCode> Tensors(const Context& context,
                                 const TensorsOptions& options) {
  if ((options.action == "list") != options.id.empty()) {
    return LocalError(options.id.empty() ? options.action + " needs a tensor id"
                                         : "list takes no tensor id");
  }
  auto client = context.Connect();
  if (!client.ok()) return client.status();
  if (options.action == "list") return List(context, *client, options.filter);
  if (options.action == "delete") {
    const absl::Status status = client->DeleteTensor(options.id);
    if (!status.ok()) return status;
    if (context.options.json) {
      context.PrintJson({{"deleted", options.id}});
    } else {
      context.console.out << "deleted    " << Printable(options.id) << "\n";
    }
    return ExitCode::kOk;
  }
  const auto info = client->GetTensor(options.id);
  if (!info.ok()) return info.status();
  if (context.options.json) {
    context.PrintJson(JsonOfMessage(*info));
    return ExitCode::kOk;
  }
  context.console.out << "tensor     " << info->tensor_id() << "\n"
                      << "type       " << TypeOf(*info) << ", "
                      << FormatBytes(info->size_bytes()) << "\n"
                      << "device     " << info->device() << "\n"
                      << "session    " << info->session_id() << "\n";
  return ExitCode::kOk;
}

}  // namespace

void AddUploadCommand(CLI::App& app, CommonOptions& common, Command& chosen) {
  const auto options = std::make_shared<UploadCommandOptions>();
  CLI::App& command = AddCommand(
      app, common, chosen, "upload", "Put a tensor on a device",
      kUploadExamples,
      [options](const Context& context) { return Upload(context, *options); });
  command.add_option("FILE", options->path, "A .npy, .pb or .json file")
      ->required();
  // The session of this connection would end with the command.
  command
      .add_option("--session", options->upload.session_id,
                  "Who owns it (sessions create)")
      ->required();
  command.add_option("--device", options->upload.device,
                     "To this device or backend: cuda:0, cuda");
  command.add_option("--dtype", options->dtype, "Of a .json file's elements");
  command.add_option("--ttl", options->time_to_live,
                     "Free it so long after its last use: 30s, 10m");
  command.add_flag("--no-checksum", options->is_unchecked,
                   "Do not have its SHA-256 checked");
  command.add_flag("-q,--quiet", options->quiet, "Print the tensor id alone");
}

void AddDownloadCommand(CLI::App& app, CommonOptions& common, Command& chosen) {
  const auto options = std::make_shared<DownloadCommandOptions>();
  CLI::App& command = AddCommand(
      app, common, chosen, "download", "Fetch a tensor from its device",
      kDownloadExamples, [options](const Context& context) {
        return Download(context, *options);
      });
  command.add_option("TENSOR", options->id, "The tensor's id")->required();
  command.add_option("FILE", options->path, "The .npy or .pb file to write")
      ->required();
}

void AddTensorsCommand(CLI::App& app, CommonOptions& common, Command& chosen) {
  const auto options = std::make_shared<TensorsOptions>();
  CLI::App& command = AddCommand(
      app, common, chosen, "tensors",
      "List, show or delete your tensors on devices", kTensorsExamples,
      [options](const Context& context) { return Tensors(context, *options); });
  command.add_option("ACTION", options->action, "list, get or delete")
      ->check(CLI::IsMember({"list", "get", "delete"}))
      ->capture_default_str();
  command.add_option("TENSOR", options->id, "A tensor id");
  command.add_option("--session", *options->filter.mutable_session_id(),
                     "list: only this session's");
  command.add_option("--device", *options->filter.mutable_device(),
                     "list: only those on this device or backend");
}

}  // namespace tensord::ctl
