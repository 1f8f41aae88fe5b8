#include "pattern.hpp"

#include <algorithm>
#include <cstring>
#include <future>
#include <thread>
#include <vector>

namespace twill::tool {

namespace {

void write_part(unsigned char* at, std::uint64_t first, std::size_t bytes) {
  std::uint64_t index = first / 8;
  for (; bytes >= 8; bytes -= 8, at += 8) {
    const std::uint64_t word = data_word(index++);
    std::memcpy(at, &word, 8);
  }
  const std::uint64_t last = data_word(index);
  std::memcpy(at, &last, bytes);
}

}  // namespace

void write_data(void* to, std::uint64_t first, std::size_t bytes) {
  constexpr std::size_t least = 1 << 20;  // bytes that are worth a thread
  const std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, bytes / least + 1);
  const std::size_t each = bytes / threads / 8 * 8;
  std::vector<std::future<void>> parts;
  for (std::size_t i = 0; i < threads; ++i) {
    const std::size_t begin = i * each, count = i + 1 < threads ? each : bytes - begin;
    parts.push_back(
        std::async(std::launch::async, write_part, static_cast<unsigned char*>(to) + begin, first + begin, count));
  }
  for (auto& one : parts) one.get();
}

}  // namespace twill::tool
