#include "tools/tensordctl/npy.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "tools/tensordctl/elements.h"
#include "tools/tensordctl/type_text.h"

namespace tensord::ctl {
namespace {

constexpr absl::string_view kMagic("\x93NUMPY", 6);
// NumPy pads the header so that the array starts at a multiple of this.
constexpr size_t kAlignment = 64;

struct NpyDType {
  const char* code;  // without byte order
  v1::DType dtype;
};
constexpr NpyDType kDTypes[] = {
    {"f2", v1::DTYPE_FLOAT16}, {"f4", v1::DTYPE_FLOAT32},
    {"f8", v1::DTYPE_FLOAT64}, {"i1", v1::DTYPE_INT8},
    {"i2", v1::DTYPE_INT16},   {"i4", v1::DTYPE_INT32},
    {"i8", v1::DTYPE_INT64},   {"u1", v1::DTYPE_UINT8},
    {"u2", v1::DTYPE_UINT16},  {"u4", v1::DTYPE_UINT32},
    {"u8", v1::DTYPE_UINT64},  {"b1", v1::DTYPE_BOOL}};

struct Header {
  std::string descr;
  bool is_fortran_order = false;
  std::vector<int64_t> dims;
};

// Reads the header, which is the text of a Python dictionary:
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderReader {
 public:
  explicit HeaderReader(absl::string_view text) : whole_(text), rest_(text) {}

  absl::StatusOr<Header> Read() {
    Header header;
    int seen = 0;
    if (!Take("{")) return Wrong("'{'");
    while (!Take("}")) {
      std::string key;
      if (!TakeString(key) || !Take(":")) return Wrong("a key");
      if (key == "descr") {
        if (!TakeString(header.descr))
          return Wrong("the descr of a plain array");
      } else if (key == "fortran_order") {
        if (!TakeBool(header.is_fortran_order)) return Wrong("True or False");
      } else if (key == "shape") {
        if (!TakeTuple(header.dims)) return Wrong("a tuple of extents");
      } else {
        return Wrong("descr, fortran_order or shape");
      }
      ++seen;
      if (!Take(",") && rest_.substr(0, 1) != "}") return Wrong("','");
    }
    if (seen != 3) return Wrong("descr, fortran_order and shape, each once");
    return header;
  }

 private:
  absl::Status Wrong(absl::string_view expected) const {
    constexpr size_t kShown = 80;
    return absl::InvalidArgumentError(
        absl::StrCat("its header needs ", expected, " at byte ",
                     whole_.size() - rest_.size(), ": \"",
                     absl::CHexEscape(whole_.substr(0, kShown)),
                     whole_.size() > kShown ? "...\"" : "\""));
  }

  bool Take(absl::string_view token) {
    rest_ = absl::StripLeadingAsciiWhitespace(rest_);
    return absl::ConsumePrefix(&rest_, token);
  }

  bool TakeString(std::string& value) {
    const absl::string_view quote = Take("'") ? "'" : Take("\"") ? "\"" : "";
    if (quote.empty()) return false;
    const size_t end = rest_.find(quote);
    if (end == absl::string_view::npos) return false;
    value = std::string(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool TakeBool(bool& value) {
    value = Take("True");
    return value || Take("False");
  }

  bool TakeTuple(std::vector<int64_t>& values) {
    if (!Take("(")) return false;
    while (!Take(")")) {
      rest_ = absl::StripLeadingAsciiWhitespace(rest_);
      size_t digits = 0;
      while (digits < rest_.size() && absl::ascii_isdigit(rest_[digits])) {
        ++digits;
      }
      int64_t value = 0;
      if (!absl::SimpleAtoi(rest_.substr(0, digits), &value)) return false;
      values.push_back(value);
      rest_.remove_prefix(digits);
      if (!Take(",") && rest_.substr(0, 1) != ")") return false;
    }
    return true;
  }

  absl::string_view whole_;
  absl::string_view rest_;
};

absl::Status Truncated(absl::string_view what, uint64_t needed,
                       uint64_t there) {
  return absl::InvalidArgumentError(absl::StrCat(
      what, " needs ", needed, " bytes, and ", there, " are there"));
}

// Takes the header's text off `bytes`.
absl::StatusOr<absl::string_view> TakeHeaderText(absl::string_view& bytes) {
  if (!absl::ConsumePrefix(&bytes, kMagic)) {
    return absl::InvalidArgumentError(
        "it does not start with the .npy magic \\x93NUMPY");
  }
  if (bytes.size() < 2) return Truncated("its version", 2, bytes.size());
  const int major = static_cast<unsigned char>(bytes[0]);
  if (major < 1 || major > 3) {
    return absl::InvalidArgumentError(
        absl::StrCat("it is .npy version ", major, ", and 1 to 3 can be read"));
  }
  bytes.remove_prefix(2);
  const size_t length_bytes = major == 1 ? 2 : 4;
  if (bytes.size() < length_bytes) {
    return Truncated("its header length", length_bytes, bytes.size());
  }
  uint64_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) {
    length |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  bytes.remove_prefix(length_bytes);
  if (bytes.size() < length) {
    return Truncated("its header", length, bytes.size());
  }
  const absl::string_view text = bytes.substr(0, length);
  bytes.remove_prefix(length);
  return text;
}

absl::StatusOr<v1::DType> DTypeOfDescr(absl::string_view descr) {
  absl::string_view code = descr;
  if (absl::ConsumePrefix(&code, ">")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "its dtype '", absl::CHexEscape(descr),
        "' is big-endian; save x.astype(x.dtype.newbyteorder('<'))"));
  }
  if (!absl::ConsumePrefix(&code, "<") && !absl::ConsumePrefix(&code, "|")) {
    absl::ConsumePrefix(&code, "=");
  }
  for (const NpyDType& known : kDTypes) {
    if (code == known.code) return known.dtype;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "its dtype '", absl::CHexEscape(descr),
      "' is none of f2, f4, f8, i1, i2, i4, i8, u1, u2, u4, u8, b1"));
}

}  // namespace

absl::StatusOr<v1::Tensor> ReadNpy(absl::string_view bytes) {
  const auto text = TakeHeaderText(bytes);
  if (!text.ok()) return text.status();
  const auto header = HeaderReader(*text).Read();
  if (!header.ok()) return header.status();
  if (header->is_fortran_order) {
    return absl::InvalidArgumentError(
        "it is in Fortran order; save numpy.ascontiguousarray(x)");
  }
  const auto dtype = DTypeOfDescr(header->descr);
  if (!dtype.ok()) return dtype.status();
  const auto size = DataBytes(*dtype, header->dims);
  if (!size.ok()) return size.status();
  if (static_cast<uint64_t>(*size) != bytes.size()) {
    return Truncated(
        absl::StrCat("its ", DTypeText(*dtype), DimsText(header->dims)),
        static_cast<uint64_t>(*size), bytes.size());
  }
  if (*dtype == v1::DTYPE_BOOL &&
      std::any_of(bytes.begin(), bytes.end(),
                  [](char c) { return c != 0 && c != 1; })) {
    return absl::InvalidArgumentError("a bool in it is neither 0 nor 1");
  }
  v1::Tensor tensor;
  tensor.set_dtype(*dtype);
  tensor.mutable_dims()->Add(header->dims.begin(), header->dims.end());
  tensor.set_data(bytes.data(), bytes.size());
  return tensor;
}

absl::StatusOr<std::string> WriteNpy(const v1::Tensor& tensor) {
  const auto* known = std::find_if(
      std::begin(kDTypes), std::end(kDTypes),
      [&](const NpyDType& d) { return d.dtype == tensor.dtype(); });
  if (known == std::end(kDTypes)) {
    return absl::UnimplementedError(
        absl::StrCat("a .npy file has no ", DTypeText(tensor.dtype())));
  }
  const char order = ElementBits(tensor.dtype()) == 8 ? '|' : '<';
  // A tuple of one needs its comma.
  std::string text =
      absl::StrCat("{'descr': '", absl::string_view(&order, 1), known->code,
                   "', 'fortran_order': False, 'shape': (",
                   absl::StrJoin(tensor.dims(), ", "),
                   tensor.dims_size() == 1 ? ",), }" : "), }");
  const size_t prefix = kMagic.size() + 2 + 2;
  const size_t unpadded = prefix + text.size() + 1;
  text.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  text.push_back('\n');
  if (text.size() > 0xffff) {
    return absl::InvalidArgumentError(
        absl::StrCat("a header for rank ", tensor.dims_size(), " needs ",
                     text.size(), " bytes, and version 1 has at most 65535"));
  }
  const char version_and_length[] = {1, 0,
                                     static_cast<char>(text.size() & 0xff),
                                     static_cast<char>(text.size() >> 8)};
  return absl::StrCat(kMagic, absl::string_view(version_and_length, 4), text,
                      tensor.data());
}

}  // namespace tensord::ctl
