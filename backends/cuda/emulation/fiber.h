#ifndef TENSORD_BACKENDS_CUDA_EMULATION_FIBER_H_
#define TENSORD_BACKENDS_CUDA_EMULATION_FIBER_H_

#include <ucontext.h>

#include <cstddef>
#include <memory>

namespace tensord::cuda::emulation {

// A stack of its own on which a function runs in turns with its caller.
//
// Threading: created and resumed by one thread, which is inside at most one of
//   its fibers at a time.
// Ownership: whoever made it. The function never returns: it yields for the
//   last time and is then gone with the stack, so it holds nothing by then.
class Fiber {
 public:
  explicit Fiber(void (*function)());
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs the function from where it was until it yields.
  void Resume();

  // Called inside: back to who resumed.
  void Yield();

 private:
  static void Enter();

  void (*const function_)();
  std::unique_ptr<std::byte[]> stack_;
  ucontext_t context_;
  ucontext_t caller_;
  // What AddressSanitizer keeps for each stack.
  void* own_shadow_ = nullptr;
  void* callers_shadow_ = nullptr;
  const void* callers_stack_ = nullptr;
  size_t callers_stack_bytes_ = 0;
};

}  // namespace tensord::cuda::emulation

#endif  // TENSORD_BACKENDS_CUDA_EMULATION_FIBER_H_
