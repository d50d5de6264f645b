#ifndef TENSORD_BACKENDS_CUDA_LIBRARIES_TRIAL_H_
#define TENSORD_BACKENDS_CUDA_LIBRARIES_TRIAL_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/api/backend.h"

namespace tensord::cuda {

// Where the ways that a library has for one problem are measured against each
// other: a stream of its own, and memory with random numbers in it (zeros take
// less power, and the clock is higher with them).
//
// Threading: one thread. Ownership: borrows the device, whose ordinal is made
// current on the thread that creates it; frees its memory and stream when it
// goes, after the stream is empty.
class Trial {
 public:
  // Buffers of these sizes; elements are of `dtype`, which is a float of 16 or
  // 32 bits. kResourceExhausted where the device lacks the memory: the caller
  // then takes the library's first choice.
  static absl::StatusOr<std::unique_ptr<Trial>> Create(
      Device& device, DType dtype, absl::Span<const uint64_t> sizes);
  ~Trial();

  void* buffer(int i) const { return buffers_[i]->address(); }

  using Enqueue = absl::FunctionRef<absl::Status(cudaStream_t)>;

  // Nanoseconds of one launch on the device, without what the host needs for
  // it: many launches are captured as one graph. Its first run, which may load
  // code, is not counted.
  absl::StatusOr<double> MeasureNs(Enqueue enqueue);

 private:
  Trial() = default;

  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
  std::vector<std::unique_ptr<Storage>> buffers_;
};

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_LIBRARIES_TRIAL_H_
