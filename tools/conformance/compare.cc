#include "tools/conformance/compare.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "tools/conformance/numbers.h"
#include "tools/tensordctl/console.h"
#include "tools/tensordctl/type_text.h"

namespace tensord::conformance {
namespace {

bool IsWithin(Number expected, Number got, const Tolerance& tolerance) {
  // An infinite expectation would allow anything.
  if (!std::isfinite(expected) || !std::isfinite(got)) return false;
  return std::abs(got - expected) <=
         tolerance.atol + tolerance.rtol * std::abs(expected);
}

bool IsSame(Number expected, Number got) {
  return expected == got || (std::isnan(expected) && std::isnan(got));
}

std::string IndexText(const v1::Tensor& tensor, int64_t flat) {
  std::vector<int64_t> index(tensor.dims_size());
  for (int i = tensor.dims_size() - 1; i >= 0; --i) {
    index[i] = flat % tensor.dims(i);
    flat /= tensor.dims(i);
  }
  return ctl::DimsText(index);
}

// Compares one tensor after another, and keeps what the whole run came to.
class Comparer {
 public:
  Comparer(const ComparisonRule& rule,
           absl::Span<const v1::ExecuteInput> inputs)
      : rule_(rule) {
    if (!rule.out_of_range_is_undefined || inputs.empty()) return;
    auto numbers = Numbers(inputs[0].tensor());
    if (numbers.ok()) first_input_ = *std::move(numbers);
  }

  // The difference is about `what`, such as "output 0 'y'".
  void Compare(const std::string& what, const v1::ExecuteOutput& expected,
               const v1::ExecuteOutput& got) {
    if (expected.value_case() != got.value_case()) {
      Fail(absl::StrCat(what, " is ", KindText(got), ", expected ",
                        KindText(expected)));
    } else if (expected.has_tensor()) {
      Compare(what, expected.tensor(), got.tensor());
    } else if (expected.has_sequence()) {
      Compare(what, expected.sequence(), got.sequence());
    }
  }

  Comparison TakeResult() { return std::move(result_); }

 private:
  static std::string KindText(const v1::ExecuteOutput& output) {
    switch (output.value_case()) {
      case v1::ExecuteOutput::kTensor:
        return ctl::TypeText(output.tensor());
      case v1::ExecuteOutput::kSequence:
        return absl::StrCat("a sequence of ", output.sequence().tensors_size());
      case v1::ExecuteOutput::kIsAbsent:
        return "absent";
      default:
        return "no value";
    }
  }

  void Compare(const std::string& what, const v1::TensorSequence& expected,
               const v1::TensorSequence& got) {
    if (expected.dtype() != got.dtype() ||
        expected.tensors_size() != got.tensors_size()) {
      Fail(absl::StrCat(what, " is a sequence of ", got.tensors_size(), " ",
                        ctl::DTypeText(got.dtype()), ", expected ",
                        expected.tensors_size(), " ",
                        ctl::DTypeText(expected.dtype())));
      return;
    }
    for (int i = 0; i < expected.tensors_size(); ++i) {
      Compare(absl::StrCat(what, " at ", i), expected.tensors(i),
              got.tensors(i));
    }
  }

  void Compare(const std::string& what, const v1::Tensor& expected,
               const v1::Tensor& got) {
    if (expected.dtype() != got.dtype() ||
        !absl::c_equal(expected.dims(), got.dims())) {
      Fail(absl::StrCat(what, " is ", ctl::TypeText(got), ", expected ",
                        ctl::TypeText(expected)));
    } else if (expected.dtype() == v1::DTYPE_STRING) {
      CompareStrings(what, expected, got);
    } else {
      CompareNumbers(what, expected, got);
    }
  }

  void CompareStrings(const std::string& what, const v1::Tensor& expected,
                      const v1::Tensor& got) {
    const auto wanted = Strings(expected);
    const auto found = Strings(got);
    if (!wanted.ok() || !found.ok()) {
      Fail(absl::StrCat(what, ": ",
                        (wanted.ok() ? found : wanted).status().message()));
      return;
    }
    if (rule_.types_only) return;
    for (size_t i = 0; i < wanted->size(); ++i) {
      if ((*wanted)[i] == (*found)[i]) continue;
      FailByValue(absl::StrCat(what, ": element ", IndexText(expected, i),
                               " is \"", absl::CHexEscape((*found)[i]),
                               "\", expected \"",
                               absl::CHexEscape((*wanted)[i]), "\""));
      return;
    }
  }

  void CompareNumbers(const std::string& what, const v1::Tensor& expected,
                      const v1::Tensor& got) {
    const auto wanted = Numbers(expected);
    const auto found = Numbers(got);
    if (!wanted.ok() || !found.ok()) {
      Fail(absl::StrCat(what, ": ",
                        (wanted.ok() ? found : wanted).status().message()));
      return;
    }
    if (rule_.types_only) return;
    int64_t different_count = 0;
    size_t first = 0;
    for (size_t i = 0; i < wanted->size(); ++i) {
      if (IsRight(expected.dtype(), i, (*wanted)[i], (*found)[i])) continue;
      if (different_count++ == 0) first = i;
    }
    if (different_count == 0) return;
    const bool is_complex = expected.dtype() == v1::DTYPE_COMPLEX64 ||
                            expected.dtype() == v1::DTYPE_COMPLEX128;
    FailByValue(absl::StrCat(
        what, ": element ", IndexText(expected, is_complex ? first / 2 : first),
        " is ", NumberText(expected.dtype(), (*found)[first]), ", expected ",
        NumberText(expected.dtype(), (*wanted)[first]), " (", different_count,
        " of ", wanted->size(), " differ)"));
  }

  bool IsRight(v1::DType dtype, size_t place, Number expected, Number got) {
    if (IsSame(expected, got)) return true;
    if (IsInteger(dtype)) {
      if (std::abs(got - expected) <= rule_.integer_levels) return true;
    } else {
      if (IsWithin(expected, got, rule_.tolerance)) return true;
      if (rule_.wider && IsWithin(expected, got, *rule_.wider)) {
        ++result_.wider_count;
        return true;
      }
      if (rule_.lowest_is_infinity && IsLowest(dtype, expected) &&
          IsLowest(dtype, got)) {
        return true;
      }
    }
    if (!IsUndefined(dtype, place)) return false;
    ++result_.undefined_count;
    return true;
  }

  static bool IsLowest(v1::DType dtype, Number number) {
    return number <= FiniteRange(dtype).lowest;
  }

  bool IsUndefined(v1::DType dtype, size_t place) const {
    if (place >= first_input_.size()) return false;
    const Range range = FiniteRange(dtype);
    const Number input = first_input_[place];
    // A NaN is in no range.
    return !(input >= range.lowest && input <= range.highest);
  }

  void FailByValue(std::string difference) {
    if (!result_.difference.empty()) return;
    result_.is_of_values = true;
    result_.difference = std::move(difference);
  }

  // Says more than a difference of values, and takes its place.
  void Fail(std::string difference) {
    if (!result_.difference.empty() && !result_.is_of_values) return;
    result_.is_of_values = false;
    result_.difference = std::move(difference);
  }

  const ComparisonRule& rule_;
  std::vector<Number> first_input_;
  Comparison result_;
};

}  // namespace

Comparison CompareOutputs(absl::Span<const v1::ExecuteOutput> expected,
                          absl::Span<const v1::ExecuteOutput> got,
                          absl::Span<const v1::ExecuteInput> inputs,
                          const ComparisonRule& rule) {
  if (expected.size() != got.size()) {
    Comparison result;
    result.difference =
        absl::StrCat(got.size(), " outputs came, expected ", expected.size());
    return result;
  }
  Comparer comparer(rule, inputs);
  for (size_t i = 0; i < expected.size(); ++i) {
    comparer.Compare(absl::StrCat("output ", i, " '",
                                  ctl::Printable(expected[i].name()), "'"),
                     expected[i], got[i]);
  }
  return comparer.TakeResult();
}

}  // namespace tensord::conformance
