#include "tools/tensordctl/type_text.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "tools/tensordctl/console.h"

namespace tensord::ctl {
namespace {

std::string DimText(const v1::Dim& dim) {
  const std::string bound =
      dim.has_max_size() ? absl::StrCat("<=", dim.max_size()) : "";
  switch (dim.extent_case()) {
    case v1::Dim::kSize:
      return absl::StrCat(dim.size());
    case v1::Dim::kSymbol:
      return absl::StrCat(Printable(dim.symbol()), bound);
    case v1::Dim::EXTENT_NOT_SET:
      break;
  }
  return absl::StrCat("?", bound);
}

std::string DTypesText(const google::protobuf::RepeatedField<int>& dtypes) {
  return absl::StrJoin(dtypes, ",", [](std::string* out, int dtype) {
    out->append(DTypeText(static_cast<v1::DType>(dtype)));
  });
}

}  // namespace

std::string DTypeText(v1::DType dtype) {
  if (dtype == v1::DTYPE_UNSPECIFIED) return "?";
  if (!v1::DType_IsValid(dtype)) return absl::StrCat("dtype", int{dtype});
  const std::string& name = v1::DType_Name(dtype);
  return absl::AsciiStrToLower(
      absl::StripPrefix(absl::string_view(name), "DTYPE_"));
}

v1::DType DTypeFromText(absl::string_view text) {
  v1::DType dtype;
  if (v1::DType_Parse(absl::StrCat("DTYPE_", absl::AsciiStrToUpper(text)),
                      &dtype)) {
    return dtype;
  }
  return v1::DTYPE_UNSPECIFIED;
}

std::string DimsText(absl::Span<const int64_t> dims) {
  return absl::StrCat("[", absl::StrJoin(dims, ","), "]");
}

std::string TypeText(const v1::ValueInfo& value) {
  std::string dims;
  if (value.rank_unknown()) {
    dims = "...";
  } else {
    dims = absl::StrJoin(value.dims(), ",",
                         [](std::string* out, const v1::Dim& dim) {
                           out->append(DimText(dim));
                         });
  }
  const std::string tensor =
      absl::StrCat(DTypeText(value.dtype()), "[", dims, "]");
  switch (value.kind()) {
    case v1::VALUE_KIND_SEQUENCE:
      return absl::StrCat("sequence of ", tensor);
    case v1::VALUE_KIND_OPTIONAL_TENSOR:
      return absl::StrCat("optional ", tensor);
    case v1::VALUE_KIND_OPTIONAL_SEQUENCE:
      return absl::StrCat("optional sequence of ", tensor);
    default:
      return tensor;
  }
}

std::string TypeText(const v1::Tensor& tensor) {
  return absl::StrCat(DTypeText(tensor.dtype()), DimsText(tensor.dims()));
}

std::string SignatureText(const v1::DTypeSignature& signature) {
  if (signature.any()) return "any";
  return absl::StrCat(DTypesText(signature.inputs()), " -> ",
                      DTypesText(signature.outputs()));
}

}  // namespace tensord::ctl
