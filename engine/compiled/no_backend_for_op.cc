#include "engine/compiled/no_backend_for_op.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/graph/escape.h"
#include "engine/status_payload.h"

namespace tensord {
namespace {

constexpr absl::string_view kTypeUrl = "tensord.engine/NoBackendForOp";

absl::string_view ListedName(DType dtype) {
  return dtype == DType::kUndefined ? "-" : DTypeName(dtype);
}

void WriteDTypes(const DTypeList& dtypes, int input_count,
                 PayloadWriter& writer) {
  writer.Add(static_cast<int64_t>(dtypes.size()));
  for (DType dtype : dtypes) writer.Add(static_cast<int64_t>(dtype));
  writer.Add(int64_t{input_count});
}

void ReadDTypes(PayloadReader& reader, DTypeList& dtypes, int& input_count) {
  const int64_t count = reader.Number();
  for (int64_t i = 0; i < count && reader.ok(); ++i) {
    dtypes.push_back(static_cast<DType>(reader.Number()));
  }
  input_count = static_cast<int>(reader.Number());
}

std::string Text(const NoBackendForOp& detail) {
  std::string text;
  if (!detail.node.empty()) {
    absl::StrAppend(&text, "node ", Quoted(detail.node), ": ");
  }
  absl::StrAppend(&text, "no kernel for ", Escape(detail.op), "(",
                  DTypeListToString(detail.dtypes, detail.input_count),
                  ") on backend ", BackendName(detail.backend));
  if (detail.available_backends.empty()) {
    absl::StrAppend(&text, "; no backend here has this operator");
  } else {
    absl::StrAppend(&text, "; backends that have the operator: ",
                    absl::StrJoin(detail.available_backends, ", ",
                                  [](std::string* out, BackendId backend) {
                                    absl::StrAppend(out, BackendName(backend));
                                  }));
  }
  for (const NoBackendForOp::Declined& declined : detail.declined) {
    absl::StrAppend(&text, "; ", BackendName(declined.backend), " kernel ",
                    declined.kernel, " declined: ", declined.reason);
  }
  for (const NoBackendForOp::Supported& row : detail.supported) {
    absl::StrAppend(&text, "; ", BackendName(row.backend), " takes ",
                    row.any_dtypes
                        ? std::string("any dtypes")
                        : DTypeListToString(row.dtypes, row.input_count));
  }
  if (detail.is_truncated) absl::StrAppend(&text, "; and more");
  if (text.size() > NoBackendForOp::kMaxTextBytes) {
    text.resize(NoBackendForOp::kMaxTextBytes - 3);
    absl::StrAppend(&text, "...");
  }
  return text;
}

}  // namespace

std::string DTypeListToString(const DTypeList& dtypes, int input_count) {
  std::string text;
  for (int i = 0; i < static_cast<int>(dtypes.size()); ++i) {
    if (i == input_count) {
      absl::StrAppend(&text, i == 0 ? "-> " : " -> ");
    } else if (i > 0) {
      absl::StrAppend(&text, ", ");
    }
    absl::StrAppend(&text, ListedName(dtypes[i]));
  }
  return text;
}

absl::Status NoBackendForOp::ToStatus() const {
  absl::Status status = absl::UnimplementedError(Text(*this));
  PayloadWriter writer;
  writer.Add(absl::string_view(op));
  writer.Add(absl::string_view(node));
  writer.Add(static_cast<int64_t>(backend));
  WriteDTypes(dtypes, input_count, writer);
  writer.Add(static_cast<int64_t>(available_backends.size()));
  for (BackendId id : available_backends) {
    writer.Add(static_cast<int64_t>(id));
  }
  writer.Add(static_cast<int64_t>(supported.size()));
  for (const Supported& row : supported) {
    writer.Add(static_cast<int64_t>(row.backend));
    WriteDTypes(row.dtypes, row.input_count, writer);
    writer.Add(int64_t{row.any_dtypes});
  }
  writer.Add(static_cast<int64_t>(declined.size()));
  for (const Declined& row : declined) {
    writer.Add(static_cast<int64_t>(row.backend));
    writer.Add(absl::string_view(row.kernel));
    writer.Add(absl::string_view(row.reason));
  }
  writer.Add(int64_t{is_truncated});
  status.SetPayload(kTypeUrl, writer.Take());
  return status;
}

std::optional<NoBackendForOp> NoBackendForOp::FromStatus(
    const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kTypeUrl);
  if (!payload.has_value()) return std::nullopt;
  const std::string bytes(*payload);
  PayloadReader reader(bytes);
  NoBackendForOp detail;
  detail.op = reader.Text();
  detail.node = reader.Text();
  detail.backend = static_cast<BackendId>(reader.Number());
  ReadDTypes(reader, detail.dtypes, detail.input_count);
  for (int64_t n = reader.Number(); n > 0 && reader.ok(); --n) {
    detail.available_backends.push_back(
        static_cast<BackendId>(reader.Number()));
  }
  for (int64_t n = reader.Number(); n > 0 && reader.ok(); --n) {
    Supported& row = detail.supported.emplace_back();
    row.backend = static_cast<BackendId>(reader.Number());
    ReadDTypes(reader, row.dtypes, row.input_count);
    row.any_dtypes = reader.Number() != 0;
  }
  for (int64_t n = reader.Number(); n > 0 && reader.ok(); --n) {
    Declined& row = detail.declined.emplace_back();
    row.backend = static_cast<BackendId>(reader.Number());
    row.kernel = reader.Text();
    row.reason = reader.Text();
  }
  detail.is_truncated = reader.Number() != 0;
  if (!reader.ok()) return std::nullopt;
  return detail;
}

absl::Status WithNode(const absl::Status& status, absl::string_view node_name) {
  if (status.ok()) return status;
  if (std::optional<NoBackendForOp> detail =
          NoBackendForOp::FromStatus(status)) {
    detail->node = std::string(node_name);
    return detail->ToStatus();
  }
  absl::Status named(status.code(), absl::StrCat("node ", Quoted(node_name),
                                                 ": ", status.message()));
  status.ForEachPayload(
      [&](absl::string_view type_url, const absl::Cord& payload) {
        named.SetPayload(type_url, payload);
      });
  return named;
}

}  // namespace tensord
