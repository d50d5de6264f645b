#ifndef TENSORD_TESTS_SUPPORT_ALLOCATION_COUNT_H_
#define TENSORD_TESTS_SUPPORT_ALLOCATION_COUNT_H_

#include <cstdint>

namespace tensord {

// How often operator new has run in this program, on any thread. For claims
// such as "the second run allocates nothing":
//
//   const int64_t before = AllocationCount();
//   Run();
//   EXPECT_EQ(AllocationCount(), before);
//
// Only programs that link tensord_allocation_count have it: the library
// replaces operator new. Calls of malloc itself are not seen.
// Threading: call from anywhere.
int64_t AllocationCount();

}  // namespace tensord

#endif  // TENSORD_TESTS_SUPPORT_ALLOCATION_COUNT_H_
