#include "server/rpc/status_mapping.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/compiled/no_backend_for_op.h"
#include "engine/limit_exceeded.h"
#include "google/rpc/error_details.pb.h"
#include "server/sessions/resource_error.h"
#include "tensord/v1/errors.pb.h"

namespace tensord {
namespace {

constexpr absl::string_view kTypeUrlPrefix = "type.googleapis.com/";
// How long a client waits before it tries a full queue again of which nobody
// knows how fast it moves, and a daemon or device that takes nothing new.
constexpr int kQueueRetryMs = 50;
constexpr int kUnavailableRetryMs = 1000;

absl::StatusCode PublicCode(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kDataLoss:
      return absl::StatusCode::kInternal;
    default:
      return code;
  }
}

// At most `max` bytes, cut between characters.
std::string Cut(absl::string_view text, size_t max) {
  if (text.size() <= max) return std::string(text);
  constexpr absl::string_view kMark = "...";
  size_t end = max - kMark.size();
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) --end;
  return absl::StrCat(text.substr(0, end), kMark);
}

bool IsSeparator(char c) {
  return absl::ascii_isspace(c) || c == '\'' || c == '"' || c == '(' ||
         c == ')' || c == ',' || c == ';';
}

bool LooksLikePath(absl::string_view word) {
  const auto slashes = std::count(word.begin(), word.end(), '/');
  return slashes >= 2 || (slashes == 1 && word.size() > 1 && word[0] == '/');
}

std::string WithoutPaths(absl::string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t end = 0;
    while (end < text.size() && !IsSeparator(text[end])) ++end;
    const absl::string_view word = text.substr(0, end);
    absl::StrAppend(&out, LooksLikePath(word) ? "<path>" : word);
    if (end < text.size()) out += text[end++];
    text.remove_prefix(end);
  }
  return out;
}

google::rpc::RetryInfo RetryAfter(int milliseconds) {
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_seconds(milliseconds / 1000);
  retry.mutable_retry_delay()->set_nanos(milliseconds % 1000 * 1'000'000);
  return retry;
}

int RetryMs(const LimitDetails& limit) {
  if (limit.retry_ns <= 0) return kQueueRetryMs;
  constexpr int64_t kNsPerMs = 1'000'000;
  return static_cast<int>((limit.retry_ns + kNsPerMs - 1) / kNsPerMs);
}

void FillSignature(const DTypeList& dtypes, int input_count,
                   v1::DTypeSignature& out) {
  for (size_t i = 0; i < dtypes.size(); ++i) {
    const auto dtype = static_cast<v1::DType>(dtypes[i]);
    if (static_cast<int>(i) < input_count) {
      out.add_inputs(dtype);
    } else {
      out.add_outputs(dtype);
    }
  }
}

v1::NoBackendForOp ToMessage(const NoBackendForOp& error) {
  v1::NoBackendForOp message;
  message.set_op(error.op);
  message.set_node(error.node);
  FillSignature(error.dtypes, error.input_count, *message.mutable_dtypes());
  message.set_device(std::string(BackendName(error.backend)));
  for (BackendId backend : error.available_backends) {
    message.add_backends(std::string(BackendName(backend)));
  }
  for (const NoBackendForOp::Supported& row : error.supported) {
    const std::string backend(BackendName(row.backend));
    v1::BackendSupport* support =
        message.supported_size() > 0
            ? message.mutable_supported(message.supported_size() - 1)
            : nullptr;
    if (support == nullptr || support->backend() != backend) {
      support = message.add_supported();
      support->set_backend(backend);
    }
    v1::DTypeSignature& signature = *support->add_combinations();
    signature.set_any(row.any_dtypes);
    if (!row.any_dtypes) {
      FillSignature(row.dtypes, row.input_count, signature);
    }
  }
  for (const NoBackendForOp::Declined& row : error.declined) {
    v1::DeclinedKernel& declined = *message.add_declined();
    declined.set_kernel(row.kernel);
    declined.set_backend(std::string(BackendName(row.backend)));
    declined.set_reason(row.reason);
  }
  message.set_node_count(1);
  message.set_is_truncated(error.is_truncated);
  return message;
}

// Drops rows until it has at most `max` bytes.
void Trim(v1::NoBackendForOp& message, size_t max) {
  while (message.ByteSizeLong() > max &&
         message.supported_size() + message.declined_size() > 0) {
    message.set_is_truncated(true);
    if (message.supported_size() >= message.declined_size()) {
      message.mutable_supported()->RemoveLast();
    } else {
      message.mutable_declined()->RemoveLast();
    }
  }
}

v1::LimitExceeded ToMessage(const LimitDetails& details) {
  v1::LimitExceeded message;
  message.set_limit(details.limit);
  message.set_flag(details.Flag());
  message.set_maximum(details.maximum);
  message.set_requested(details.requested);
  message.set_unit(details.unit);
  message.set_scope(details.scope);
  message.set_subject(Cut(details.subject, 128));
  return message;
}

// Adds the detail unless it would make the whole too large.
void AddDetail(google::rpc::Status& rpc, std::string type_url,
               std::string value) {
  google::protobuf::Any& any = *rpc.add_details();
  any.set_type_url(std::move(type_url));
  any.set_value(std::move(value));
  if (rpc.ByteSizeLong() > kMaxErrorDetailsBytes) {
    rpc.mutable_details()->RemoveLast();
  }
}

void AddDetail(google::rpc::Status& rpc,
               const google::protobuf::Message& detail) {
  AddDetail(rpc,
            absl::StrCat(kTypeUrlPrefix, detail.GetDescriptor()->full_name()),
            detail.SerializeAsString());
}

void AddResourceDetail(const ResourceError& error, absl::string_view text,
                       google::rpc::Status& rpc) {
  if (!error.reason.empty()) {
    google::rpc::ErrorInfo info;
    info.set_reason(error.reason);
    info.set_domain("tensord");
    for (const auto& [key, value] : error.metadata) {
      (*info.mutable_metadata())[key] = value;
    }
    AddDetail(rpc, info);
  } else if (!error.resource_type.empty()) {
    google::rpc::ResourceInfo info;
    info.set_resource_type(error.resource_type);
    info.set_resource_name(error.resource_name);
    AddDetail(rpc, info);
  } else if (!error.field.empty()) {
    google::rpc::BadRequest request;
    auto& violation = *request.add_field_violations();
    violation.set_field(error.field);
    violation.set_description(std::string(text));
    AddDetail(rpc, request);
  }
}

void AddDetails(const absl::Status& status, absl::string_view trace_id,
                google::rpc::Status& rpc) {
  // First: of what does not fit, the last ones go.
  if (!trace_id.empty()) {
    google::rpc::RequestInfo info;
    info.set_request_id(std::string(trace_id));
    AddDetail(rpc, info);
  }
  if (auto error = NoBackendForOp::FromStatus(status); error.has_value()) {
    v1::NoBackendForOp message = ToMessage(*error);
    // Room for its own type URL and lengths.
    const size_t used = rpc.ByteSizeLong() + 64;
    Trim(message,
         used < kMaxErrorDetailsBytes ? kMaxErrorDetailsBytes - used : 0);
    AddDetail(rpc, message);
  }
  if (auto limit = LimitDetails::FromStatus(status); limit.has_value()) {
    AddDetail(rpc, ToMessage(*limit));
    if (limit->may_retry) AddDetail(rpc, RetryAfter(RetryMs(*limit)));
  }
  if (auto error = ResourceError::FromStatus(status); error.has_value()) {
    AddResourceDetail(*error, status.message(), rpc);
  }
  status.ForEachPayload(
      [&](absl::string_view type_url, const absl::Cord& value) {
        if (!absl::StartsWith(type_url, kTypeUrlPrefix)) return;
        AddDetail(rpc, std::string(type_url), std::string(value));
      });
  if (status.code() == absl::StatusCode::kUnavailable) {
    AddDetail(rpc, RetryAfter(kUnavailableRetryMs));
  }
}

}  // namespace

google::rpc::Status ToRpcStatus(const absl::Status& status,
                                absl::string_view trace_id) {
  google::rpc::Status rpc;
  const absl::StatusCode code = PublicCode(status.code());
  rpc.set_code(static_cast<int>(code));
  const std::string text = code == absl::StatusCode::kInternal
                               ? WithoutPaths(status.message())
                               : std::string(status.message());
  rpc.set_message(Cut(text, kMaxErrorTextWithDetailsBytes));
  AddDetails(status, trace_id, rpc);
  if (rpc.details().empty()) rpc.set_message(Cut(text, kMaxErrorTextBytes));
  return rpc;
}

grpc::Status ToGrpcStatus(const absl::Status& status,
                          absl::string_view trace_id) {
  if (status.ok()) return grpc::Status::OK;
  const google::rpc::Status rpc = ToRpcStatus(status, trace_id);
  return grpc::Status(
      static_cast<grpc::StatusCode>(rpc.code()), rpc.message(),
      rpc.details().empty() ? std::string() : rpc.SerializeAsString());
}

}  // namespace tensord
