#include "engine/profile/phase_profile.h"

namespace tensord::op_profile {

absl::string_view PhaseName(Phase phase) {
  switch (phase) {
    case Phase::kDecode:
      return "decode";
    case Phase::kQueue:
      return "queue";
    case Phase::kCompile:
      return "compile";
    case Phase::kUpload:
      return "upload";
    case Phase::kRun:
      return "run";
    case Phase::kWait:
      return "wait";
    case Phase::kDownload:
      return "download";
    case Phase::kEncode:
      return "encode";
  }
  return "other";
}

std::vector<PhaseRow> PhaseProfile::Snapshot() const {
  std::vector<PhaseRow> rows;
  for (size_t i = 0; i < durations_.row_count(); ++i) {
    if (!durations_.IsUsed(i)) continue;
    PhaseRow row;
    row.phase = static_cast<Phase>(i / (kBackendCount + 1));
    const size_t backend = i % (kBackendCount + 1);
    if (backend != 0) row.backend = static_cast<BackendId>(backend - 1);
    row.durations = ReadDurations(durations_, i);
    rows.push_back(row);
  }
  return rows;
}

}  // namespace tensord::op_profile
