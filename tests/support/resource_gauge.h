#ifndef TENSORD_TESTS_SUPPORT_RESOURCE_GAUGE_H_
#define TENSORD_TESTS_SUPPORT_RESOURCE_GAUGE_H_

#include <cstdint>

namespace tensord {

// What a piece of a test costs the whole process: processor time of all its
// threads, which does not grow when the machine is busy with something else,
// and the most memory that it has held at once.
//
//   ResourceGauge gauge;
//   Refuse(model);
//   EXPECT_LT(gauge.CpuSeconds(), 2 * BuildSlowdown());
//
// Threading: one thread; one gauge at a time, since the kernel keeps one peak.
class ResourceGauge {
 public:
  ResourceGauge();  // begins to measure

  double CpuSeconds() const;
  // Above what was held at the start. Memory that is asked for and never
  // touched is not held.
  int64_t PeakBytes() const;

 private:
  double start_seconds_;
  int64_t start_bytes_;
};

// What the process has open now. Libraries end threads and close connections in
// their own time, so ask again until it is as few as expected.
int64_t OpenFileCount();
int64_t ThreadCount();

// How many times longer this build takes than one that is optimised, at most: a
// limit on time is multiplied by it.
double BuildSlowdown();

}  // namespace tensord

#endif  // TENSORD_TESTS_SUPPORT_RESOURCE_GAUGE_H_
