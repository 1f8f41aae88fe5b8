// The calls that a compiler adds to kernels before their memory accesses (hooks.hpp). Each reports the access to the
// observer of the running block, where there is one. Atomic operations are the compiler's to replace, so these do them
// as well.

#include <cstdint>
#include <cstring>

#include "access_observer.hpp"

// The caller's own call, so that its address is the access's place in the source.
#define TWILL_CALLER __builtin_return_address(0)

namespace {

using twill::simt::access_kind;

// `alignment`: what a GPU requires of such an access; less than its width for types declared less aligned.
[[gnu::always_inline]] inline void report(const volatile void* at, std::size_t bytes, std::size_t alignment,
                                          access_kind kind, const void* place) {
  twill::simt::access_observer* const observer = twill::simt::running.observer;
  if (__builtin_expect(observer != nullptr, 0)) {
    observer->access(reinterpret_cast<std::uintptr_t>(at), bytes, alignment, kind, place);
  }
}

}  // namespace

#define TWILL_ACCESS(name, bytes, alignment)                        \
  void twill_simt_##name##read##bytes(const void* at) {             \
    report(at, bytes, alignment, access_kind::load, TWILL_CALLER);  \
  }                                                                 \
  void twill_simt_##name##write##bytes(const void* at) {            \
    report(at, bytes, alignment, access_kind::store, TWILL_CALLER); \
  }

// NOLINTBEGIN(bugprone-macro-parentheses): `word` is a type.
#define TWILL_FETCH(bits, word, name)                                               \
  word twill_simt_atomic##bits##_fetch_##name(volatile word* at, word value, int) { \
    report(at, sizeof(word), sizeof(word), access_kind::atomic, TWILL_CALLER);      \
    return __atomic_fetch_##name(at, value, __ATOMIC_SEQ_CST);                      \
  }

#define TWILL_EXCHANGE(bits, word, name)                                                                             \
  int twill_simt_atomic##bits##_compare_exchange_##name(volatile word* at, word* expected, word desired, int, int) { \
    report(at, sizeof(word), sizeof(word), access_kind::atomic, TWILL_CALLER);                                       \
    return __atomic_compare_exchange_n(at, expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);            \
  }

#define TWILL_ATOMIC(bits, word)                                                                                  \
  word twill_simt_atomic##bits##_load(const volatile word* at, int) {                                             \
    report(at, sizeof(word), sizeof(word), access_kind::atomic_load, TWILL_CALLER);                               \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                                 \
  }                                                                                                               \
  void twill_simt_atomic##bits##_store(volatile word* at, word value, int) {                                      \
    report(at, sizeof(word), sizeof(word), access_kind::atomic_store, TWILL_CALLER);                              \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                                \
  }                                                                                                               \
  word twill_simt_atomic##bits##_exchange(volatile word* at, word value, int) {                                   \
    report(at, sizeof(word), sizeof(word), access_kind::atomic, TWILL_CALLER);                                    \
    return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                                      \
  }                                                                                                               \
  TWILL_FETCH(bits, word, add)                                                                                    \
  TWILL_FETCH(bits, word, sub)                                                                                    \
  TWILL_FETCH(bits, word, and)                                                                                    \
  TWILL_FETCH(bits, word, or)                                                                                     \
  TWILL_FETCH(bits, word, xor)                                                                                    \
  TWILL_EXCHANGE(bits, word, strong)                                                                              \
  TWILL_EXCHANGE(bits, word, weak)                                                                                \
  word twill_simt_atomic##bits##_compare_exchange_val(volatile word* at, word expected, word desired, int, int) { \
    report(at, sizeof(word), sizeof(word), access_kind::atomic, TWILL_CALLER);                                    \
    __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);               \
    return expected;                                                                                              \
  }
// NOLINTEND(bugprone-macro-parentheses)

#pragma GCC visibility push(default)
extern "C" {

TWILL_ACCESS(, 1, 1)
TWILL_ACCESS(, 2, 2)
TWILL_ACCESS(, 4, 4)
TWILL_ACCESS(, 8, 8)
TWILL_ACCESS(, 16, 16)
// Of types declared less aligned than they are wide, such as a packed member: compilers for GPUs take them in parts.
TWILL_ACCESS(unaligned_, 2, 1)
TWILL_ACCESS(unaligned_, 4, 1)
TWILL_ACCESS(unaligned_, 8, 1)
TWILL_ACCESS(unaligned_, 16, 1)
TWILL_ATOMIC(8, std::uint8_t)
TWILL_ATOMIC(16, std::uint16_t)
TWILL_ATOMIC(32, std::uint32_t)
TWILL_ATOMIC(64, std::uint64_t)

void twill_simt_atomic_thread_fence(int) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void twill_simt_atomic_signal_fence(int) {}

void twill_simt_read_range(const void* at, std::size_t bytes) {
  report(at, bytes, 1, access_kind::load, TWILL_CALLER);
}
void twill_simt_write_range(const void* at, std::size_t bytes) {
  report(at, bytes, 1, access_kind::store, TWILL_CALLER);
}
void* twill_simt_memcpy(void* to, const void* from, std::size_t bytes) {
  report(from, bytes, 1, access_kind::load, TWILL_CALLER);
  report(to, bytes, 1, access_kind::store, TWILL_CALLER);
  return std::memcpy(to, from, bytes);
}
void* twill_simt_memmove(void* to, const void* from, std::size_t bytes) {
  report(from, bytes, 1, access_kind::load, TWILL_CALLER);
  report(to, bytes, 1, access_kind::store, TWILL_CALLER);
  return std::memmove(to, from, bytes);
}
void* twill_simt_memset(void* to, int value, std::size_t bytes) {
  report(to, bytes, 1, access_kind::store, TWILL_CALLER);
  return std::memset(to, value, bytes);
}

// Nothing to see in these.
void twill_simt_init() {}
void twill_simt_func_entry(const void*) {}
void twill_simt_func_exit() {}
void twill_simt_vptr_update(const void*, const void*) {}
void twill_simt_vptr_read(const void*) {}

}  // extern "C"
#pragma GCC visibility pop
