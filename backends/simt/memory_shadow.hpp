#pragma once

// Which bytes of device memory anybody has written, for devices that check their kernels.

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace twill::simt {

/// Safe to use from several threads. Addresses that it does not know are left alone.
class memory_shadow {
 public:
  void add(const void* base, std::size_t bytes);
  void remove(const void* base) noexcept;

  /// The host has written `bytes` bytes at `at`.
  void write(const void* at, std::size_t bytes);
  /// `bytes` bytes were copied: what was not written before is not written after.
  void copy(const void* to, const void* from, std::size_t bytes);

  /// How many of the bytes at `at` nobody has written; 0 where it does not know them.
  std::size_t unwritten(const void* at, std::size_t bytes);

  /// A byte for each one of the allocation at `base`: 0 until it is written. nullptr where there is none.
  std::uint8_t* flags_of(std::uintptr_t base);

 private:
  std::uint8_t* find(const void* at, std::size_t bytes);

  std::mutex mutex_;
  std::map<std::uintptr_t, std::vector<std::uint8_t>> flags_;
};

}  // namespace twill::simt
