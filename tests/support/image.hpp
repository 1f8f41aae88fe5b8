#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include <twill/buffer.hpp>

namespace support {

/// Device memory of `bytes` at a chosen misalignment, with random bytes before, in and after it, and what it should
/// hold on the host. After an operation, change `expected()` by the plain reference and ask `matches`: it compares
/// everything, so guards and gaps are checked with the data.
class image {
 public:
  static constexpr std::size_t guard = 512;

  /// `finite`: bytes from 0x10 to 0x3f only, which make ordinary numbers of every floating-point type.
  image(twill::stream_ref stream, std::size_t bytes, std::size_t misalignment, std::uint32_t seed, bool finite = false)
      : begin_(guard + misalignment), memory_(stream.on(), begin_ + bytes + guard), host_(memory_.size_bytes()) {
    std::mt19937 random(seed);
    std::size_t i = 0;
    for (; i + 4 <= host_.size(); i += 4) {
      const auto word = static_cast<std::uint32_t>(random());
      std::memcpy(host_.data() + i, &word, 4);
    }
    for (; i < host_.size(); ++i) host_[i] = static_cast<unsigned char>(random());
    for (auto& byte : host_) byte = finite ? static_cast<unsigned char>((byte & 0x2f) | 0x10) : byte;
    twill::upload_bytes(stream, host_.data(), memory_.data(), host_.size());
    stream.wait();  // callers change what `expected` gives, which is what was uploaded
  }

  void* data() const { return static_cast<unsigned char*>(memory_.data()) + begin_; }
  unsigned char* expected() { return host_.data() + begin_; }
  const unsigned char* expected() const { return host_.data() + begin_; }

  /// Waits for the stream and compares all bytes, guards included.
  bool matches(twill::stream_ref stream) const {
    std::vector<unsigned char> found(host_.size());
    twill::download_bytes(stream, memory_.data(), found.data(), found.size());
    stream.wait();
    return found == host_;
  }

  /// As `matches`, but what lies between the guards may be anything.
  bool guards_match(twill::stream_ref stream) const {
    std::vector<unsigned char> found(host_.size());
    twill::download_bytes(stream, memory_.data(), found.data(), found.size());
    stream.wait();
    const auto end = static_cast<std::ptrdiff_t>(host_.size() - guard);
    return std::equal(host_.begin(), host_.begin() + static_cast<std::ptrdiff_t>(begin_), found.begin()) &&
           std::equal(host_.begin() + end, host_.end(), found.begin() + end);
  }

 private:
  std::size_t begin_;
  twill::raw_buffer memory_;
  std::vector<unsigned char> host_;
};

}  // namespace support
