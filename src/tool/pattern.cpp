#include "pattern.hpp"

#include <cstring>

namespace twill::tool {

void write_data(void* to, std::uint64_t first, std::size_t bytes) {
  auto* at = static_cast<unsigned char*>(to);
  std::uint64_t index = first / 8;
  for (; bytes >= 8; bytes -= 8, at += 8) {
    const std::uint64_t word = data_word(index++);
    std::memcpy(at, &word, 8);
  }
  const std::uint64_t last = data_word(index);
  std::memcpy(at, &last, bytes);
}

}  // namespace twill::tool
