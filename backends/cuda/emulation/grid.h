#ifndef TENSORD_BACKENDS_CUDA_EMULATION_GRID_H_
#define TENSORD_BACKENDS_CUDA_EMULATION_GRID_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace tensord::cuda::emulation {

// A grid of CUDA threads on one thread of the host: blocks one after the other,
// the threads of a block as fibers that take turns at barriers and warp
// exchanges. It exists so that the project's kernels are tested where there is
// no GPU; it is as slow as it sounds.
//
// Threading: each host thread runs grids of its own.

// What the built-in variables say to the thread that runs now.
struct ThreadState {
  uint3 thread_index;
  uint3 block_index;
  dim3 block_dim;
  dim3 grid_dim;
};
const ThreadState& Current();

struct GridShape {
  dim3 grid;
  dim3 block;
  size_t shared_bytes = 0;
};

// Calls `kernel` once for each thread of the grid. A barrier that can never
// open, since some threads wait at another one, aborts: a bug of the kernel.
void RunGrid(const GridShape& shape, absl::FunctionRef<void()> kernel);

// The same, in order on a stream of the emulated runtime (runtime.cc), which
// may be recording.
absl::Status Enqueue(cudaStream_t stream, const GridShape& shape,
                     std::function<void()> kernel);

// Called by kernels. `mask` names the lanes of the warp that take part.
void SyncThreads();
void SyncWarp(unsigned mask);
void* DynamicSharedMemory();
unsigned Ballot(unsigned mask, bool predicate);
int LaneIndex();

// 16 bytes that each lane of a warp shows the others.
void ShowToWarp(unsigned mask, const void* value, size_t size_bytes);
void SeeOfWarp(unsigned mask, int lane, void* value, size_t size_bytes);

template <typename T, typename SourceOf>
T Shuffle(unsigned mask, T value, SourceOf source_of) {
  static_assert(sizeof(T) <= 16);
  ShowToWarp(mask, &value, sizeof(T));
  T seen;
  SeeOfWarp(mask, source_of(LaneIndex()), &seen, sizeof(T));
  return seen;
}

}  // namespace tensord::cuda::emulation

#endif  // TENSORD_BACKENDS_CUDA_EMULATION_GRID_H_
