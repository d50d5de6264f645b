#ifndef TENSORD_TESTS_ENGINE_OPS_INFER_TEST_H_
#define TENSORD_TESTS_ENGINE_OPS_INFER_TEST_H_

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {

using Ints = std::vector<int64_t>;

// Shape inference of one operator, with dims given as numbers or as the names
// of symbols, and answered as text: "float32 [N, 64, 112, 112]".
class InferTest : public ::testing::Test {
 protected:
  using NamedDim = std::variant<int, const char*>;

  TensorType Type(std::vector<NamedDim> dims, DType dtype = DType::kFloat32) {
    SymbolicShape shape;
    for (const NamedDim& dim : dims) {
      shape.push_back(std::holds_alternative<int>(dim)
                          ? Dim::Known(std::get<int>(dim))
                          : symbols_.Named(std::get<const char*>(dim)));
    }
    return {dtype, shape};
  }
  TensorType Type(DType dtype, std::vector<NamedDim> dims) {
    return Type(std::move(dims), dtype);
  }

  // Output 0.
  std::string Infer(const TypedCase& test) {
    const absl::StatusOr<InferredCase> inferred = InferOp(test, symbols_);
    if (!inferred.ok()) return inferred.status().ToString();
    const TensorType& type = inferred->outputs[0];
    return absl::StrCat(DTypeName(type.dtype), " ",
                        symbols_.ToString(*type.shape));
  }

  // A value that is known before the run; pass its type as the input too.
  static HostTensor Known(const Ints& values) {
    return HostTensor::Int64s(values);
  }
  TensorType Int64s(int count) { return Type(DType::kInt64, {count}); }

  SymbolTable symbols_;
};

inline auto IsRefusal(const std::string& text) {
  return ::testing::AllOf(::testing::StartsWith("INVALID_ARGUMENT"),
                          ::testing::HasSubstr(text));
}
inline auto IsUnsupported(const std::string& text) {
  return ::testing::AllOf(::testing::StartsWith("UNIMPLEMENTED"),
                          ::testing::HasSubstr(text));
}
// The shape depends on the value of an input that is not known.
inline auto NeedsInput(int i) {
  return IsUnsupported(
      absl::StrCat("follows from the value of input ", i, ","));
}

}  // namespace tensord

#endif  // TENSORD_TESTS_ENGINE_OPS_INFER_TEST_H_
