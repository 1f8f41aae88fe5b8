#pragma once

// The bare switch between two stacks: by Boost.Context, and on x86-64 by a jump of our own, which takes half the time.
// (Boost's stores and loads the floating-point control words, which kernels do not change, and is a call, after which
// the processor predicts every return wrongly. Builds with the address sanitizer use Boost's on every processor.)

#include <cstring>

#include "sanitizer.hpp"

#if defined(__x86_64__) && !defined(TWILL_SIMT_ASAN)
#define TWILL_SIMT_OWN_SWITCH 1
#else
#include <boost/context/detail/fcontext.hpp>
#endif

namespace twill::simt {

using fiber_entry = void (*)();

#ifdef TWILL_SIMT_OWN_SWITCH

/// Where a suspended flow of control goes on.
struct machine_context {
  void* stack = nullptr;
  void* next = nullptr;
  void* frame = nullptr;
};

/// Makes `context` start `entry`, which must not return, on the stack that ends at `top` (aligned to 16 bytes).
inline void prepare(machine_context& context, char* top, fiber_entry entry) {
  // As after a call: the word on the stack is the return address, and 0 ends a backtrace.
  char* const stack = top - sizeof(void*);
  std::memset(stack, 0, sizeof(void*));
  context = {stack, reinterpret_cast<void*>(entry), nullptr};
}

/// Suspends the caller in `from` and goes on with `to`; returns when somebody switches to `from`.
[[gnu::always_inline]] inline void machine_switch(machine_context& from, machine_context& to) noexcept {
  machine_context *save = &from, *load = &to;
  asm volatile(
      "leaq 1f(%%rip), %%rdx\n\t"
      "movq %%rsp, 0(%%rax)\n\t"
      "movq %%rdx, 8(%%rax)\n\t"
      "movq %%rbp, 16(%%rax)\n\t"
      "movq 0(%%rcx), %%rsp\n\t"
      "movq 16(%%rcx), %%rbp\n\t"
      "jmpq *8(%%rcx)\n"
      "1:\n\t"
      : "+a"(save), "+c"(load)
      :
      : "memory", "cc", "rbx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0",
        "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
        "xmm14", "xmm15"
#ifdef __AVX512F__
        ,
        "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27",
        "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#endif
  );
}

#else

struct machine_context {
  boost::context::detail::fcontext_t suspended = nullptr;
  fiber_entry entry = nullptr;
  machine_context* from = nullptr;  // who switched here last
};

inline void machine_start(boost::context::detail::transfer_t came) {
  const auto& self = *static_cast<const machine_context*>(came.data);
  self.from->suspended = came.fctx;
  self.entry();
}

inline void prepare(machine_context& context, char* top, fiber_entry entry) {
  context = {boost::context::detail::make_fcontext(top, 0, &machine_start), entry, nullptr};
}

inline void machine_switch(machine_context& from, machine_context& to) noexcept {
  to.from = &from;
  const auto came = boost::context::detail::jump_fcontext(to.suspended, &to);
  from.from->suspended = came.fctx;
}

#endif

}  // namespace twill::simt
