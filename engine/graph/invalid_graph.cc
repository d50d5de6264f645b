#include "engine/graph/invalid_graph.h"

#include "absl/strings/cord.h"
#include "engine/status_payload.h"

namespace tensord {
namespace {

constexpr char kTypeUrl[] = "tensord/InvalidGraphDetails";

}  // namespace

absl::Status InvalidGraphDetails::AddTo(absl::Status status) const {
  if (status.code() != absl::StatusCode::kInvalidArgument) return status;
  PayloadWriter writer;
  for (const std::string* text :
       {&node, &op, &value, &attribute, &description}) {
    writer.Add({text->data(), text->size()});
  }
  status.SetPayload(kTypeUrl, writer.Take());
  return status;
}

std::optional<InvalidGraphDetails> InvalidGraphDetails::FromStatus(
    const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kTypeUrl);
  if (!payload.has_value()) return std::nullopt;
  const std::string bytes(*payload);
  PayloadReader reader({bytes.data(), bytes.size()});
  InvalidGraphDetails details;
  for (std::string* text : {&details.node, &details.op, &details.value,
                            &details.attribute, &details.description}) {
    *text = reader.Text();
  }
  if (!reader.ok()) return std::nullopt;
  return details;
}

InvalidGraphDetails InvalidGraphDetails::Of(const absl::Status& status) {
  if (std::optional<InvalidGraphDetails> details = FromStatus(status)) {
    return *std::move(details);
  }
  InvalidGraphDetails details;
  details.description = std::string(status.message());
  return details;
}

}  // namespace tensord
