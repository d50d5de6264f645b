#include "tools/tensordctl/proto_json.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <nlohmann/json.hpp>

#include "absl/strings/escaping.h"
#include "absl/time/time.h"
#include "tensord/v1/types.pb.h"
#include "tools/tensordctl/json_tensor.h"

namespace tensord::ctl {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Json = nlohmann::ordered_json;

Json JsonOfTime(const google::protobuf::Timestamp& time) {
  return absl::FormatTime(
      absl::RFC3339_full,
      absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos()),
      absl::UTCTimeZone());
}

Json JsonOfEnum(const google::protobuf::EnumDescriptor& type, int number) {
  const auto* value = type.FindValueByNumber(number);
  if (value == nullptr) return number;
  return value->name();
}

// One value of a field: the only one, or that at `index` of a repeated one.
Json JsonOfValue(const Message& message, const FieldDescriptor& field,
                 int index) {
  const Reflection& r = *message.GetReflection();
  const bool many = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return many ? r.GetRepeatedInt32(message, &field, index)
                  : r.GetInt32(message, &field);
    case FieldDescriptor::CPPTYPE_INT64:
      return many ? r.GetRepeatedInt64(message, &field, index)
                  : r.GetInt64(message, &field);
    case FieldDescriptor::CPPTYPE_UINT32:
      return many ? r.GetRepeatedUInt32(message, &field, index)
                  : r.GetUInt32(message, &field);
    case FieldDescriptor::CPPTYPE_UINT64:
      return many ? r.GetRepeatedUInt64(message, &field, index)
                  : r.GetUInt64(message, &field);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return many ? r.GetRepeatedFloat(message, &field, index)
                  : r.GetFloat(message, &field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return many ? r.GetRepeatedDouble(message, &field, index)
                  : r.GetDouble(message, &field);
    case FieldDescriptor::CPPTYPE_BOOL:
      return many ? r.GetRepeatedBool(message, &field, index)
                  : r.GetBool(message, &field);
    case FieldDescriptor::CPPTYPE_ENUM:
      return JsonOfEnum(*field.enum_type(),
                        many ? r.GetRepeatedEnumValue(message, &field, index)
                             : r.GetEnumValue(message, &field));
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string text = many
                                   ? r.GetRepeatedString(message, &field, index)
                                   : r.GetString(message, &field);
      return field.type() == FieldDescriptor::TYPE_BYTES
                 ? absl::BytesToHexString(text)
                 : text;
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return JsonOfMessage(many ? r.GetRepeatedMessage(message, &field, index)
                                : r.GetMessage(message, &field));
  }
  return nullptr;
}

Json JsonOfMap(const Message& message, const FieldDescriptor& field) {
  Json object = Json::object();
  const Reflection& reflection = *message.GetReflection();
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
    const auto& type = *entry.GetDescriptor();
    const Json key = JsonOfValue(entry, *type.map_key(), 0);
    object[key.is_string() ? key.get<std::string>() : key.dump()] =
        JsonOfValue(entry, *type.map_value(), 0);
  }
  return object;
}

}  // namespace

Json JsonOfMessage(const Message& message) {
  if (const auto* time =
          dynamic_cast<const google::protobuf::Timestamp*>(&message)) {
    return JsonOfTime(*time);
  }
  if (const auto* duration =
          dynamic_cast<const google::protobuf::Duration*>(&message)) {
    return static_cast<double>(duration->seconds()) + duration->nanos() * 1e-9;
  }
  const auto* tensor = dynamic_cast<const v1::Tensor*>(&message);
  Json object = Json::object();
  const auto& type = *message.GetDescriptor();
  const Reflection& reflection = *message.GetReflection();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.is_map()) {
      object[field.name()] = JsonOfMap(message, field);
    } else if (field.is_repeated()) {
      Json list = Json::array();
      for (int j = 0; j < reflection.FieldSize(message, &field); ++j) {
        list.push_back(JsonOfValue(message, field, j));
      }
      object[field.name()] = std::move(list);
    } else if (tensor != nullptr &&
               field.number() == v1::Tensor::kDataFieldNumber) {
      object[field.name()] = JsonOfTensor(*tensor);
    } else if (!field.has_presence() || reflection.HasField(message, &field)) {
      object[field.name()] = JsonOfValue(message, field, 0);
    }
  }
  return object;
}

std::string JsonText(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tensord::ctl
