#include "engine/graph/attributes.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"

namespace tensord {
namespace {

// In the order of Attribute's alternatives.
constexpr std::array<absl::string_view, std::variant_size_v<Attribute>>
    kTypeNames = {"int",  "float",  "string",  "tensor",
                  "ints", "floats", "strings", "graph"};

template <typename T>
absl::StatusOr<T> GetOr(const Attribute* attribute, absl::string_view name,
                        T absent) {
  if (attribute == nullptr) return absent;
  if (const T* value = std::get_if<T>(attribute)) return *value;
  static const absl::string_view expected = AttributeTypeName(Attribute(T()));
  return absl::InvalidArgumentError(absl::StrCat(
      "attribute ", Quoted(name), " has type ", AttributeTypeName(*attribute),
      "; it should be of type ", expected));
}

}  // namespace

absl::string_view AttributeTypeName(const Attribute& attribute) {
  return kTypeNames[attribute.index()];
}

bool Attributes::Add(std::string name, Attribute value) {
  return values_.try_emplace(std::move(name), std::move(value)).second;
}

std::optional<Attribute> Attributes::Take(absl::string_view name) {
  auto taken = values_.extract(name);
  if (taken.empty()) return std::nullopt;
  return std::move(taken.mapped());
}

const Attribute* Attributes::Find(absl::string_view name) const {
  const auto it = values_.find(name);
  return it == values_.end() ? nullptr : &it->second;
}

std::vector<absl::string_view> Attributes::Names() const {
  std::vector<absl::string_view> names;
  names.reserve(values_.size());
  for (const auto& [name, value] : values_) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<int64_t> Attributes::Int(absl::string_view name,
                                        int64_t absent) const {
  return GetOr<int64_t>(Find(name), name, absent);
}

absl::StatusOr<float> Attributes::Float(absl::string_view name,
                                        float absent) const {
  return GetOr<float>(Find(name), name, absent);
}

absl::StatusOr<std::string> Attributes::String(absl::string_view name,
                                               absl::string_view absent) const {
  return GetOr<std::string>(Find(name), name, std::string(absent));
}

absl::StatusOr<std::vector<int64_t>> Attributes::Ints(
    absl::string_view name) const {
  return GetOr<std::vector<int64_t>>(Find(name), name, {});
}

absl::StatusOr<std::vector<float>> Attributes::Floats(
    absl::string_view name) const {
  return GetOr<std::vector<float>>(Find(name), name, {});
}

absl::StatusOr<std::vector<std::string>> Attributes::Strings(
    absl::string_view name) const {
  return GetOr<std::vector<std::string>>(Find(name), name, {});
}

absl::StatusOr<HostTensor> Attributes::Tensor(absl::string_view name) const {
  return GetOr<HostTensor>(Find(name), name, HostTensor());
}

}  // namespace tensord
