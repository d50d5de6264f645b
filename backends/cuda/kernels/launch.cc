#include "backends/cuda/kernels/launch.h"

#include <algorithm>

namespace tensord::cuda {

LaunchShape ForElements(int64_t count, int threads) {
  constexpr int64_t kMaxBlocks = 32 * 1024;
  const int64_t blocks = (count + threads - 1) / threads;
  return {dim3(static_cast<unsigned>(std::min(blocks, kMaxBlocks))),
          dim3(static_cast<unsigned>(threads))};
}

}  // namespace tensord::cuda
