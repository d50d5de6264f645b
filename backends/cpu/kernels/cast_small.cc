// Cast and CastLike from or to dtypes of 8 bits and less that C++ cannot
// compute with: float8, float4, int4, uint4, int2, uint2.
//
//   y[i] = x[i] in y's dtype
//
// x and y are contiguous, have the same shape, and are different buffers.
// Elements of less than a byte are packed, low bits first; the unused bits of
// y's last byte are 0. CastLike's second input is not read.
//
// It goes in blocks through numbers that lose nothing that the result could
// tell: int64 where an integer of 4 or 2 bits is involved (to which a float is
// truncated, as convert.h has it; then the low bits stay), else float32 rounded
// to odd. small_floats.h says how the small floats round, and convert.h the
// other dtypes.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#include "absl/status/statusor.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/convert.h"
#include "backends/cpu/kernels/small_floats.h"

namespace tensord {
namespace {

// Elements of a block: a whole number of bytes, whatever the dtype.
constexpr int64_t kBlock = 256;
constexpr int64_t kGrainBlocks = 16;

bool IsSmallInteger(DType dtype) {
  return dtype == DType::kInt4 || dtype == DType::kUInt4 ||
         dtype == DType::kInt2 || dtype == DType::kUInt2;
}

// One operand's dtype, with what its codes stand for if it is a small one.
struct Codec {
  DType dtype;
  int bits = 0;
  bool saturates = true;
  PowerRounding rounding = PowerRounding::kUp;
  std::array<float, 256> numbers{};
};

// The elements from `begin` on, which is the start of a block, as numbers N.
template <typename N>
using Load = void (*)(const Codec& codec, const std::byte* data, int64_t begin,
                      int64_t count, N* numbers);
template <typename N>
using Store = void (*)(const Codec& codec, const N* numbers, int64_t begin,
                       int64_t count, std::byte* data);

template <typename T, typename N>
void LoadNumbers(const Codec&, const std::byte* data, int64_t begin,
                 int64_t count, N* numbers) {
  const T* x = reinterpret_cast<const T*>(data) + begin;
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<N, float>) {
      numbers[i] = ToOddFloat(static_cast<ComputeType<T>>(x[i]));
    } else {
      numbers[i] = Convert<N>(x[i]);
    }
  }
}

template <typename T, typename N>
void StoreNumbers(const Codec&, const N* numbers, int64_t begin, int64_t count,
                  std::byte* data) {
  T* y = reinterpret_cast<T*>(data) + begin;
  for (int64_t i = 0; i < count; ++i) y[i] = Convert<T>(numbers[i]);
}

template <typename N>
void LoadCodes(const Codec& codec, const std::byte* data, int64_t begin,
               int64_t count, N* numbers) {
  const std::byte* x = data + begin * codec.bits / 8;
  const int mask = (1 << codec.bits) - 1;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t bit = i * codec.bits;
    const int code = (std::to_integer<int>(x[bit / 8]) >> (bit % 8)) & mask;
    numbers[i] = Convert<N>(codec.numbers[code]);
  }
}

template <typename N>
uint8_t Encode(const Codec& codec, N number) {
  if (IsSmallInteger(codec.dtype)) {
    return static_cast<uint8_t>(Convert<int64_t>(number) &
                                ((1 << codec.bits) - 1));
  }
  const auto x = static_cast<float>(number);
  if (codec.dtype == DType::kFloat8E8M0) {
    return EncodePowerOfTwo(x, codec.saturates, codec.rounding);
  }
  return EncodeSmallFloat(*FindSmallFloat(codec.dtype), x, codec.saturates);
}

template <typename N>
void StoreCodes(const Codec& codec, const N* numbers, int64_t begin,
                int64_t count, std::byte* data) {
  std::byte* y = data + begin * codec.bits / 8;
  std::memset(y, 0, ByteSize(codec.dtype, count));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t bit = i * codec.bits;
    y[bit / 8] |=
        static_cast<std::byte>(Encode(codec, numbers[i]) << (bit % 8));
  }
}

// Calls make(T{}) with the type of an element, or make.Codes() for a small
// dtype.
template <typename Make>
auto ForDType(DType dtype, Make make) {
  switch (dtype) {
    case DType::kFloat32:
      return make.template Numbers<float>();
    case DType::kFloat64:
      return make.template Numbers<double>();
    case DType::kFloat16:
      return make.template Numbers<Float16>();
    case DType::kBFloat16:
      return make.template Numbers<BFloat16>();
    case DType::kInt8:
      return make.template Numbers<int8_t>();
    case DType::kInt16:
      return make.template Numbers<int16_t>();
    case DType::kInt32:
      return make.template Numbers<int32_t>();
    case DType::kInt64:
      return make.template Numbers<int64_t>();
    case DType::kUInt8:
      return make.template Numbers<uint8_t>();
    case DType::kUInt16:
      return make.template Numbers<uint16_t>();
    case DType::kUInt32:
      return make.template Numbers<uint32_t>();
    case DType::kUInt64:
      return make.template Numbers<uint64_t>();
    case DType::kBool:
      return make.template Numbers<bool>();
    default:
      return make.Codes();
  }
}

template <typename N>
struct MakeLoad {
  template <typename T>
  Load<N> Numbers() const {
    return &LoadNumbers<T, N>;
  }
  Load<N> Codes() const { return &LoadCodes<N>; }
};

template <typename N>
struct MakeStore {
  template <typename T>
  Store<N> Numbers() const {
    return &StoreNumbers<T, N>;
  }
  Store<N> Codes() const { return &StoreCodes<N>; }
};

template <typename N>
struct Steps {
  Load<N> load;
  Store<N> store;
};

struct SmallCast : KernelState {
  Codec from;
  Codec to;
  bool goes_through_integers;
  Steps<int64_t> integers;
  Steps<float> floats;
};

template <typename N>
void Run(const KernelCall& call, const SmallCast& cast, const Steps<N>& steps) {
  const std::byte* x = call.inputs[0].address();
  std::byte* y = call.outputs[0].address();
  const int64_t elements = call.output_layout(0).shape.element_count();
  call.context.workers->ParallelFor(
      (elements + kBlock - 1) / kBlock, kGrainBlocks,
      [&](int64_t first, int64_t last) {
        std::array<N, kBlock> numbers;
        for (int64_t block = first; block < last; ++block) {
          const int64_t begin = block * kBlock;
          const int64_t count = std::min(kBlock, elements - begin);
          steps.load(cast.from, x, begin, count, numbers.data());
          steps.store(cast.to, numbers.data(), begin, count, y);
        }
      });
}

}  // namespace

absl::StatusOr<std::unique_ptr<KernelState>> PrepareCastSmall(
    const NodeSite& site, Device&) {
  const auto& params = std::get<CastParams>(site.params);
  const DType from = site.input_dtype(0);
  const DType to = site.output_dtype(0);
  auto cast = std::make_unique<SmallCast>();
  cast->from = {.dtype = from, .bits = BitWidth(from)};
  cast->to = {.dtype = to,
              .bits = BitWidth(to),
              .saturates = params.saturates,
              .rounding = params.rounding};
  if (cast->from.bits <= 8) {
    for (int code = 0; code < 1 << cast->from.bits; ++code) {
      cast->from.numbers[code] = DecodeSmall(from, static_cast<uint8_t>(code));
    }
  }
  cast->goes_through_integers = IsSmallInteger(from) || IsSmallInteger(to);
  cast->integers = {ForDType(from, MakeLoad<int64_t>()),
                    ForDType(to, MakeStore<int64_t>())};
  cast->floats = {ForDType(from, MakeLoad<float>()),
                  ForDType(to, MakeStore<float>())};
  return cast;
}

absl::Status RunCastSmall(const KernelCall& call) {
  const auto& cast = static_cast<const SmallCast&>(*call.state);
  if (cast.goes_through_integers) {
    Run(call, cast, cast.integers);
  } else {
    Run(call, cast, cast.floats);
  }
  return absl::OkStatus();
}

}  // namespace tensord
