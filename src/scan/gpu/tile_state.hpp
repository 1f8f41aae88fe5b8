#pragma once

// How blocks publish the sums of tiles. A sum is split into 32-bit pieces, each stored in a 64-bit word together with
// half of the launch's tag: a reader that sees the tag in all words has the sum, without a fence and in any order of
// arrival. Words are written once in a launch (or again with the same bits). Stale words must not carry the whole tag;
// one that carries its half by chance is harmless unless a reader sees it beside a new one, hence 16-byte stores, and
// sums of 4 bytes are stored twice.

#include <cstdint>
#include <cstring>

#include "device.hpp"
#include "operators.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// The tag of launches whose words are 0 at first.
inline constexpr std::uint64_t tag_in_cleared_words = std::uint64_t{1} << 32 | 1;

/// Words that a value of so many bytes takes: an even number, for both halves of the tag. Values of 4 bytes are
/// stored twice; the copies must agree.
constexpr int state_words_for(int value_bytes) {
  return value_bytes == 4 ? 2 : value_bytes / 4;
}

template <class Value>
struct state_words {
  static constexpr int count = state_words_for(sizeof(Value));
  static_assert(sizeof(Value) % 4 == 0 && count % 2 == 0);
};
template <class Value>
struct state_words<segment_value<Value>> : state_words<Value> {};

/// The half of a tag that word i carries.
__device__ inline std::uint32_t half_of_tag(std::uint64_t tag, int i) {
  return static_cast<std::uint32_t>(i % 2 == 0 ? tag : tag >> 32);
}

/// `head` is 0 or 1.
template <class Value>
__device__ inline void publish_with_head(std::uint64_t* at, Value value, std::uint32_t head, std::uint64_t tag) {
  constexpr int count = state_words<Value>::count;
  std::uint32_t pieces[count];
  memcpy(pieces, &value, sizeof value);
  if constexpr (sizeof value == 4) pieces[1] = pieces[0];
  const auto word = [&](int i) {
    const std::uint32_t half = half_of_tag(tag, i) + (i == 0 ? head : 0);
    return static_cast<std::uint64_t>(half) << 32 | pieces[i];
  };
#pragma unroll
  for (int i = 0; i < count; i += 2) store_relaxed_pair(at + i, word(i), word(i + 1));
}

/// The head; more than 1 where the value is not there yet.
template <class Value>
__device__ inline std::uint32_t read_with_head(const std::uint64_t* at, Value& value, std::uint64_t tag) {
  constexpr int count = state_words<Value>::count;
  std::uint64_t words[count];
#pragma unroll
  for (int i = 0; i < count; i += 2) load_relaxed_pair(at + i, words[i], words[i + 1]);
  std::uint32_t pieces[count], head = static_cast<std::uint32_t>(words[0] >> 32) - half_of_tag(tag, 0);
#pragma unroll
  for (int i = 0; i < count; ++i) {
    pieces[i] = static_cast<std::uint32_t>(words[i]);
    if (i > 0 && words[i] >> 32 != half_of_tag(tag, i)) head = 2;
  }
  if constexpr (sizeof value == 4) {
    if (pieces[1] != pieces[0]) head = 2;
  }
  memcpy(&value, pieces, sizeof value);
  return head;
}

template <class Value>
__device__ inline void publish(std::uint64_t* at, Value value, std::uint64_t tag) {
  publish_with_head(at, value, 0, tag);
}
template <class Value>
__device__ inline void publish(std::uint64_t* at, segment_value<Value> value, std::uint64_t tag) {
  publish_with_head(at, value.sum, value.head, tag);
}

template <class Value>
__device__ inline bool read_published(const std::uint64_t* at, Value& value, std::uint64_t tag) {
  return read_with_head(at, value, tag) == 0;
}
template <class Value>
__device__ inline bool read_published(const std::uint64_t* at, segment_value<Value>& value, std::uint64_t tag) {
  value.head = read_with_head(at, value.sum, tag);
  return value.head <= 1;
}

}  // namespace twill::TWILL_BACKEND::kernels
