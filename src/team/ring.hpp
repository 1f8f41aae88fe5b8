#pragma once

// Messages between ranks of one host through shared memory: each rank has a ring of slots, which it fills in the order
// of its messages, whoever they are for.

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "team/shared_segment.hpp"

namespace twill::detail {

/// The ring of one rank, in its own process or as mapped by another. A message has a number, counted over all runs; its
/// slot is free when the message before it in there was taken.
class ring {
 public:
  static constexpr std::uint64_t slots = 4;

  ring() = default;
  /// `ranks`: of the team. Throws: unsupported, out_of_memory.
  ring(int ranks, std::uint64_t messages_of_a_run, std::size_t slot_bytes);
  /// Throws: unsupported.
  ring(int ranks, const segment_ticket& of);

  segment_ticket ticket() const { return memory_.ticket(); }
  void close() noexcept { memory_.close(); }

  /// Of each run's messages, the first one that is for `rank`; set before the others look.
  std::uint64_t& first_for(int rank) const { return word(first_word + static_cast<std::size_t>(rank)); }
  std::uint64_t messages_of_a_run() const { return word(messages_word); }

  /// How many runs the rank has begun.
  std::uint64_t begun() const { return __atomic_load_n(&word(begun_word), __ATOMIC_ACQUIRE); }
  void begin(std::uint64_t run) const { __atomic_store_n(&word(begun_word), run, __ATOMIC_RELEASE); }

  // A rank sleeps at its own ring: it says so, looks once more for what it waits for, and sleeps until another has
  // woken it. Who has filled a slot for it, or taken one of its, wakes it.
  void prepare_sleep() const { __atomic_store_n(&sleeper(), 1, __ATOMIC_SEQ_CST); }
  void cancel_sleep() const { __atomic_store_n(&sleeper(), 0, __ATOMIC_SEQ_CST); }
  void sleep(std::chrono::milliseconds most) const;
  void wake() const {
    if (__atomic_load_n(&sleeper(), __ATOMIC_SEQ_CST) != 0) wake_sleeper();
  }

  bool is_free(std::uint64_t message) const { return load(taken_word(message)) + slots > message; }
  bool is_filled(std::uint64_t message) const { return load(filled_word(message)) == message + 1; }
  void fill(std::uint64_t message) const { store(filled_word(message), message + 1); }
  void take(std::uint64_t message) const { store(taken_word(message), message + 1); }

  unsigned char* slot(std::uint64_t message) const {
    return memory_.data() + first_slot_ + message % slots * static_cast<std::size_t>(word(slot_word));
  }

 private:
  static constexpr std::size_t line = 8;  // words: what two ranks write at a time is in different lines
  static constexpr std::size_t messages_word = 1, slot_word = 2, begun_word = line, sleeper_word = 2 * line,
                               counters_word = 3 * line, first_word = counters_word + 2 * slots * line;

  static std::size_t head_bytes(int ranks);
  static std::size_t filled_word(std::uint64_t message) { return counters_word + message % slots * 2 * line; }
  static std::size_t taken_word(std::uint64_t message) { return filled_word(message) + line; }
  std::uint64_t& word(std::size_t at) const { return reinterpret_cast<std::uint64_t*>(memory_.data())[at]; }
  std::uint64_t load(std::size_t at) const { return __atomic_load_n(&word(at), __ATOMIC_SEQ_CST); }
  void store(std::size_t at, std::uint64_t value) const { __atomic_store_n(&word(at), value, __ATOMIC_SEQ_CST); }
  std::uint32_t& sleeper() const { return reinterpret_cast<std::uint32_t*>(memory_.data())[2 * sleeper_word]; }
  void wake_sleeper() const;

  shared_segment memory_;
  std::size_t first_slot_ = 0;
};

}  // namespace twill::detail
