#pragma once

// Elements whose scans are exact, and guarded device memory for them.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

#include <twill/buffer.hpp>

namespace support {

/// Whole numbers, few enough of them large that sums stay exact in every type that does not wrap around.
template <class T>
std::vector<T> random_elements(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<T> elements(count);
  for (auto& x : elements) {
    if constexpr (std::is_integral_v<T>) {
      x = static_cast<T>(static_cast<std::uint64_t>(random()) * 0x9e3779b97f4a7c15u >> 7);
    } else if constexpr (sizeof(T) == 2) {
      x = T(static_cast<float>(static_cast<int>(random() % 3) - 1));
    } else if constexpr (std::is_floating_point_v<T>) {
      x = static_cast<T>(static_cast<int>(random() % 201) - 100);
    } else {
      x = T(static_cast<float>(static_cast<int>(random() % 9) - 4), static_cast<float>(random() % 5));
    }
  }
  return elements;
}

/// Device memory of `elements` at an offset, in bytes guarded on both sides.
template <class T>
class guarded {
 public:
  guarded(twill::stream_ref stream, const std::vector<T>& elements, std::size_t offset)
      : offset_(guard + offset), memory_(stream.on(), 2 * guard + 16 + elements.size() * sizeof(T)) {
    host_.assign(memory_.size_bytes(), 0xa5);
    if (!elements.empty()) std::memcpy(host_.data() + offset_, elements.data(), elements.size() * sizeof(T));
    twill::upload_bytes(stream, host_.data(), memory_.data(), host_.size());
    stream.wait();
  }
  T* data() const { return reinterpret_cast<T*>(static_cast<unsigned char*>(memory_.data()) + offset_); }

  /// Whether it holds these elements, and around them what was there before.
  bool holds(twill::stream_ref stream, const std::vector<T>& elements) {
    if (!elements.empty()) std::memcpy(host_.data() + offset_, elements.data(), elements.size() * sizeof(T));
    std::vector<unsigned char> found(host_.size());
    twill::download_bytes(stream, memory_.data(), found.data(), found.size());
    stream.wait();
    return found == host_;
  }

 private:
  static constexpr std::size_t guard = 256;
  std::size_t offset_;
  twill::raw_buffer memory_;
  std::vector<unsigned char> host_;
};

}  // namespace support
