#ifndef TENSORD_BACKENDS_CPU_ONEDNN_SPLIT_H_
#define TENSORD_BACKENDS_CPU_ONEDNN_SPLIT_H_

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "backends/api/host_services.h"
#include "backends/api/storage.h"

// How work is cut into the parts that threads take. From the extents and the
// machine alone, not from the threads that there are: the same parts, and so
// the same sums, on one thread as on many.
namespace tensord::onednn {

// Arithmetic worth a part of its own: some 40 us of a core with AVX-512, next
// to which the library's microsecond for a call does not count.
inline constexpr double kPartFlops = 8e6;
// The same of products of bytes, with which AMX and VNNI are faster.
inline constexpr double kIntegerPartFlops = 64e6;

// For costs: how many times as fast as the device's rate (DeviceInfo, which is
// that of a large float32 product) the library's products of middling size are.
inline constexpr double kSpeedup = 0.8;
inline constexpr double kRoundedSpeedup = 2 * kSpeedup;
inline constexpr double kIntegerSpeedup = 1.2;
// The arithmetic that is done while a call of the library begins and ends.
inline constexpr double kCallFlops = 2e5;

// The machine's processors, whether this process may use them or not; of a
// large machine as many as a part of it would have, since each part costs.
inline int64_t ProcessorCount() {
  constexpr int64_t kMost = 32;
  static const int64_t count =
      std::clamp<int64_t>(sysconf(_SC_NPROCESSORS_CONF), 1, kMost);
  return count;
}

// Arithmetic that no part is above if the extents allow it: some tenths of a
// second, after which a run that is stopped is seen to be.
inline constexpr double kMaxPartFlops = 2e10;

// The parts that flops are worth, at most enough to share them out evenly and
// to look up from long ones.
inline int64_t PartCount(double flops, double part_flops = kPartFlops) {
  const auto most = std::max(4 * ProcessorCount(),
                             static_cast<int64_t>(flops / kMaxPartFlops));
  return std::clamp<int64_t>(static_cast<int64_t>(flops / part_flops), 1, most);
}

// How many parts to cut along a second dimension where the first gave `parts`
// of the `wanted`: one, unless processors would be left without work.
inline int64_t FurtherParts(int64_t wanted, int64_t parts) {
  if (parts >= std::min(wanted, ProcessorCount())) return 1;
  return (std::min(wanted, 2 * ProcessorCount()) + parts - 1) / parts;
}

// [0, extent) in parts of `size`, the last one shorter.
struct Split {
  int64_t extent = 0;
  int64_t size = 0;

  // About `count` parts (at least 1), each a multiple of `multiple` but for the
  // last. Where a few parts more come out even, they do: a shorter last part
  // costs a primitive of its own.
  static Split About(int64_t extent, int64_t count, int64_t multiple) {
    const int64_t steps =
        std::max<int64_t>((extent + multiple - 1) / multiple, 1);
    count = std::clamp<int64_t>(count, 1, steps);
    if (extent % multiple == 0) {
      int64_t even = count;
      while (even < 2 * count && steps % even != 0) ++even;
      if (steps % even == 0) count = even;
    }
    return {extent, std::min((steps + count - 1) / count * multiple, extent)};
  }

  int64_t count() const { return (extent + size - 1) / size; }
  int64_t begin(int64_t part) const { return part * size; }
  int64_t length(int64_t part) const {
    return std::min(size, extent - begin(part));
  }
  // The length of a last part that is shorter than the others, else 0.
  int64_t rest() const { return extent % size; }
  bool is_rest(int64_t part) const {
    return rest() != 0 && part == count() - 1;
  }
};

// Parts that follow each other are run by one thread in one piece of scratch
// memory, so that many small ones need no more of it than few large ones.
inline constexpr int64_t kMaxRanges = 128;

inline int64_t RangeLength(int64_t part_count) {
  return (part_count + kMaxRanges - 1) / kMaxRanges;
}
inline uint64_t ScratchBytesForParts(int64_t part_count,
                                     uint64_t bytes_a_part) {
  if (part_count == 0) return 0;
  const int64_t length = RangeLength(part_count);
  return static_cast<uint64_t>((part_count + length - 1) / length) *
         bytes_a_part;
}

inline uint64_t AlignUp(uint64_t bytes) {
  return (bytes + kStorageAlignment - 1) & ~(kStorageAlignment - 1);
}

// The first error of several threads.
class FirstError {
 public:
  void Note(absl::Status status) {
    if (status.ok()) return;
    absl::MutexLock lock(&mu_);
    if (status_.ok()) status_ = std::move(status);
    is_set_.store(true, std::memory_order_relaxed);
  }
  bool is_set() const { return is_set_.load(std::memory_order_relaxed); }
  absl::Status Take() {
    absl::MutexLock lock(&mu_);
    return std::move(status_);
  }

 private:
  std::atomic<bool> is_set_{false};
  absl::Mutex mu_;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
};

// run(part, scratch) for all parts, `grain` of them being worth a thread's
// while; `scratch` is a piece of the workspace, which has at least
// ScratchBytesForParts(part_count, bytes_a_part), a multiple of the alignment.
template <typename RunPart>
absl::Status ForParts(WorkerPool& workers, int64_t part_count, int64_t grain,
                      StorageView workspace, uint64_t bytes_a_part,
                      RunPart run) {
  if (part_count == 0) return absl::OkStatus();
  const int64_t length = RangeLength(part_count);
  std::byte* base = workspace.is_present() ? workspace.address() : nullptr;
  FirstError error;
  workers.ParallelFor(
      (part_count + length - 1) / length, std::max<int64_t>(grain / length, 1),
      [&](int64_t begin, int64_t end) {
        for (int64_t range = begin; range < end; ++range) {
          std::byte* scratch = base + range * bytes_a_part;
          const int64_t last = std::min((range + 1) * length, part_count);
          for (int64_t part = range * length; part < last; ++part) {
            if (error.is_set()) return;
            error.Note(run(part, scratch));
          }
        }
      });
  return error.Take();
}

}  // namespace tensord::onednn

#endif  // TENSORD_BACKENDS_CPU_ONEDNN_SPLIT_H_
