#ifndef TENSORD_BACKENDS_API_BACKEND_H_
#define TENSORD_BACKENDS_API_BACKEND_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "backends/api/completion.h"
#include "backends/api/device_id.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/api/storage.h"

namespace tensord {

// Work of one lane, recorded once and submitted as a whole any number of times:
// a CUDA graph, a command buffer. It holds addresses, not what they belong to.
//
// Threading: the lane's thread. Ownership: the caller's; it dies before its
// lane,
//   and before anything that it points to is freed.
class Program {
 public:
  virtual ~Program() = default;
};

// One in-order stream of a device. Work that is enqueued runs in order; on a
// synchronous lane it is done when the call returns.
//
// Threading: one thread at a time (whoever leases the lane). Drain() too.
// Ownership: made by the device, which must outlive it. The destructor waits
// for
//   the work in flight, whatever its outcome.
// Errors: once the device has faulted, everything returns that fault.
class Lane {
 public:
  virtual ~Lane() = default;

  DeviceId device() const { return device_; }

  // Everything that this lane is given is done when the call returns, so every
  // handle of it is Ready.
  bool is_synchronous() const { return is_synchronous_; }

  // Copies between host and device memory, and within the device. Sizes must be
  // equal; the copy primitive checks that itself (kInternal). Host memory must
  // stay valid until the lane has passed the copy.
  virtual absl::Status CopyToDevice(absl::Span<const std::byte> source,
                                    StorageView destination) = 0;
  virtual absl::Status CopyToHost(StorageView source,
                                  absl::Span<std::byte> destination) = 0;
  virtual absl::Status Copy(StorageView source, StorageView destination) = 0;

  // A handle for everything enqueued so far; starts it if the backend batches.
  // Ready on a synchronous lane, else Pending; never Submitted.
  virtual absl::StatusOr<CompletionHandle> RecordCompletion() = 0;

  // Keeps `owner` until everything enqueued so far is done. Free on a
  // synchronous lane.
  virtual void Retain(std::shared_ptr<const void> owner) = 0;

  // Waits until the lane is empty: kDeadlineExceeded when it is not by then.
  virtual absl::Status Drain(absl::Time deadline) = 0;

  // Programs, with DeviceInfo::records_programs. What is enqueued between the
  // two calls is recorded instead of run: launches, copies within the device
  // and time marks, nothing else. EndRecording() comes in any case; it returns
  // the first error of what was enqueued since, and the lane is as before.
  virtual absl::Status BeginRecording();
  virtual absl::StatusOr<std::unique_ptr<Program>> EndRecording();

  // Enqueues all of a program that this lane recorded, as one submission. The
  // program, and everything that it points to, stays until the lane has passed
  // it.
  virtual absl::Status Submit(const Program& program);

  // Time marks, with DeviceInfo::has_timestamps: points between launches whose
  // device time is read once the lane has passed them. Marks are numbered from
  // 0; recording one again forgets its last time. ReserveTimeMarks() allocates,
  // the others do not.
  virtual absl::Status ReserveTimeMarks(int count);
  virtual absl::Status RecordTimeMark(int index);
  // Nanoseconds since mark 0, of marks 0 to nanoseconds.size(), all recorded
  // and passed.
  virtual absl::Status ReadTimeMarks(absl::Span<int64_t> nanoseconds);

 protected:
  Lane(DeviceId device, bool is_synchronous)
      : device_(device), is_synchronous_(is_synchronous) {}

 private:
  const DeviceId device_;
  const bool is_synchronous_;
};

// What a device is and can do; fixed while it lives. What one backend cannot
// honour is a capability here, not a method that sometimes fails.
struct DeviceInfo {
  DeviceId id;
  std::string description;  // for people: "AMD EPYC, 2 threads"
  std::string uuid;         // stable over restarts; keys persisted tuning
  bool is_synchronous = true;
  bool is_host_addressable = true;  // storages can be read by the host in place
  bool has_timestamps = false;      // completions and time marks tell times
  bool records_programs = false;    // lanes record, and submit as a whole
  bool imports_host_memory = false;
  bool computes = true;  // false: kernels leave outputs as they were (null)
  uint64_t memory_limit_bytes = 0;  // Allocate() refuses above it
  int max_lanes = 1;

  // Arithmetic and memory rates that turn a KernelCost into nanoseconds; never
  // 0, since an unknown cost must not look free.
  double flops_per_ns = 1;
  double bytes_per_ns = 4;
  double launch_overhead_ns = 100;

  // A copy of n bytes between this device and host memory takes about
  // copy_latency_ns + n / copy_bytes_per_ns; never 0 either.
  double copy_bytes_per_ns = 8;
  double copy_latency_ns = 1000;
};

// One device: memory, lanes, health.
//
// Threading: every method may be called from any thread.
// Ownership: made by a backend, which must outlive it; storages and lanes must
// be
//   gone before it.
class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceInfo& info() const = 0;

  // Uninitialised memory aligned to kStorageAlignment. A size of 0 gives a
  // valid storage. kResourceExhausted with limit, use and amount asked for.
  virtual absl::StatusOr<std::unique_ptr<Storage>> Allocate(
      uint64_t size_bytes) = 0;

  // The same, in memory that the host can read without a copy once a completion
  // says so: extent cells, staging.
  virtual absl::StatusOr<std::unique_ptr<Storage>> AllocateHostVisible(
      uint64_t size_bytes) = 0;

  // A storage over bytes that the host already has, read-only to kernels; keeps
  // `owner`. `bytes` is aligned to kStorageAlignment. Only with
  // info().imports_host_memory, else kUnimplemented.
  virtual absl::StatusOr<std::unique_ptr<Storage>> ImportHostMemory(
      absl::Span<const std::byte> bytes, std::shared_ptr<const void> owner) = 0;

  virtual absl::StatusOr<std::unique_ptr<Lane>> CreateLane() = 0;

  // Bytes in storages that are alive.
  virtual uint64_t allocated_bytes() const = 0;

  // OK, or the fault that this device has: it stays. Cheap; no device access.
  virtual absl::Status health() const = 0;
};

// A vendor's or the host's family of devices, and their kernels.
//
// Threading: every method may be called from any thread.
// Ownership: the host owns it; it outlives its devices and is never unloaded
//   while one lives. HostServices outlive it.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual BackendId id() const = 0;

  // Every kernel, siblings in order of preference: without a measurement the
  // first that accepts a node wins, and the portable one is last.
  virtual absl::Span<const KernelEntry> kernels() const = 0;

  // The revision of a KernelEntry's source; 0 when it is not tracked.
  virtual uint64_t KernelRevision(absl::string_view source) const = 0;

  // How many devices this machine has; 0 when it has no driver, and why_none()
  // says so in one line.
  virtual int device_count() const = 0;
  virtual std::string why_none() const = 0;

  // Opens a device. The CPU and null backends take any ordinal below 64, each
  // an independent device over the same hardware. kNotFound past the end.
  virtual absl::StatusOr<std::unique_ptr<Device>> OpenDevice(int ordinal) = 0;
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_BACKEND_H_
