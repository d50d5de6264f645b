// Copies of elements by their size: nested loops, tiles, rows (strided_copy.h).
//
// All kernels move elements as plain integers, or as vectors of 16 bytes, so
// that every bit is kept. Offsets are 32 bits wide where they fit.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "backends/cuda/kernels/divisor.h"
#include "backends/cuda/kernels/element.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/strided_copy.h"

namespace tensord::cuda {
namespace {

// A tile has as many loops as two tensors of the highest rank.
constexpr int kMaxLoops = 32;
constexpr int kMaxRowCopies = 32;
// Loads of one thread that are on their way together.
constexpr int kInFlight = 4;
// Below so many elements along either dimension tiles would be mostly empty.
constexpr int64_t kLeastTiled = 12;

// The loops, the innermost last. Offsets wrap: negative strides are large ones.
template <typename Index>
struct Loops {
  int count = 0;
  Divisor<Index> extents[kMaxLoops];
  Index from[kMaxLoops];
  Index to[kMaxLoops];
};

template <typename Index>
struct Offsets {
  Index from = 0;
  Index to = 0;
};

template <typename Index>
__device__ Offsets<Index> OffsetsOf(const Loops<Index>& loops, Index at) {
  Offsets<Index> offsets;
  for (int d = loops.count - 1; d > 0; --d) {
    Index index = at;
    at = DivideBy(loops.extents[d], index);
    offsets.from += index * loops.from[d];
    offsets.to += index * loops.to[d];
  }
  offsets.from += at * loops.from[0];
  offsets.to += at * loops.to[0];
  return offsets;
}

// Unsigned offsets as signed ones, which addresses are counted with.
__device__ int64_t Signed(uint32_t offset) {
  return static_cast<int32_t>(offset);
}
__device__ int64_t Signed(uint64_t offset) {
  return static_cast<int64_t>(offset);
}

template <typename Element, typename Index>
__global__ void CopyElements(Loops<Index> loops, const Element* source,
                             Element* destination, Index count) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  const Index first = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (Index at = first; at < count; at += kInFlight * step) {
    Element elements[kInFlight];
    int64_t places[kInFlight];
    for (int k = 0; k < kInFlight; ++k) {
      const Index i = at + k * step;
      if (i >= count) continue;
      const Offsets<Index> offsets = OffsetsOf(loops, i);
      elements[k] = source[Signed(offsets.from)];
      places[k] = Signed(offsets.to);
    }
    for (int k = 0; k < kInFlight; ++k) {
      if (at + k * step < count) destination[places[k]] = elements[k];
    }
  }
}

// Dense bytes, both sides aligned to 16.
__global__ void CopyLine(const uint4* source, uint4* destination,
                         uint64_t bytes) {
  const uint64_t step = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  const uint64_t first =
      static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const uint64_t count = bytes / sizeof(uint4);
  for (uint64_t at = first; at < count; at += kInFlight * step) {
    uint4 vectors[kInFlight];
    for (int k = 0; k < kInFlight; ++k) {
      if (at + k * step < count) vectors[k] = source[at + k * step];
    }
    for (int k = 0; k < kInFlight; ++k) {
      if (at + k * step < count) destination[at + k * step] = vectors[k];
    }
  }
  const uint64_t tail = count * sizeof(uint4) + first;
  if (tail < bytes) {
    reinterpret_cast<uint8_t*>(destination)[tail] =
        reinterpret_cast<const uint8_t*>(source)[tail];
  }
}

// Planes of [rows, columns], of which the source is dense along the rows and
// the destination along the columns.
template <typename Index>
struct Planes {
  Loops<Index> loops;  // over planes
  Index rows;
  Index columns;
  Index from_column;  // strides
  Index to_row;
  Divisor<Index> row_tiles;
  Divisor<Index> column_tiles;
  Index tiles;  // of all planes
};

template <int kBytes>
constexpr int kTileOf = kBytes < 4 ? 64 : 32;
constexpr int kTileThreads = 32;  // along a tile's side
constexpr int kTileRows = 8;

template <typename Element, typename Index>
__global__ void CopyTiles(Planes<Index> planes, const Element* source,
                          Element* destination) {
  constexpr int kTile = kTileOf<sizeof(Element)>;
  // One element more, so that a column is not all in one bank.
  __shared__ Element tile[kTile][kTile + 1];
  for (Index job = blockIdx.x; job < planes.tiles; job += gridDim.x) {
    Index column = job;
    Index row = DivideBy(planes.column_tiles, column);
    const Index plane = DivideBy(planes.row_tiles, row);
    row *= kTile;
    column *= kTile;
    const Offsets<Index> offsets = OffsetsOf(planes.loops, plane);
    const Element* from = source + Signed(offsets.from);
    Element* to = destination + Signed(offsets.to);
    for (int c = threadIdx.y; c < kTile; c += kTileRows) {
      for (int r = threadIdx.x; r < kTile; r += kTileThreads) {
        if (row + r < planes.rows && column + c < planes.columns) {
          tile[c][r] =
              from[row + r + Signed((column + c) * planes.from_column)];
        }
      }
    }
    __syncthreads();
    for (int r = threadIdx.y; r < kTile; r += kTileRows) {
      for (int c = threadIdx.x; c < kTile; c += kTileThreads) {
        if (row + r < planes.rows && column + c < planes.columns) {
          to[column + c + Signed((row + r) * planes.to_row)] = tile[c][r];
        }
      }
    }
    __syncthreads();
  }
}

// RowCopy, in elements of the launch's width.
struct Rows {
  const void* source;
  void* destination;
  uint32_t count;  // of all rows' elements
  Divisor<uint32_t> length;
  uint32_t from;
  uint32_t to;
};
struct RowBatch {
  Rows rows[kMaxRowCopies];
};

template <typename Element>
__global__ void CopyRows(RowBatch batch) {
  const Rows& rows = batch.rows[blockIdx.y];
  const auto* source = static_cast<const Element*>(rows.source);
  auto* destination = static_cast<Element*>(rows.destination);
  const uint32_t step = gridDim.x * blockDim.x;
  const uint32_t first = blockIdx.x * blockDim.x + threadIdx.x;
  for (uint32_t at = first; at < rows.count; at += kInFlight * step) {
    Element elements[kInFlight];
    uint32_t places[kInFlight];
    for (int k = 0; k < kInFlight; ++k) {
      uint32_t column = at + k * step;
      if (column >= rows.count) continue;
      const uint32_t row = DivideBy(rows.length, column);
      elements[k] = source[row * rows.from + column];
      places[k] = row * rows.to + column;
    }
    for (int k = 0; k < kInFlight; ++k) {
      if (at + k * step < rows.count) destination[places[k]] = elements[k];
    }
  }
}

using Loop = StridedCopy::Loop;

// Loops of one round are dropped; the others are brought into the
// destination's order, and those that are one loop in both tensors merged.
void Merge(StridedCopy& copy) {
  auto& loops = copy.loops;
  loops.erase(std::remove_if(loops.begin(), loops.end(),
                             [](const Loop& loop) { return loop.extent == 1; }),
              loops.end());
  std::stable_sort(loops.begin(), loops.end(),
                   [](const Loop& a, const Loop& b) {
                     return std::abs(a.to) > std::abs(b.to);
                   });
  size_t kept = 0;
  for (const Loop& loop : loops) {
    if (kept > 0 && loops[kept - 1].from == loop.from * loop.extent &&
        loops[kept - 1].to == loop.to * loop.extent) {
      loops[kept - 1] = {loops[kept - 1].extent * loop.extent, loop.from,
                         loop.to};
    } else {
      loops[kept++] = loop;
    }
  }
  loops.resize(kept);
  if (loops.empty()) loops.push_back({1, 1, 1});
}

// Pairs of neighbours become one element, as long as all places allow it.
void Widen(StridedCopy& copy) {
  while (copy.element_bytes < 16 && copy.loops.back().from == 1 &&
         copy.loops.back().to == 1 && copy.loops.back().extent % 2 == 0 &&
         IsAligned(copy.source, 2 * copy.element_bytes) &&
         IsAligned(copy.destination, 2 * copy.element_bytes) &&
         std::all_of(copy.loops.begin(), copy.loops.end() - 1,
                     [](const Loop& loop) {
                       return loop.from % 2 == 0 && loop.to % 2 == 0;
                     })) {
    copy.element_bytes *= 2;
    copy.loops.back().extent /= 2;
    for (size_t d = 0; d + 1 < copy.loops.size(); ++d) {
      copy.loops[d].from /= 2;
      copy.loops[d].to /= 2;
    }
  }
}

int64_t CountOf(const StridedCopy& copy) {
  int64_t count = 1;
  for (const Loop& loop : copy.loops) count *= loop.extent;
  return count;
}

bool IsNarrow(const StridedCopy& copy) {
  int64_t from = 0;
  int64_t to = 0;
  for (const Loop& loop : copy.loops) {
    from += (loop.extent - 1) * std::abs(loop.from);
    to += (loop.extent - 1) * std::abs(loop.to);
  }
  return std::max({from, to, CountOf(copy)}) < kMostNarrow;
}

// The loop along which the source is dense while the destination is dense along
// another, both long enough for tiles; -1 without one.
int TiledLoop(const StridedCopy& copy) {
  const Loop& inner = copy.loops.back();
  if (inner.to != 1 || inner.from == 1 || inner.extent < kLeastTiled) return -1;
  for (size_t d = 0; d + 1 < copy.loops.size(); ++d) {
    if (copy.loops[d].from == 1 && copy.loops[d].extent >= kLeastTiled) {
      return static_cast<int>(d);
    }
  }
  return -1;
}

template <typename Index>
void Append(const Loop& loop, Loops<Index>& loops) {
  loops.extents[loops.count] = Divisor<Index>(loop.extent);
  loops.from[loops.count] = static_cast<Index>(loop.from);
  loops.to[loops.count] = static_cast<Index>(loop.to);
  ++loops.count;
}

template <typename Element, typename Index>
absl::Status EnqueueElements(const LaunchContext& context,
                             const StridedCopy& copy) {
  Loops<Index> loops;
  for (const Loop& loop : copy.loops) Append(loop, loops);
  const int64_t count = CountOf(copy);
  return Launch(context, CopyElements<Element, Index>,
                ForElements((count + kInFlight - 1) / kInFlight), loops,
                reinterpret_cast<const Element*>(copy.source),
                reinterpret_cast<Element*>(copy.destination),
                static_cast<Index>(count));
}

template <typename Element, typename Index>
absl::Status EnqueueTiles(const LaunchContext& context, const StridedCopy& copy,
                          int tiled) {
  constexpr int64_t kTile = kTileOf<sizeof(Element)>;
  constexpr int64_t kMaxBlocks = int64_t{1} << 20;
  const Loop& row = copy.loops[tiled];
  const Loop& column = copy.loops.back();
  Planes<Index> planes = {};
  int64_t tiles = 1;
  for (int d = 0; d + 1 < static_cast<int>(copy.loops.size()); ++d) {
    if (d == tiled) continue;
    Append(copy.loops[d], planes.loops);
    tiles *= copy.loops[d].extent;
  }
  if (planes.loops.count == 0) Append(Loop{1, 0, 0}, planes.loops);
  planes.rows = static_cast<Index>(row.extent);
  planes.columns = static_cast<Index>(column.extent);
  planes.from_column = static_cast<Index>(column.from);
  planes.to_row = static_cast<Index>(row.to);
  const int64_t row_tiles = (row.extent + kTile - 1) / kTile;
  const int64_t column_tiles = (column.extent + kTile - 1) / kTile;
  planes.row_tiles = Divisor<Index>(row_tiles);
  planes.column_tiles = Divisor<Index>(column_tiles);
  tiles *= row_tiles * column_tiles;
  planes.tiles = static_cast<Index>(tiles);
  return Launch(context, CopyTiles<Element, Index>,
                {dim3(static_cast<unsigned>(std::min(tiles, kMaxBlocks))),
                 dim3(kTileThreads, kTileRows)},
                planes, reinterpret_cast<const Element*>(copy.source),
                reinterpret_cast<Element*>(copy.destination));
}

template <typename Element>
absl::Status EnqueueAs(const LaunchContext& context, const StridedCopy& copy) {
  const int tiled = TiledLoop(copy);
  if (IsNarrow(copy)) {
    return tiled >= 0 ? EnqueueTiles<Element, uint32_t>(context, copy, tiled)
                      : EnqueueElements<Element, uint32_t>(context, copy);
  }
  return tiled >= 0 ? EnqueueTiles<Element, uint64_t>(context, copy, tiled)
                    : EnqueueElements<Element, uint64_t>(context, copy);
}

// The widest elements in which all copies can be made.
int WidthOf(absl::Span<const RowCopy> copies, int element_bytes) {
  int factor = 16 / element_bytes;
  for (const RowCopy& copy : copies) {
    const auto fits = [&](int64_t elements) { return elements % factor == 0; };
    while (factor > 1 &&
           !(fits(copy.length) && (copy.rows == 1 || fits(copy.from)) &&
             (copy.rows == 1 || fits(copy.to)) &&
             IsAligned(copy.source, factor * element_bytes) &&
             IsAligned(copy.destination, factor * element_bytes))) {
      factor /= 2;
    }
  }
  return factor * element_bytes;
}

absl::Status EnqueueBatch(const LaunchContext& context, const RowBatch& batch,
                          int batch_size, int width) {
  uint32_t most = 0;
  for (int i = 0; i < batch_size; ++i) {
    most = std::max(most, batch.rows[i].count);
  }
  LaunchShape shape = ForElements((most + kInFlight - 1) / kInFlight);
  shape.grid.y = static_cast<unsigned>(batch_size);
  return VisitElementBytes(width, [&](auto bytes) {
    return Launch(context, CopyRows<ElementOf<decltype(bytes)::value>>, shape,
                  batch);
  });
}

}  // namespace

absl::Status Enqueue(const LaunchContext& context, StridedCopy copy) {
  for (const Loop& loop : copy.loops) {
    if (loop.extent == 0) return absl::OkStatus();
  }
  Merge(copy);
  if (copy.loops.size() == 1 && copy.loops[0].from == 1 &&
      copy.loops[0].to == 1 && IsAligned(copy.source, 16) &&
      IsAligned(copy.destination, 16)) {
    const int64_t bytes = copy.loops[0].extent * copy.element_bytes;
    return Launch(context, CopyLine,
                  ForElements((bytes + 16 * kInFlight - 1) / (16 * kInFlight)),
                  reinterpret_cast<const uint4*>(copy.source),
                  reinterpret_cast<uint4*>(copy.destination),
                  static_cast<uint64_t>(bytes));
  }
  Widen(copy);
  return VisitElementBytes(copy.element_bytes, [&](auto bytes) {
    return EnqueueAs<ElementOf<decltype(bytes)::value>>(context, copy);
  });
}

absl::Status Enqueue(const LaunchContext& context,
                     absl::Span<const RowCopy> copies, int element_bytes) {
  absl::InlinedVector<RowCopy, kMaxRowCopies> narrow;
  for (const RowCopy& copy : copies) {
    if (copy.rows == 0 || copy.length == 0) continue;
    if (copy.rows * std::max(copy.from, copy.to) < kMostNarrow) {
      narrow.push_back(copy);
      continue;
    }
    const absl::Status status = Enqueue(
        context,
        StridedCopy{copy.source,
                    copy.destination,
                    element_bytes,
                    {{copy.rows, copy.from, copy.to}, {copy.length, 1, 1}}});
    if (!status.ok()) return status;
  }
  const int width = WidthOf(narrow, element_bytes);
  const int64_t factor = width / element_bytes;
  for (size_t first = 0; first < narrow.size(); first += kMaxRowCopies) {
    const size_t size = std::min<size_t>(kMaxRowCopies, narrow.size() - first);
    RowBatch batch = {};
    for (size_t i = 0; i < size; ++i) {
      const RowCopy& copy = narrow[first + i];
      batch.rows[i] = {copy.source,
                       copy.destination,
                       static_cast<uint32_t>(copy.rows * copy.length / factor),
                       Divisor<uint32_t>(copy.length / factor),
                       static_cast<uint32_t>(copy.from / factor),
                       static_cast<uint32_t>(copy.to / factor)};
    }
    const absl::Status status =
        EnqueueBatch(context, batch, static_cast<int>(size), width);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace tensord::cuda
