#include "backends/api/backend.h"

#include <memory>

namespace tensord {
namespace {

absl::Status Unsupported(const char* what) {
  return absl::UnimplementedError(what);
}

}  // namespace

absl::Status Lane::BeginRecording() {
  return Unsupported("this device records no programs");
}

absl::StatusOr<std::unique_ptr<Program>> Lane::EndRecording() {
  return Unsupported("this device records no programs");
}

absl::Status Lane::Submit(const Program&) {
  return Unsupported("this device records no programs");
}

absl::Status Lane::ReserveTimeMarks(int) {
  return Unsupported("this device has no timestamps");
}

absl::Status Lane::RecordTimeMark(int) {
  return Unsupported("this device has no timestamps");
}

absl::Status Lane::ReadTimeMarks(absl::Span<int64_t>) {
  return Unsupported("this device has no timestamps");
}

}  // namespace tensord
