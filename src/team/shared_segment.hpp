#pragma once

// Host memory that several processes of one host map.

#include <cstddef>
#include <cstdint>

namespace twill::detail {

/// How another process finds a segment while its maker still holds it open.
struct segment_ticket {
  std::int64_t process, file;
  std::uint64_t bytes, number;  ///< `number` is the segment's own: it begins with it
};

/// A file without a name: the system frees it with its last mapping, however processes end.
class shared_segment {
 public:
  shared_segment() = default;
  ~shared_segment();
  shared_segment(shared_segment&& other) noexcept;
  shared_segment& operator=(shared_segment&& other) noexcept;
  shared_segment(const shared_segment&) = delete;
  shared_segment& operator=(const shared_segment&) = delete;

  /// All zero but for the first eight bytes. Throws: unsupported, out_of_memory.
  static shared_segment make(std::size_t bytes);
  /// Throws: unsupported where the process cannot map it: another host's or container's, or another user's.
  static shared_segment open(const segment_ticket& of);

  segment_ticket ticket() const;
  /// No process can open it from now on.
  void close() noexcept;

  unsigned char* data() const noexcept { return data_; }

 private:
  void map(int file, std::size_t bytes);

  unsigned char* data_ = nullptr;
  std::size_t bytes_ = 0;
  int file_ = -1;
};

}  // namespace twill::detail
