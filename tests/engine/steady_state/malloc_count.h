#ifndef TENSORD_TESTS_ENGINE_STEADY_STATE_MALLOC_COUNT_H_
#define TENSORD_TESTS_ENGINE_STEADY_STATE_MALLOC_COUNT_H_

#include <cstdint>

namespace tensord {

// How often the C library gave out memory in this program, on any thread,
// whoever asked: malloc and its relatives, which operator new ends in too.
// Sanitizers have their own allocator in its place, so under them it is the
// number of calls of operator new (AllocationCount).
// Threading: call from anywhere.
int64_t MallocCount();

}  // namespace tensord

#endif  // TENSORD_TESTS_ENGINE_STEADY_STATE_MALLOC_COUNT_H_
