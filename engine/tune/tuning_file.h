#ifndef TENSORD_ENGINE_TUNE_TUNING_FILE_H_
#define TENSORD_ENGINE_TUNE_TUNING_FILE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/tune/tuning_table.h"

namespace tensord {

// Whose measurements a file holds. Another build has other kernels, and another
// device other speeds: neither may read the file.
struct TuningOwner {
  std::string build;   // one word: what the daemon and its kernels are made of
  std::string device;  // TuningDevice()
};

// The most that is read or written.
inline constexpr size_t kMaxTuningFileBytes = size_t{32} << 20;

// The measurements of one device as text, a line each:
//
//   tensord tuning 1
//   build 5b0c...-91f2...
//   device cpu-053c801b91c8a79f
//   <site key> MatMul * matmul_f32_onednn 8123.5 matmul_f32 12044.0
//   ...
//   end <half of the SHA-256 of everything above>
//
// The chosen kernel has a star before it; "-" instead of nanoseconds says that
// a kernel's result was beyond the tolerance, and 0 that it was not timed.
std::string FormatTuning(const TuningOwner& owner,
                         const std::vector<TuningEntry>& entries);

// The inverse. Trusts nothing: kFailedPrecondition for another owner's or
// another version's text, kDataLoss with the line for anything that
// FormatTuning would not have written.
absl::StatusOr<std::vector<TuningEntry>> ParseTuning(absl::string_view text,
                                                     const TuningOwner& owner);

// The file in `directory` for that owner. Its name is made of hexadecimal
// digits, whatever the device calls itself.
std::string TuningPath(absl::string_view directory, const TuningOwner& owner);

// kNotFound when there is none; else ParseTuning's.
absl::StatusOr<std::vector<TuningEntry>> ReadTuning(const std::string& path,
                                                    const TuningOwner& owner);

// Replaces the file at once: whoever reads sees the old one or the new one,
// also after a crash. Several processes may do so at once, the last one's file
// stays; what one that died left beside it goes after an hour. kUnavailable
// with the system's reason.
absl::Status WriteTuning(const std::string& path, const TuningOwner& owner,
                         const std::vector<TuningEntry>& entries);

}  // namespace tensord

#endif  // TENSORD_ENGINE_TUNE_TUNING_FILE_H_
