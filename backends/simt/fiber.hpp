#pragma once

// Fibers and their stacks. Knows nothing of kernels.

#include <cstddef>

#include "machine_switch.hpp"

namespace twill::simt {

/// Stacks of one size, taken from the operating system only as far as they are touched.
class stack_pool {
 public:
  /// `guarded`: with a page below each stack that cannot be touched. Throws: out_of_memory.
  stack_pool(std::size_t count, bool guarded);
  ~stack_pool();
  stack_pool(const stack_pool&) = delete;
  stack_pool& operator=(const stack_pool&) = delete;

  /// All stacks together.
  const char* begin() const noexcept { return memory_; }
  std::size_t bytes() const noexcept { return bytes_; }

  char* low(std::size_t index) const noexcept;
  char* top(std::size_t index) const noexcept;

 private:
  char* memory_;
  std::size_t bytes_;
};

/// A suspended flow of control. One that was never prepared stands for the stack of the OS thread.
class fiber {
 public:
  /// Makes it start `entry` when first resumed. `entry` begins with `arrive`, and ends with `leave`.
  void start_on(char* low, char* top, fiber_entry entry);

  /// Suspends the caller, which must be this fiber, and goes on with `to`; returns when somebody resumes this one.
  [[gnu::always_inline]] void resume(fiber& to) noexcept {
#ifdef TWILL_SIMT_ASAN
    to.from_ = this;
    __sanitizer_start_switch_fiber(&fake_stack_, to.low_, to.bytes_);
#endif
    machine_switch(context_, to.context_);
    arrive();
  }

  /// Completes the switch that led here.
  void arrive() noexcept {
#ifdef TWILL_SIMT_ASAN
    __sanitizer_finish_switch_fiber(fake_stack_, &from_->low_, &from_->bytes_);
#endif
  }

  /// As `resume`, for the last time: the stack may be freed then.
  [[noreturn]] void leave(fiber& to) noexcept;

 private:
  machine_context context_;
#ifdef TWILL_SIMT_ASAN
  const void* low_ = nullptr;
  std::size_t bytes_ = 0;
  void* fake_stack_ = nullptr;
  fiber* from_ = nullptr;
#endif
};

}  // namespace twill::simt
