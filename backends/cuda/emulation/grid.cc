#include "backends/cuda/emulation/grid.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "backends/cuda/emulation/fiber.h"

namespace tensord::cuda::emulation {
namespace {

constexpr int kWarpSize = 32;

// Threads that wait for each other: a block, or some lanes of a warp.
struct Barrier {
  int arrived = 0;
  uint64_t generation = 0;
};

struct Warp {
  unsigned live_mask = 0;
  Barrier barriers[kWarpSize];  // by the lowest lane of the mask
  std::byte shown[kWarpSize][16];
};

void FiberMain();

// What runs threads of a block: one after the other, until one has to wait.
struct Worker {
  Fiber fiber{&FiberMain};
  int thread = 0;  // which of the block's
  bool is_idle = true;
};

// The block that runs now on this host thread.
struct Block {
  ThreadState state;
  absl::FunctionRef<void()>* kernel = nullptr;
  std::vector<std::unique_ptr<Worker>> workers;  // kept for the next block
  size_t running = 0;                            // which of the workers
  std::vector<Warp> warps;
  std::vector<std::byte> shared;
  Barrier barrier;
  int thread_count = 0;
  int next_thread = 0;  // the first that has not begun
  int live_count = 0;   // those that have not ended
  bool has_progress = false;
};

Block& TheBlock() {
  thread_local Block block;
  return block;
}

int RunningThread(Block& block) { return block.workers[block.running]->thread; }

void Open(Block& block, Barrier& barrier) {
  barrier.arrived = 0;
  ++barrier.generation;
  block.has_progress = true;
}

void Await(Block& block, Barrier& barrier, int count) {
  if (++barrier.arrived >= count) return Open(block, barrier);
  const uint64_t generation = barrier.generation;
  while (barrier.generation == generation) {
    block.workers[block.running]->fiber.Yield();
  }
}

Warp& WarpOf(Block& block) {
  return block.warps[RunningThread(block) / kWarpSize];
}

// Who has ended counts no more for those who wait.
void Leave(Block& block) {
  --block.live_count;
  if (block.barrier.arrived > 0 && block.barrier.arrived >= block.live_count) {
    Open(block, block.barrier);
  }
  WarpOf(block).live_mask &= ~(1u << LaneIndex());
  block.has_progress = true;
}

void ShowThread(Block& block) {
  const dim3 size = block.state.block_dim;
  const auto at = static_cast<unsigned>(RunningThread(block));
  block.state.thread_index = {at % size.x, at / size.x % size.y,
                              at / size.x / size.y};
}

// Threads that never wait are run here one after the other, without a change of
// stacks.
void FiberMain() {
  Block& block = TheBlock();
  while (true) {
    Worker& worker = *block.workers[block.running];
    while (block.next_thread < block.thread_count) {
      worker.thread = block.next_thread++;
      ShowThread(block);
      (*block.kernel)();
      Leave(block);
    }
    worker.is_idle = true;
    worker.fiber.Yield();
  }
}

void Resume(Block& block, size_t worker) {
  block.running = worker;
  block.workers[worker]->is_idle = false;
  ShowThread(block);
  block.workers[worker]->fiber.Resume();
}

void Prepare(Block& block, int thread_count) {
  block.warps.assign((thread_count + kWarpSize - 1) / kWarpSize, Warp{});
  for (int i = 0; i < thread_count; ++i) {
    block.warps[i / kWarpSize].live_mask |= 1u << (i % kWarpSize);
  }
  block.barrier = {};
  block.thread_count = block.live_count = thread_count;
  block.next_thread = 0;
}

void RunBlock(Block& block, int thread_count) {
  Prepare(block, thread_count);
  size_t used = 0;
  while (block.live_count > 0) {
    block.has_progress = false;
    while (block.next_thread < block.thread_count) {
      if (used == block.workers.size()) {
        block.workers.push_back(std::make_unique<Worker>());
      }
      Resume(block, used++);
      block.has_progress = true;
    }
    for (size_t i = 0; i < used; ++i) {
      if (!block.workers[i]->is_idle) Resume(block, i);
    }
    if (!block.has_progress) {
      std::fprintf(stderr, "emulated block: its threads wait for each other\n");
      std::abort();
    }
  }
}

}  // namespace

const ThreadState& Current() { return TheBlock().state; }

void RunGrid(const GridShape& shape, absl::FunctionRef<void()> kernel) {
  Block& block = TheBlock();
  block.kernel = &kernel;
  block.state.block_dim = shape.block;
  block.state.grid_dim = shape.grid;
  block.shared.assign(shape.shared_bytes + 16, std::byte{0xDD});
  const int threads =
      static_cast<int>(shape.block.x * shape.block.y * shape.block.z);
  for (unsigned z = 0; z < shape.grid.z; ++z) {
    for (unsigned y = 0; y < shape.grid.y; ++y) {
      for (unsigned x = 0; x < shape.grid.x; ++x) {
        block.state.block_index = {x, y, z};
        RunBlock(block, threads);
      }
    }
  }
}

void SyncThreads() {
  Block& block = TheBlock();
  Await(block, block.barrier, block.live_count);
}

int LaneIndex() { return RunningThread(TheBlock()) % kWarpSize; }

void SyncWarp(unsigned mask) {
  Block& block = TheBlock();
  Warp& warp = WarpOf(block);
  const unsigned members = mask & warp.live_mask;
  Await(block, warp.barriers[__builtin_ctz(members)],
        __builtin_popcount(members));
}

void* DynamicSharedMemory() {
  std::vector<std::byte>& shared = TheBlock().shared;
  void* address = shared.data();
  size_t space = shared.size();
  return std::align(16, 1, address, space);
}

void ShowToWarp(unsigned mask, const void* value, size_t size_bytes) {
  std::memcpy(WarpOf(TheBlock()).shown[LaneIndex()], value, size_bytes);
  SyncWarp(mask);
}

void SeeOfWarp(unsigned mask, int lane, void* value, size_t size_bytes) {
  std::memcpy(value, WarpOf(TheBlock()).shown[lane], size_bytes);
  SyncWarp(mask);  // before a lane shows the next value
}

unsigned Ballot(unsigned mask, bool predicate) {
  const unsigned char own = predicate ? 1 : 0;
  const unsigned live = WarpOf(TheBlock()).live_mask;
  ShowToWarp(mask, &own, 1);
  unsigned result = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const bool takes_part = ((mask & live) >> lane & 1) != 0;
    if (takes_part && WarpOf(TheBlock()).shown[lane][0] == std::byte{1}) {
      result |= 1u << lane;
    }
  }
  SyncWarp(mask);
  return result;
}

}  // namespace tensord::cuda::emulation
