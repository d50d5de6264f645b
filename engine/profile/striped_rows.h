#ifndef TENSORD_ENGINE_PROFILE_STRIPED_ROWS_H_
#define TENSORD_ENGINE_PROFILE_STRIPED_ROWS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

namespace tensord::op_profile {

inline constexpr size_t kStripeCount = 16;

// Which stripe the calling thread writes: threads are dealt out in turn when
// they first ask, and keep theirs.
size_t ThreadStripe();

// A fixed number of rows that many threads write at once: each thread writes
// the cell of its stripe, and a reader adds the stripes up. Two threads on one
// stripe share a cache line, so a Cell is made of atomics and loses nothing.
// Rows are allocated on first use, and only those exist for a reader.
//
// Threading: thread-safe and lock-free; the first write of a row allocates.
template <typename Cell>
class StripedRows {
 public:
  explicit StripedRows(size_t row_count) : rows_(row_count) {}
  ~StripedRows() {
    for (auto& row : rows_) delete row.load(std::memory_order_relaxed);
  }
  StripedRows(const StripedRows&) = delete;
  StripedRows& operator=(const StripedRows&) = delete;

  size_t row_count() const { return rows_.size(); }
  bool IsUsed(size_t row) const {
    return rows_[row].load(std::memory_order_acquire) != nullptr;
  }

  // The calling thread's cell of the row.
  Cell& Mine(size_t row) {
    Stripes* stripes = rows_[row].load(std::memory_order_acquire);
    if (stripes == nullptr) stripes = Allocate(rows_[row]);
    return (*stripes)[ThreadStripe()].cell;
  }

  // Calls `read(const Cell&)` for every stripe of a used row.
  template <typename Read>
  void ForEachStripe(size_t row, Read&& read) const {
    const Stripes* stripes = rows_[row].load(std::memory_order_acquire);
    if (stripes == nullptr) return;
    for (const Aligned& stripe : *stripes) read(stripe.cell);
  }

 private:
  struct alignas(64) Aligned {
    Cell cell;
  };
  using Stripes = std::array<Aligned, kStripeCount>;

  static Stripes* Allocate(std::atomic<Stripes*>& row) {
    auto fresh = std::make_unique<Stripes>();
    Stripes* current = nullptr;
    if (row.compare_exchange_strong(current, fresh.get(),
                                    std::memory_order_acq_rel)) {
      return fresh.release();
    }
    return current;
  }

  std::vector<std::atomic<Stripes*>> rows_;
};

}  // namespace tensord::op_profile

#endif  // TENSORD_ENGINE_PROFILE_STRIPED_ROWS_H_
