#include "tools/tensordctl/json_tensor.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/tensordctl/elements.h"
#include "tools/tensordctl/type_text.h"

namespace tensord::ctl {
namespace {

using Json = nlohmann::ordered_json;

// No tensor has so many extents, and recursion must end somewhere.
constexpr size_t kMaxRank = 64;

std::string PlaceText(absl::Span<const int64_t> place) {
  return absl::StrCat("at [", absl::StrJoin(place, "]["), "]: ");
}

// What is there in place of an element. Lists are not shown: they may be nested
// deeper than dump() can recurse.
std::string TextOf(const Json& json) {
  if (json.is_array()) return "a list";
  if (json.is_object()) return "an object";
  constexpr size_t kShown = 40;
  return json.dump(-1, ' ', true, Json::error_handler_t::replace)
      .substr(0, kShown);
}

bool NumberOf(const Json& json, double& value) {
  if (json.is_number()) {
    value = json.get<double>();
    return true;
  }
  if (!json.is_string()) return false;
  const std::string& text = json.get_ref<const std::string&>();
  if (text == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (text == "inf") {
    value = std::numeric_limits<double>::infinity();
  } else if (text == "-inf") {
    value = -std::numeric_limits<double>::infinity();
  } else {
    return false;
  }
  return true;
}

template <typename T>
bool IntegerOf(const Json& json, T& value) {
  if (json.is_number_unsigned()) {
    value = static_cast<T>(json.get<uint64_t>());
    return std::in_range<T>(json.get<uint64_t>());
  }
  if (json.is_number_integer()) {
    value = static_cast<T>(json.get<int64_t>());
    return std::in_range<T>(json.get<int64_t>());
  }
  // 3.0 is an integer to many programs that write JSON.
  double number = 0;
  constexpr double kExact = 0x1p53;
  if (!json.is_number_float()) return false;
  number = json.get<double>();
  if (number != std::floor(number) || std::abs(number) > kExact) return false;
  value = static_cast<T>(static_cast<int64_t>(number));
  return std::in_range<T>(static_cast<int64_t>(number));
}

template <typename T>
bool ElementOf(const Json& json, T& element) {
  if constexpr (std::is_same_v<T, Bool>) {
    int64_t number = 0;
    if (json.is_boolean()) {
      element.value = json.get<bool>() ? 1 : 0;
      return true;
    }
    if (!IntegerOf(json, number) || number < 0 || number > 1) return false;
    element.value = static_cast<uint8_t>(number);
    return true;
  } else if constexpr (std::is_integral_v<T>) {
    return IntegerOf(json, element);
  } else {
    double number = 0;
    if (!NumberOf(json, number)) return false;
    if constexpr (std::is_same_v<T, double>) {
      element = number;
    } else {
      element = T(static_cast<float>(number));
    }
    return true;
  }
}

template <typename T>
class Reader {
 public:
  explicit Reader(v1::Tensor& tensor) : tensor_(tensor) {}

  absl::Status Read(const Json& json) {
    // The first element of each level tells the extents; Append() checks the
    // others against them.
    for (const Json* level = &json; level->is_array();
         level = &level->front()) {
      if (static_cast<size_t>(tensor_.dims_size()) == kMaxRank) {
        return absl::InvalidArgumentError(
            absl::StrCat("more than ", kMaxRank, " lists in one another"));
      }
      tensor_.add_dims(static_cast<int64_t>(level->size()));
      if (level->empty()) break;
    }
    return Append(json);
  }

 private:
  absl::Status Append(const Json& json) {
    const size_t depth = place_.size();
    if (depth == static_cast<size_t>(tensor_.dims_size())) {
      return AppendElement(json);
    }
    const int64_t extent = tensor_.dims(static_cast<int>(depth));
    if (!json.is_array() || static_cast<int64_t>(json.size()) != extent) {
      return absl::InvalidArgumentError(absl::StrCat(
          PlaceText(place_), "a list of ", extent, " was expected, and ",
          json.is_array() ? absl::StrCat("one of ", json.size())
                          : std::string(json.type_name()),
          " is there"));
    }
    place_.push_back(0);
    for (const Json& item : json) {
      const absl::Status status = Append(item);
      if (!status.ok()) return status;
      ++place_.back();
    }
    place_.pop_back();
    return absl::OkStatus();
  }

  absl::Status AppendElement(const Json& json) {
    T element{};
    if (!ElementOf(json, element)) {
      return absl::InvalidArgumentError(
          absl::StrCat(PlaceText(place_), TextOf(json), " is no ",
                       DTypeText(tensor_.dtype())));
    }
    tensor_.mutable_data()->append(reinterpret_cast<const char*>(&element),
                                   sizeof(element));
    return absl::OkStatus();
  }

  v1::Tensor& tensor_;
  std::vector<int64_t> place_;
};

template <typename T>
Json JsonOfElement(T element) {
  if constexpr (std::is_same_v<T, Bool>) {
    return element.value != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return element;
  } else {
    const double value = AsDouble(element);
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    if constexpr (!std::is_same_v<T, double>) {
      // The fewest digits that name this float32: 0.1, which as a double would
      // be 0.10000000149011612.
      char digits[32];
      *std::to_chars(digits, digits + sizeof(digits) - 1,
                     static_cast<float>(value))
           .ptr = '\0';
      return std::strtod(digits, nullptr);
    }
    return value;
  }
}

template <typename T>
Json Nest(absl::Span<const T>& elements, absl::Span<const int64_t> dims) {
  if (dims.empty()) {
    if (elements.empty()) return nullptr;
    Json element = JsonOfElement(elements.front());
    elements.remove_prefix(1);
    return element;
  }
  Json list = Json::array();
  for (int64_t i = 0; i < dims.front(); ++i) {
    // A size that is not the dims' is the server's fault; stop with the data.
    if (elements.empty()) break;
    list.push_back(Nest(elements, dims.subspan(1)));
  }
  return list;
}

}  // namespace

absl::StatusOr<v1::Tensor> ReadJsonTensor(absl::string_view text,
                                          v1::DType dtype) {
  Json json;
  try {
    json = Json::parse(text.begin(), text.end());
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(error.what());
  }
  v1::Tensor tensor;
  tensor.set_dtype(dtype);
  absl::Status status = absl::UnimplementedError(absl::StrCat(
      "JSON has no elements of ", DTypeText(dtype), "; use a .pb file"));
  VisitDType(dtype,
             [&]<typename T>(T) { status = Reader<T>(tensor).Read(json); });
  if (!status.ok()) return status;
  return tensor;
}

Json JsonOfTensor(const v1::Tensor& tensor) {
  Json json;
  VisitDType(tensor.dtype(), [&]<typename T>(T) {
    const std::vector<T> elements = Elements<T>(tensor);
    absl::Span<const T> rest = elements;
    json = Nest(rest, tensor.dims());
  });
  return json;
}

}  // namespace tensord::ctl
