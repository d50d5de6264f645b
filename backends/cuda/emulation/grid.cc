#include "backends/cuda/emulation/grid.h"

#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace tensord::cuda::emulation {
namespace {

constexpr int kWarpSize = 32;
constexpr size_t kStackBytes = 256 * 1024;

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

struct Fiber {
  ucontext_t context;
  std::unique_ptr<std::byte[]> stack;
  uint3 index;
  bool is_done = false;
};

// The block that runs now on this host thread.
struct Block {
  ThreadState state;
  absl::FunctionRef<void()>* kernel = nullptr;
  ucontext_t scheduler;
  std::vector<std::unique_ptr<Fiber>> fibers;  // kept for the next block
  std::vector<Warp> warps;
  std::vector<std::byte> shared;
  Barrier barrier;
  int live_count = 0;
  int running = 0;
  bool has_progress = false;
};

Block& TheBlock() {
  thread_local Block block;
  return block;
}

void Yield(Block& block) {
  swapcontext(&block.fibers[block.running]->context, &block.scheduler);
}

void Open(Block& block, Barrier& barrier) {
  barrier.arrived = 0;
  ++barrier.generation;
  block.has_progress = true;
}

void Await(Block& block, Barrier& barrier, int count) {
  if (++barrier.arrived >= count) return Open(block, barrier);
  const uint64_t generation = barrier.generation;
  while (barrier.generation == generation) Yield(block);
}

Warp& WarpOf(Block& block) { return block.warps[block.running / kWarpSize]; }

// Who has ended counts no more for those who wait.
void Leave(Block& block) {
  --block.live_count;
  if (block.barrier.arrived > 0 && block.barrier.arrived >= block.live_count) {
    Open(block, block.barrier);
  }
  WarpOf(block).live_mask &= ~(1u << LaneIndex());
  block.has_progress = true;
}

void FiberMain() {
  Block& block = TheBlock();
  (*block.kernel)();
  block.fibers[block.running]->is_done = true;
  Leave(block);
  Yield(block);
}

void Prepare(Block& block, int thread_count) {
  while (static_cast<int>(block.fibers.size()) < thread_count) {
    block.fibers.push_back(std::make_unique<Fiber>());
    block.fibers.back()->stack = std::make_unique<std::byte[]>(kStackBytes);
  }
  block.warps.assign((thread_count + kWarpSize - 1) / kWarpSize, Warp{});
  block.barrier = {};
  block.live_count = thread_count;
  const dim3 size = block.state.block_dim;
  for (int i = 0; i < thread_count; ++i) {
    Fiber& fiber = *block.fibers[i];
    const unsigned at = static_cast<unsigned>(i);
    fiber.index = {at % size.x, at / size.x % size.y, at / size.x / size.y};
    fiber.is_done = false;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, FiberMain, 0);
    block.warps[i / kWarpSize].live_mask |= 1u << (i % kWarpSize);
  }
}

void RunBlock(Block& block, int thread_count) {
  Prepare(block, thread_count);
  while (block.live_count > 0) {
    block.has_progress = false;
    for (int i = 0; i < thread_count; ++i) {
      Fiber& fiber = *block.fibers[i];
      if (fiber.is_done) continue;
      block.running = i;
      block.state.thread_index = fiber.index;
      swapcontext(&block.scheduler, &fiber.context);
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

int LaneIndex() { return TheBlock().running % kWarpSize; }

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
