#include "fiber.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "backends/error.hpp"

namespace twill::simt {
namespace {

constexpr std::size_t guard_bytes = 4096;
#ifdef TWILL_SIMT_ASAN
constexpr std::size_t pitch = 256u << 10;  // its frames are several times larger
#else
constexpr std::size_t pitch = 64u << 10;
#endif

}  // namespace

stack_pool::stack_pool(std::size_t count, bool guarded) : bytes_(count * pitch) {
  void* const memory =
      mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) {
    detail::fail(errc::out_of_memory, "no stacks for simulated threads",
                 std::to_string(bytes_ >> 20) + " MiB of address space were asked for: " + std::strerror(errno),
                 "raise the limit of address space (ulimit -v) or of mappings (vm.max_map_count), or let TWILL_THREADS "
                 "name fewer threads");
  }
  memory_ = static_cast<char*>(memory);
  // Done without where it cannot be had: a guard only makes an overflow fail where it happens.
  for (std::size_t i = 0; guarded && i < count; ++i) (void)mprotect(memory_ + i * pitch, guard_bytes, PROT_NONE);
}

stack_pool::~stack_pool() {
#ifdef TWILL_SIMT_ASAN
  __asan_unpoison_memory_region(memory_, bytes_);  // of the last frames, for whatever is allocated here next
#endif
  munmap(memory_, bytes_);
}

char* stack_pool::low(std::size_t index) const noexcept {
  return memory_ + index * pitch + guard_bytes;
}

char* stack_pool::top(std::size_t index) const noexcept {
  // Tops at one offset within their pages would all compete for the same few lines of the cache.
  return memory_ + (index + 1) * pitch - index % 16 * 192;
}

void fiber::start_on([[maybe_unused]] char* low, char* top, fiber_entry entry) {
#ifdef TWILL_SIMT_ASAN
  low_ = low;
  bytes_ = static_cast<std::size_t>(top - low);
#endif
  prepare(context_, top, entry);
}

void fiber::leave(fiber& to) noexcept {
#ifdef TWILL_SIMT_ASAN
  to.from_ = this;
  __sanitizer_start_switch_fiber(nullptr, to.low_, to.bytes_);
#endif
  machine_switch(context_, to.context_);
  __builtin_unreachable();
}

}  // namespace twill::simt
