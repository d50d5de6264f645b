#include "engine/tune/operand_data.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "backends/api/float16.h"

namespace tensord {
namespace {

// SplitMix64: every seed, 0 included, gives a full sequence.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  // In [0, 1).
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

template <typename T, typename Make>
void Fill(absl::Span<std::byte> bytes, Make make) {
  for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    const T value = make();
    std::memcpy(bytes.data() + i, &value, sizeof(T));
  }
}

// Scales, variances, and inputs of functions that end at 0.
bool IsPositive(const NodeSite& site, int i) {
  switch (site.op) {
    case OpKind::kLog:
    case OpKind::kSqrt:
      return true;
    case OpKind::kPow:
      return i == 0;
    case OpKind::kBatchNormalization:
      return i == 4;
    case OpKind::kQuantizeLinear:
    case OpKind::kDequantizeLinear:
      return i == 1;
    case OpKind::kQLinearConv:
    case OpKind::kQLinearMatMul:
      return i == 1 || i == 4 || i == 6;
    default:
      return false;
  }
}

template <typename T>
void FillFloats(const NodeSite& site, int i, Random& random,
                absl::Span<std::byte> bytes) {
  const bool is_positive = IsPositive(site, i);
  // acosh begins at 1.
  const double base = site.op == OpKind::kAcosh ? 1 : 0x1p-6;
  Fill<T>(bytes, [&] {
    const double size = base + random.Unit() * (1 - 0x1p-6);
    const bool is_negative =
        !is_positive && site.op != OpKind::kAcosh && (random.Next() >> 63) != 0;
    return static_cast<T>(static_cast<float>(is_negative ? -size : size));
  });
}

// Below every extent of the indexed tensor, so valid along any axis; 0 where
// the operand is no index.
int64_t IndexLimit(const NodeSite& site, int i) {
  switch (site.op) {
    case OpKind::kGather:
    case OpKind::kGatherElements:
    case OpKind::kGatherND:
      break;
    default:
      return 0;
  }
  if (i != 1) return 0;
  int64_t limit = std::numeric_limits<int32_t>::max();
  for (int64_t extent : site.input(0).shape.extents()) {
    limit = std::min(limit, extent);
  }
  return limit;
}

// Whether the operator computes with integers rather than reading a shape.
bool IsArithmetic(const NodeSite& site, int i) {
  if (site.input_dtype(i) != site.output_dtype(0)) return false;
  switch (site.op) {
    case OpKind::kAdd:
    case OpKind::kMul:
    case OpKind::kSub:
    case OpKind::kMax:
    case OpKind::kMin:
    case OpKind::kMatMul:
    case OpKind::kGemm:
    case OpKind::kRelu:
      return true;
    default:
      return i == 0 && site.input_count == 1;
  }
}

template <typename T>
absl::Status FillIntegers(const NodeSite& site, int i, Random& random,
                          absl::Span<std::byte> bytes) {
  constexpr int64_t kLargest = 16;  // whose sums of products do not overflow
  int64_t limit = IndexLimit(site, i);
  if (limit == 0 && IsArithmetic(site, i)) limit = kLargest;
  if (limit == 0) {
    return absl::UnimplementedError(absl::StrCat(
        "input ", i, " of ", OpKindName(site.op), " may be a shape"));
  }
  Fill<T>(bytes, [&] {
    return static_cast<T>(random.Next() % static_cast<uint64_t>(limit));
  });
  return absl::OkStatus();
}

}  // namespace

absl::Status FillOperand(const NodeSite& site, int i, uint64_t seed,
                         absl::Span<std::byte> bytes) {
  Random random(seed);
  switch (site.input_dtype(i)) {
    case DType::kFloat32:
      FillFloats<float>(site, i, random, bytes);
      return absl::OkStatus();
    case DType::kFloat64:
      FillFloats<double>(site, i, random, bytes);
      return absl::OkStatus();
    case DType::kFloat16:
      FillFloats<Float16>(site, i, random, bytes);
      return absl::OkStatus();
    case DType::kBFloat16:
      FillFloats<BFloat16>(site, i, random, bytes);
      return absl::OkStatus();
    case DType::kInt8:
    case DType::kUInt8:
      Fill<uint8_t>(bytes,
                    [&] { return static_cast<uint8_t>(random.Next() >> 56); });
      return absl::OkStatus();
    case DType::kBool:
      Fill<uint8_t>(bytes,
                    [&] { return static_cast<uint8_t>(random.Next() >> 63); });
      return absl::OkStatus();
    case DType::kInt32:
      return FillIntegers<int32_t>(site, i, random, bytes);
    case DType::kInt64:
      return FillIntegers<int64_t>(site, i, random, bytes);
    default:
      return absl::UnimplementedError(absl::StrCat(
          "no elements of ", DTypeName(site.input_dtype(i)), " are made up"));
  }
}

}  // namespace tensord
