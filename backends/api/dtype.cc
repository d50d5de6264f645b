#include "backends/api/dtype.h"

#include <array>

namespace tensord {
namespace {

struct DTypeFacts {
  absl::string_view name;
  int bits;
};

// Indexed by the dtype's number.
constexpr std::array<DTypeFacts, kDTypeCount> kFacts = {{
    {"undefined", 0},      {"float32", 32},   {"uint8", 8},
    {"int8", 8},           {"uint16", 16},    {"int16", 16},
    {"int32", 32},         {"int64", 64},     {"string", 0},
    {"bool", 8},           {"float16", 16},   {"float64", 64},
    {"uint32", 32},        {"uint64", 64},    {"complex64", 64},
    {"complex128", 128},   {"bfloat16", 16},  {"float8e4m3fn", 8},
    {"float8e4m3fnuz", 8}, {"float8e5m2", 8}, {"float8e5m2fnuz", 8},
    {"uint4", 4},          {"int4", 4},       {"float4e2m1", 4},
    {"float8e8m0", 8},     {"uint2", 2},      {"int2", 2},
}};

const DTypeFacts& Facts(DType dtype) {
  const auto number = static_cast<size_t>(dtype);
  return kFacts[number < kFacts.size() ? number : 0];
}

}  // namespace

absl::string_view DTypeName(DType dtype) { return Facts(dtype).name; }

std::optional<DType> DTypeFromName(absl::string_view name) {
  for (size_t number = 1; number < kFacts.size(); ++number) {
    if (kFacts[number].name == name) return static_cast<DType>(number);
  }
  return std::nullopt;
}

std::optional<DType> DTypeFromNumber(int64_t number) {
  if (number <= 0 || number >= kDTypeCount) return std::nullopt;
  return static_cast<DType>(number);
}

int BitWidth(DType dtype) { return Facts(dtype).bits; }

}  // namespace tensord
