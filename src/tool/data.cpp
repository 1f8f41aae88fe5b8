#include "data.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <future>
#include <thread>
#include <vector>

#include <twill/element.hpp>

namespace twill::tool {
namespace {

/// Sixteen numbers come from a word of the data: 1 to 8 and their opposites, each as often.
std::int64_t small_number(std::uint64_t index) {
  const auto sixteenth = static_cast<std::int64_t>(data_word(index / 16) >> (4 * (index % 16)) & 15);
  return sixteenth < 8 ? sixteenth + 1 : 7 - sixteenth;
}

template <class T>
T to_element(std::int64_t number) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
    return T(static_cast<float>(number));
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    return {static_cast<float>(number), 0};
  } else if constexpr (std::is_same_v<T, std::complex<double>>) {
    return {static_cast<double>(number), 0};
  } else {
    return static_cast<T>(number);
  }
}

template <class T>
void write_small(void* to, std::uint64_t first, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes / sizeof(T); ++i) {
    const T element = to_element<T>(small_number(first / sizeof(T) + i));
    std::memcpy(static_cast<unsigned char*>(to) + i * sizeof(T), &element, sizeof(T));
  }
}

template <class T>
std::int64_t to_integer(T element) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
    return static_cast<std::int64_t>(static_cast<float>(element));
  } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    return static_cast<std::int64_t>(element.real());
  } else {
    return static_cast<std::int64_t>(element);
  }
}

/// Calls f with a value of the C++ type of `kind`.
template <class F>
auto with_type(twill::element_type kind, F&& f) {
  using type = twill::element_type;
  switch (kind) {
    case type::i8:
      return f(std::int8_t{});
    case type::i16:
      return f(std::int16_t{});
    case type::i32:
      return f(std::int32_t{});
    case type::i64:
      return f(std::int64_t{});
    case type::u8:
      return f(std::uint8_t{});
    case type::u16:
      return f(std::uint16_t{});
    case type::u32:
      return f(std::uint32_t{});
    case type::u64:
      return f(std::uint64_t{});
    case type::f16:
      return f(float16{});
    case type::bf16:
      return f(bfloat16{});
    case type::f32:
      return f(float{});
    case type::f64:
      return f(double{});
    case type::c64:
      return f(std::complex<float>{});
    default:
      return f(std::complex<double>{});
  }
}

void write_words(unsigned char* at, std::uint64_t first, std::size_t bytes) {
  std::uint64_t index = first / 8;
  for (; bytes >= 8; bytes -= 8, at += 8) {
    const std::uint64_t word = data_word(index++);
    std::memcpy(at, &word, 8);
  }
  const std::uint64_t last = data_word(index);
  std::memcpy(at, &last, bytes);
}

void write_part(unsigned char* to, std::uint64_t first, std::size_t bytes, twill::element_type kind) {
  with_type(kind, [&](auto number) {
    using T = decltype(number);
    if constexpr (std::is_integral_v<T>) {
      write_words(to, first, bytes);
    } else {
      write_small<T>(to, first, bytes);
    }
  });
}

}  // namespace

void require_number(const std::string& operation, const element_type& type) {
  if (type.bytes == static_cast<std::int64_t>(element_bytes(type.kind))) return;
  refuse(fmt::format("{} cannot take {}", operation, type.name), "it calculates, and these are only bytes",
         "choose a number with --type, for example f32");
}

void write_data(void* to, std::uint64_t first, std::size_t bytes, twill::element_type kind) {
  constexpr std::size_t least = 1 << 20;  // bytes that are worth a thread
  const std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, bytes / least + 1);
  const std::size_t each = bytes / threads / 64 * 64;
  std::vector<std::future<void>> parts;
  for (std::size_t i = 0; i < threads; ++i) {
    const std::size_t begin = i * each, count = i + 1 < threads ? each : bytes - begin;
    parts.push_back(std::async(std::launch::async, write_part, static_cast<unsigned char*>(to) + begin, first + begin,
                               count, kind));
  }
  for (auto& one : parts) one.get();
}

std::vector<unsigned char> data_from(std::uint64_t first, std::size_t bytes, twill::element_type kind) {
  const std::size_t skip = first % 64;
  std::vector<unsigned char> wide((skip + bytes + 63) / 64 * 64);
  write_data(wide.data(), first - skip, wide.size(), kind);
  const auto* from = wide.data() + skip;
  return {from, from + bytes};
}

void read_numbers(const void* from, std::int64_t count, twill::element_type kind, std::int64_t* to) {
  with_type(kind, [&](auto type) {
    for (std::int64_t i = 0; i < count; ++i) {
      auto element = type;
      std::memcpy(&element, static_cast<const unsigned char*>(from) + i * static_cast<std::int64_t>(sizeof element),
                  sizeof element);
      to[i] = to_integer(element);
    }
  });
}

void store_numbers(void* to, const std::int64_t* from, std::int64_t count, twill::element_type kind) {
  with_type(kind, [&](auto type) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto element = to_element<decltype(type)>(from[i]);
      std::memcpy(static_cast<unsigned char*>(to) + i * static_cast<std::int64_t>(sizeof element), &element,
                  sizeof element);
    }
  });
}

}  // namespace twill::tool
