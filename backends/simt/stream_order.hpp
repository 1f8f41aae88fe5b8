#pragma once

// What orders the work of a device's streams, and which of them touched each byte of memory last: races between
// streams, and so between the ranks of a team, are found by happens-before (L. Lamport, 1978: Time, clocks, and the
// ordering of events in a distributed system), with a vector clock for each stream.
//
// Edges: the order of a stream; an event that is recorded and waited for; a counter that is released and acquired at
// system scope; the host, which waits for a stream or an event and then gives work to any. What one host thread has
// waited for counts as known to all, for how host threads order each other is not seen. Where an order passes through
// the default stream or another device, which are not followed, all earlier accesses are forgotten.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "access_kind.hpp"

namespace twill::simt {

/// A launch, a copy or a fill.
struct stream_work {
  const void* kernel = nullptr;  ///< nullptr: no launch
  const char* name = "";         ///< of what is no launch: "a copy"
};

/// What a later access of another stream races with.
struct unordered_access {
  stream_work work;
  bool store;
};

/// "kernel twill::simt::kernels::exchange_tiles<4> stored"
std::string text_of(const unordered_access& access);

inline constexpr char unordered_advice[] = "order the two by an event, a wait of the host or a handshake";

/// Safe to use from several threads.
class stream_order {
 public:
  /// Larger allocations are not followed: the history takes eight bytes for each byte.
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;

  /// Forgets all accesses: no later one races with them.
  void clear();

  void add_stream(const void* stream);
  void remove_stream(const void* stream) noexcept;
  void remove_event(const void* event) noexcept;

  void record(const void* event, const void* stream);
  void hold(const void* stream, const void* event);
  void wait_on_host_for_stream(const void* stream);
  void wait_on_host_for_event(const void* event);

  /// Work is given to a stream, and is its current one from now on. False where there is nothing to follow: no other
  /// stream to race with, or the default stream, which is not followed.
  bool begin(const void* stream, const stream_work& work);

  /// The current work of `stream` touches `bytes` bytes.
  std::optional<unordered_access> touch(const void* stream, std::uintptr_t first, std::size_t bytes, access_kind kind);

  /// The current work of `stream` is about to store to `word` with release semantics, or has loaded it with acquire
  /// semantics.
  void release(const void* stream, const void* word);
  void acquire(const void* stream, const void* word);

  /// Memory that is released.
  void forget(const void* base, std::size_t bytes) noexcept;

 private:
  using vector_clock = std::vector<std::uint32_t>;  // by slot

  // Streams have slots, which later ones take over with their clock.
  struct slot_state {
    vector_clock known;        // its own entry counts its work
    std::uint32_t work = 0;    // number of the current one
    const void* of = nullptr;  // the live stream
  };
  struct work_record {
    std::size_t slot;
    std::uint32_t time;
    stream_work work;
  };
  // Numbers of works, 0 none. The highest bit: the access was atomic.
  struct byte_history {
    std::uint32_t writer, reader;
  };
  static constexpr std::size_t page_bytes = 4096, most_pages = 65536;  // 2 GiB of history: then it begins anew
  struct page {
    byte_history of[page_bytes];
  };

  slot_state* slot_of(const void* stream);
  void new_work(slot_state& slot, const stream_work& work);
  byte_history& history_of(std::uintptr_t byte);
  const work_record* unordered(std::uint32_t number, bool atomic, std::size_t self) const;
  void drop_what_is_ordered();
  void forget_all();

  std::mutex mutex_;
  std::vector<slot_state> slots_;
  std::unordered_map<const void*, std::size_t> streams_;
  std::unordered_map<const void*, vector_clock> events_, released_;
  vector_clock host_;
  std::vector<work_record> works_;
  std::unordered_map<std::uintptr_t, std::unique_ptr<page>> pages_;
  std::uintptr_t last_key_ = 0;
  page* last_ = nullptr;
};

}  // namespace twill::simt
