#include "block_watch.hpp"

namespace twill::simt {

block_watch::block_watch(recording& recording, const memory_map& memory, const void* kernel)
    : memory_(memory), kernel_(kernel), recorder_(recording) {}

void block_watch::begin_block(std::uint64_t block, unsigned threads) {
  static_shared_ = thread_locals_of(kernel_);
  recorder_.begin_block(block, threads);
}

void block_watch::access(std::uintptr_t at, std::size_t bytes, access_kind kind, const void* place) {
  const byte_range dynamic{reinterpret_cast<std::uintptr_t>(running.shared), running.shared_bytes};
  const byte_range own{reinterpret_cast<std::uintptr_t>(&running), sizeof running};
  const bool store = kind != access_kind::load && kind != access_kind::atomic_load;
  if (dynamic.holds(at)) {
    record(memory_space::shared, at - dynamic.base, bytes, store, place);
  } else if (static_shared_.holds(at)) {
    if (!own.holds(at)) record(memory_space::shared, at - static_shared_.base, bytes, store, place);
  } else if (const auto* range = memory_.find(at)) {
    record(memory_space::global, range->device_address + (at - range->base), bytes, store, place);
  }
}

// A copy of a whole object comes as one access of any size; no GPU moves more than 16 bytes at once.
void block_watch::record(memory_space space, std::uint64_t address, std::size_t bytes, bool store, const void* place) {
  while (bytes > 0) {
    std::size_t part = 16;
    while (part > bytes || address % part != 0) part /= 2;
    if (bytes <= 16 && (bytes & (bytes - 1)) == 0) part = bytes;
    recorder_.add(running.thread, space, address, part, store, place);
    address += part;
    bytes -= part;
  }
}

void block_watch::end_interval() {
  recorder_.end_interval(running.interval);
}

}  // namespace twill::simt
