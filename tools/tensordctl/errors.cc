#include "tools/tensordctl/errors.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "clients/cpp/error_details.h"
#include "google/rpc/error_details.pb.h"
#include "tensord/v1/errors.pb.h"
#include "tools/tensordctl/proto_json.h"
#include "tools/tensordctl/type_text.h"
#include "tools/tensordctl/units.h"

namespace tensord::ctl {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kLocalMark[] = "tensordctl/local";

std::string Amount(int64_t amount, absl::string_view unit) {
  if (unit == "bytes") return FormatBytes(amount);
  if (unit == "ns") return FormatNs(static_cast<double>(amount));
  return absl::StrCat(amount, " ", unit);
}

// Details that say more than the text, which has the noun and the numbers.
std::vector<std::string> DetailTexts(const absl::Status& status) {
  std::vector<std::string> texts;
  if (const auto limit = ErrorDetail<v1::LimitExceeded>(status)) {
    texts.push_back(absl::StrCat(
        limit->limit(), " is ", Amount(limit->maximum(), limit->unit()),
        limit->flag().empty() ? "" : absl::StrCat(", set by ", limit->flag())));
  }
  if (const auto graph = ErrorDetail<v1::InvalidGraph>(status)) {
    std::string place = absl::StrJoin(graph->path(), " / ");
    const auto add = [&](absl::string_view what, const std::string& name) {
      if (name.empty()) return;
      absl::StrAppend(&place, place.empty() ? "" : ", ", what, " ", name);
    };
    add("node", graph->node());
    add("op", graph->op());
    add("value", graph->value());
    add("attribute", graph->attribute());
    add("field", graph->field());
    if (!place.empty()) texts.push_back(place);
  }
  if (const auto tensor = ErrorDetail<v1::InvalidTensor>(status)) {
    if (tensor->has_expected()) {
      texts.push_back(absl::StrCat("the graph takes ", tensor->name(), " as ",
                                   TypeText(tensor->expected())));
    }
  }
  if (const auto fault = ErrorDetail<v1::DeviceFault>(status)) {
    texts.push_back(absl::StrCat(
        fault->device(), ": ", fault->driver_error(), " from ",
        fault->driver_call(), fault->is_quarantined() ? ", quarantined" : ""));
  }
  if (const auto info = ErrorDetail<google::rpc::ErrorInfo>(status)) {
    texts.push_back(absl::StrCat("reason ", info->reason()));
  }
  // All errors have one; what went wrong is in the log for some only.
  const auto request = ErrorDetail<google::rpc::RequestInfo>(status);
  if (request && status.code() == absl::StatusCode::kInternal) {
    texts.push_back(absl::StrCat("trace id ", request->request_id()));
  }
  if (const auto delay = RetryDelay(status)) {
    texts.push_back(absl::StrCat("retry after ",
                                 FormatNs(absl::ToDoubleNanoseconds(*delay))));
  }
  return texts;
}

template <typename Message>
void AddDetail(const absl::Status& status, Json& details) {
  const auto detail = ErrorDetail<Message>(status);
  if (!detail) return;
  details[Message::descriptor()->name()] = JsonOfMessage(*detail);
}

}  // namespace

absl::Status LocalError(absl::string_view text) {
  absl::Status status = absl::InvalidArgumentError(text);
  status.SetPayload(kLocalMark, absl::Cord());
  return status;
}

absl::Status LocalError(absl::string_view what, const absl::Status& status) {
  return LocalError(absl::StrCat(what, ": ", status.message()));
}

bool IsLocalError(const absl::Status& status) {
  return status.GetPayload(kLocalMark).has_value();
}

std::string ErrorLine(const absl::Status& status) {
  if (IsLocalError(status)) return Printable(status.message());
  std::string line = absl::StrCat(absl::StatusCodeToString(status.code()), ": ",
                                  status.message());
  const std::vector<std::string> texts = DetailTexts(status);
  if (!texts.empty()) {
    absl::StrAppend(&line, " [", absl::StrJoin(texts, "; "), "]");
  }
  return Printable(line);
}

std::string ErrorBlock(const absl::Status& status) {
  const auto detail = ErrorDetail<v1::NoBackendForOp>(status);
  if (!detail) return "";
  std::vector<std::string> lines;
  lines.push_back(absl::StrCat(
      "op         ", detail->op(),
      detail->node().empty() ? ""
                             : absl::StrCat(" (node ", detail->node(), ")"),
      detail->node_count() > 1
          ? absl::StrCat(", and ", detail->node_count() - 1,
                         " more nodes without a kernel")
          : ""));
  // An op that nobody knows is refused before its dtypes are inferred.
  if (detail->dtypes().inputs_size() + detail->dtypes().outputs_size() > 0) {
    lines.push_back(
        absl::StrCat("dtypes     ", SignatureText(detail->dtypes())));
  }
  lines.push_back(absl::StrCat("asked for  ", detail->device().empty()
                                                  ? "any device"
                                                  : detail->device()));
  lines.push_back(absl::StrCat("backends   ",
                               detail->backends().empty()
                                   ? "none has this op"
                                   : absl::StrJoin(detail->backends(), ", ")));
  for (const v1::BackendSupport& support : detail->supported()) {
    for (const v1::DTypeSignature& combination : support.combinations()) {
      lines.push_back(absl::StrCat("supported  ", support.backend(), ": ",
                                   SignatureText(combination)));
    }
  }
  for (const v1::DeclinedKernel& kernel : detail->declined()) {
    lines.push_back(absl::StrCat("declined   ", kernel.backend(), " ",
                                 kernel.kernel(), ": ", kernel.reason()));
  }
  if (detail->is_truncated()) {
    lines.push_back("more       see: tensordctl kernels --op " + detail->op());
  }
  std::string block;
  for (const std::string& line : lines) {
    absl::StrAppend(&block, "  ", Printable(line), "\n");
  }
  return block;
}

Json JsonOfError(const absl::Status& status) {
  Json json;
  json["code"] =
      IsLocalError(status) ? "USAGE" : absl::StatusCodeToString(status.code());
  json["message"] = std::string(status.message());
  Json details = Json::object();
  AddDetail<v1::NoBackendForOp>(status, details);
  AddDetail<v1::LimitExceeded>(status, details);
  AddDetail<v1::InvalidGraph>(status, details);
  AddDetail<v1::InvalidTensor>(status, details);
  AddDetail<v1::DeviceFault>(status, details);
  AddDetail<google::rpc::ErrorInfo>(status, details);
  AddDetail<google::rpc::BadRequest>(status, details);
  AddDetail<google::rpc::ResourceInfo>(status, details);
  AddDetail<google::rpc::RetryInfo>(status, details);
  AddDetail<google::rpc::RequestInfo>(status, details);
  if (!details.empty()) json["details"] = std::move(details);
  return json;
}

void PrintError(const Console& console, const absl::Status& status,
                bool as_json) {
  if (as_json) {
    console.err << JsonText({{"error", JsonOfError(status)}}) << "\n";
    return;
  }
  const char* const start = console.colour_err ? "\x1b[31m" : "";
  const char* const end = console.colour_err ? "\x1b[0m" : "";
  console.err << start << "tensordctl: " << end << ErrorLine(status) << "\n"
              << ErrorBlock(status);
}

}  // namespace tensord::ctl
