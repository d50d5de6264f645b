#include "backends/cpu/onednn/library.h"

#include "absl/strings/str_cat.h"

// libgomp's; omp.h comes with the compiler, and not with each.
extern "C" void omp_set_num_threads(int count);

namespace tensord::onednn {
namespace {

struct Handles {
  dnnl_engine_t engine = nullptr;
  dnnl_stream_t stream = nullptr;
  absl::Status status;

  Handles() {
    status = ToStatus(dnnl_engine_create(&engine, dnnl_cpu, 0),
                      "dnnl_engine_create");
    if (!status.ok()) return;
    status =
        ToStatus(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags),
                 "dnnl_stream_create");
  }
};

const Handles& TheHandles() {
  static const Handles* const handles = new Handles;
  return *handles;
}

bool HasInstructions(dnnl_cpu_isa_t wanted) {
  const auto isa = static_cast<unsigned>(dnnl_get_effective_cpu_isa());
  return (isa & wanted) == static_cast<unsigned>(wanted);
}

}  // namespace

absl::Status ToStatus(dnnl_status_t status, absl::string_view call) {
  switch (status) {
    case dnnl_success:
      return absl::OkStatus();
    case dnnl_out_of_memory:
      return absl::ResourceExhaustedError(
          absl::StrCat("oneDNN has no memory for ", call));
    case dnnl_unimplemented:
      return absl::UnimplementedError(
          absl::StrCat("oneDNN has no implementation for ", call));
    default:
      return absl::InternalError(absl::StrCat(
          "oneDNN's ", call, " failed: status ", static_cast<int>(status)));
  }
}

absl::Status CheckUsable() { return TheHandles().status; }
dnnl_engine_t Engine() { return TheHandles().engine; }
dnnl_stream_t Stream() { return TheHandles().stream; }

absl::Status CheckExactIntegers() {
  if (HasInstructions(dnnl_cpu_isa_avx512_core_vnni) ||
      HasInstructions(dnnl_cpu_isa_avx2_vnni)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      "oneDNN's products of bytes are not exact without VNNI");
}

absl::Status CheckBFloat16(Precision precision) {
  if (precision != Precision::kAllowBf16) {
    return absl::FailedPreconditionError(
        "it rounds factors to bfloat16, which the request does not allow");
  }
  if (HasInstructions(dnnl_cpu_isa_avx512_core_bf16)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "this machine has no instructions for products of bfloat16");
}

void UseThisThreadOnly() {
  thread_local bool is_done = false;
  if (is_done) return;
  omp_set_num_threads(1);
  is_done = true;
}

}  // namespace tensord::onednn
