#include "backends/cuda/emulation/fiber.h"

// GCC defines a macro, Clang answers a question.
#if defined(__SANITIZE_ADDRESS__)
#define TENSORD_FIBERS_ARE_TOLD 1
#elif defined(__clang__)
#define TENSORD_FIBERS_ARE_TOLD __has_feature(address_sanitizer)
#else
#define TENSORD_FIBERS_ARE_TOLD 0
#endif
#if TENSORD_FIBERS_ARE_TOLD
#include <sanitizer/common_interface_defs.h>
#endif

namespace tensord::cuda::emulation {
namespace {

constexpr size_t kStackBytes = 256 * 1024;

// The fiber that is entered for the first time: makecontext passes no pointer.
thread_local Fiber* entered = nullptr;

// AddressSanitizer wants to know of each change of stacks, before and after.
void Leaving(void** shadow, const void* stack, size_t stack_bytes) {
#if TENSORD_FIBERS_ARE_TOLD
  __sanitizer_start_switch_fiber(shadow, stack, stack_bytes);
#else
  static_cast<void>(shadow), static_cast<void>(stack);
  static_cast<void>(stack_bytes);
#endif
}

void Arrived(void* shadow, const void** callers_stack, size_t* stack_bytes) {
#if TENSORD_FIBERS_ARE_TOLD
  __sanitizer_finish_switch_fiber(shadow, callers_stack, stack_bytes);
#else
  static_cast<void>(shadow), static_cast<void>(callers_stack);
  static_cast<void>(stack_bytes);
#endif
}

}  // namespace

Fiber::Fiber(void (*function)())
    : function_(function), stack_(new std::byte[kStackBytes]) {
  getcontext(&context_);
  context_.uc_stack.ss_sp = stack_.get();
  context_.uc_stack.ss_size = kStackBytes;
  context_.uc_link = nullptr;
  makecontext(&context_, &Fiber::Enter, 0);
}

void Fiber::Enter() {
  Fiber& fiber = *entered;
  Arrived(nullptr, &fiber.callers_stack_, &fiber.callers_stack_bytes_);
  fiber.function_();
}

void Fiber::Resume() {
  entered = this;
  Leaving(&callers_shadow_, stack_.get(), kStackBytes);
  swapcontext(&caller_, &context_);
  Arrived(callers_shadow_, nullptr, nullptr);
}

void Fiber::Yield() {
  Leaving(&own_shadow_, callers_stack_, callers_stack_bytes_);
  swapcontext(&context_, &caller_);
  Arrived(own_shadow_, &callers_stack_, &callers_stack_bytes_);
}

}  // namespace tensord::cuda::emulation
