#include "ring.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace twill::detail {

std::size_t ring::head_bytes(int ranks) {
  constexpr std::size_t page = 4096;
  return ((first_word + static_cast<std::size_t>(ranks)) * sizeof(std::uint64_t) + page - 1) / page * page;
}

ring::ring(int ranks, std::uint64_t messages_of_a_run, std::size_t slot_bytes)
    : memory_(shared_segment::make(head_bytes(ranks) + slots * slot_bytes)), first_slot_(head_bytes(ranks)) {
  word(messages_word) = messages_of_a_run;
  word(slot_word) = slot_bytes;
}

ring::ring(int ranks, const segment_ticket& of) : memory_(shared_segment::open(of)), first_slot_(head_bytes(ranks)) {}

void ring::sleep(std::chrono::milliseconds most) const {
  const timespec time{most.count() / 1000, most.count() % 1000 * 1000000};
  syscall(SYS_futex, &sleeper(), FUTEX_WAIT, 1, &time, nullptr, 0);
}

void ring::wake_sleeper() const {
  if (__atomic_exchange_n(&sleeper(), 0, __ATOMIC_SEQ_CST) != 0) {
    syscall(SYS_futex, &sleeper(), FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }
}

}  // namespace twill::detail
