#include "tools/tensordctl/random_tensor.h"

#include <cmath>
#include <numbers>
#include <random>

#include "absl/strings/str_cat.h"
#include "tools/tensordctl/elements.h"
#include "tools/tensordctl/type_text.h"
#include "tools/tensordctl/units.h"

namespace tensord::ctl {
namespace {

// A typing error in a shape should not take the machine's memory. The daemon's
// default for a whole message is 64 MiB.
constexpr int64_t kMaxBytes = int64_t{1} << 30;

// std::normal_distribution differs between standard libraries, so this is
// written out (Box and Muller's method; one of its two numbers is enough).
class Normal {
 public:
  explicit Normal(uint64_t seed) : random_(seed) {}

  double Next() {
    const double radius = std::sqrt(-2 * std::log(1 - Uniform()));
    return radius * std::cos(2 * std::numbers::pi * Uniform());
  }

  // In [0, 1).
  double Uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

 private:
  std::mt19937_64 random_;
};

template <typename T>
T RandomElement(Normal& random) {
  if constexpr (std::is_same_v<T, Bool>) {
    return {static_cast<uint8_t>(random.Uniform() < 0.5 ? 0 : 1)};
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(random.Uniform() * 10);
  } else {
    return T(static_cast<float>(random.Next()));
  }
}

}  // namespace

absl::StatusOr<v1::Tensor> RandomTensor(v1::DType dtype,
                                        absl::Span<const int64_t> dims,
                                        uint64_t seed) {
  v1::Tensor tensor;
  tensor.set_dtype(dtype);
  tensor.mutable_dims()->Add(dims.begin(), dims.end());
  if (!VisitDType(dtype, [](auto) {})) {
    return absl::UnimplementedError(
        absl::StrCat("no random values for ", DTypeText(dtype)));
  }
  const auto size = DataBytes(dtype, dims);
  if (!size.ok()) return size.status();
  if (*size > kMaxBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        TypeText(tensor), " has ", FormatBytes(*size),
        ", and random tensors have at most ", FormatBytes(kMaxBytes)));
  }
  Normal random(seed);
  VisitDType(dtype, [&]<typename T>(T) {
    std::vector<T> elements(static_cast<size_t>(*size) / sizeof(T));
    for (T& element : elements) element = RandomElement<T>(random);
    tensor.set_data(elements.data(), static_cast<size_t>(*size));
  });
  return tensor;
}

}  // namespace tensord::ctl
