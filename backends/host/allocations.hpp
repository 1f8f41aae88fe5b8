#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace twill::host {

/// A piece of device memory, there now or released.
struct allocation {
  std::uintptr_t base = 0;
  std::size_t bytes = 0;
  std::uint64_t serial = 0;  ///< how many were made before it
  bool released = false;

  bool holds(std::uintptr_t address) const { return address - base < bytes; }
};

/// Which memory a device has given out, and which it has taken back lately. Safe to use from several threads.
class allocations {
 public:
  /// Throws: std::bad_alloc.
  void add(const void* base, std::size_t bytes);
  /// Its size; none when `base` is not the base of a live allocation.
  std::optional<std::size_t> remove(const void* base) noexcept;

  std::size_t live_bytes() const;

  /// Those that are there now, the oldest first.
  std::vector<allocation> live_by_age() const;

  /// The live allocation that `address` lies in, else the one released last; none when it never was device memory, or
  /// too long ago.
  std::optional<allocation> find(const void* address) const;

  /// The live allocation that `address` lies in.
  std::optional<allocation> find_live(const void* address) const;

 private:
  const allocation* live_at(std::uintptr_t address) const;

  static constexpr std::size_t remembered = 4096;

  mutable std::mutex mutex_;
  std::map<std::uintptr_t, allocation> live_;
  std::vector<allocation> released_ = std::vector<allocation>(remembered);  // the last ones, as a ring
  std::size_t releases_ = 0, live_bytes_ = 0;
  std::uint64_t made_ = 0;
};

}  // namespace twill::host
