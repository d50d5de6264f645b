#include "tests/support/graph_maker.h"

namespace tensord {

HostTensor FloatTensor(Shape shape, float first) {
  return HostTensor::Make(
      DType::kFloat32, std::move(shape), [&](absl::Span<std::byte> bytes) {
        auto* values = reinterpret_cast<float*>(bytes.data());
        for (size_t i = 0; i < bytes.size() / 4; ++i) {
          values[i] = first + static_cast<float>(i);
        }
      });
}

}  // namespace tensord
