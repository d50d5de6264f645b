#include "tests/engine/tune/sibling_backend.h"

#include <algorithm>
#include <chrono>

#include "backends/cpu/cpu_backend.h"
#include "tests/support/backend_test.h"

namespace tensord {
namespace {

constexpr int kSiblingCount = 3;
constexpr const char kSource[] = "tests/engine/tune/sibling_backend.cc";

SiblingControl& ControlOf(int sibling) {
  static SiblingControl controls[kSiblingCount];
  return controls[sibling];
}

// Keeps the processor busy, as a slow kernel does.
void Spin(std::chrono::microseconds duration) {
  const auto end = std::chrono::steady_clock::now() + duration;
  while (std::chrono::steady_clock::now() < end) {
  }
}

template <int kSibling>
absl::Status Run(const KernelCall& call) {
  SiblingControl& control = ControlOf(kSibling);
  ++control.launches;
  if (control.failing == 1) return absl::InternalError("the test says so");
  const float error = control.error;
  const int64_t count = call.output_layout(0).shape.element_count();
  for (int64_t i = 0; i < count; ++i) {
    call.output<float>(0)[i] = std::max(0.0f, call.input<float>(0)[i]) + error;
  }
  Spin(std::chrono::microseconds(control.delay_us));
  return absl::OkStatus();
}

template <int kSibling>
absl::StatusOr<std::unique_ptr<KernelState>> Prepare(const NodeSite&, Device&) {
  if (ControlOf(kSibling).failing == 2) {
    return absl::InternalError("the test says so");
  }
  return std::make_unique<KernelState>();
}

#define RELU(name_, sibling)                                              \
  {                                                                       \
    .op = OpKind::kRelu, .dtypes = All(DType::kFloat32), .name = name_,   \
    .source = kSource, .prepare = &Prepare<sibling>, .run = &Run<sibling> \
  }
constexpr KernelEntry kKernels[] = {
    RELU("relu_first", SiblingBackend::kFirst),
    RELU("relu_other", SiblingBackend::kOther),
    RELU("relu_portable", SiblingBackend::kPortable),
};
#undef RELU

}  // namespace

SiblingBackend::SiblingBackend() : cpu_(MakeCpuBackend(TestHostServices())) {
  for (int i = 0; i < kSiblingCount; ++i) {
    ControlOf(i).delay_us = 0;
    ControlOf(i).error = 0;
    ControlOf(i).failing = 0;
    ControlOf(i).launches = 0;
  }
}

SiblingControl& SiblingBackend::control(int sibling) {
  return ControlOf(sibling);
}

absl::Span<const KernelEntry> SiblingBackend::kernels() const {
  return kKernels;
}

}  // namespace tensord
