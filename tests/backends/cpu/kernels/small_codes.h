#ifndef TENSORD_TESTS_BACKENDS_CPU_KERNELS_SMALL_CODES_H_
#define TENSORD_TESTS_BACKENDS_CPU_KERNELS_SMALL_CODES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/run_op.h"
#include "tests/support/tensor.h"

// Tensors of dtypes of 8 bits and less as lists of their elements' bits.
namespace tensord {

inline constexpr DType kSmallIntegers[] = {DType::kInt4, DType::kUInt4,
                                           DType::kInt2, DType::kUInt2};

inline TestTensor Codes(DType dtype, const std::vector<int>& codes) {
  std::vector<uint8_t> bytes(
      ByteSize(dtype, static_cast<int64_t>(codes.size())));
  for (size_t i = 0; i < codes.size(); ++i) {
    const size_t bit = i * BitWidth(dtype);
    bytes[bit / 8] |= static_cast<uint8_t>(codes[i] << (bit % 8));
  }
  return TensorOfBytes(dtype, Shape({static_cast<int64_t>(codes.size())}),
                       bytes.data(), bytes.size());
}

inline std::vector<int> CodesOf(const TestTensor& x) {
  std::vector<int> codes;
  const int bits = BitWidth(x.dtype);
  for (int64_t i = 0; i < x.shape.element_count(); ++i) {
    const int byte = std::to_integer<int>(x.bytes[i * bits / 8]);
    codes.push_back((byte >> (i * bits % 8)) & ((1 << bits) - 1));
  }
  return codes;
}

inline TestTensor Cast(const TestTensor& x, DType to, bool saturates = true,
                       const std::string& mode = "up") {
  return MustRunOp({.op = "Cast",
                    .inputs = {x},
                    .attributes = {{"to", static_cast<int64_t>(to)},
                                   {"saturate", int64_t{saturates}},
                                   {"round_mode", mode}},
                    .opset = 25});
}

}  // namespace tensord

#endif  // TENSORD_TESTS_BACKENDS_CPU_KERNELS_SMALL_CODES_H_
