#pragma once

// How blocks publish the sums of tiles. A sum is split into 32-bit pieces, each stored in a 64-bit word together with a
// flag: a reader that sees the flag has the piece, without a fence and in any order of arrival. Words are 0 at first
// and written once (or again with the same bits).

#include <cstdint>
#include <cstring>

#include "device.hpp"
#include "operators.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// Words that a value takes.
template <class Value>
struct state_words {
  static constexpr int count = static_cast<int>(sizeof(Value)) / 4;
};
template <class Value>
struct state_words<segment_value<Value>> : state_words<Value> {};

template <class Value>
__device__ inline void publish_flagged(std::uint64_t* at, Value value, std::uint32_t flag) {
  constexpr int count = state_words<Value>::count;
  std::uint32_t pieces[count];
  memcpy(pieces, &value, sizeof pieces);
#pragma unroll
  for (int i = 0; i < count; ++i) store_relaxed(at + i, static_cast<std::uint64_t>(flag) << 32 | pieces[i]);
}

/// The flag, or 0 where the value is not there yet.
template <class Value>
__device__ inline std::uint32_t read_flagged(const std::uint64_t* at, Value& value) {
  constexpr int count = state_words<Value>::count;
  std::uint64_t words[count];
  if constexpr (count % 2 == 0) {
#pragma unroll
    for (int i = 0; i < count; i += 2) load_relaxed_pair(at + i, words[i], words[i + 1]);
  } else {
    words[0] = load_relaxed(at);
  }
  std::uint32_t pieces[count], flag = static_cast<std::uint32_t>(words[0] >> 32);
#pragma unroll
  for (int i = 0; i < count; ++i) {
    pieces[i] = static_cast<std::uint32_t>(words[i]);
    if (words[i] >> 32 == 0) flag = 0;
  }
  memcpy(&value, pieces, sizeof value);
  return flag;
}

template <class Value>
__device__ inline void publish(std::uint64_t* at, Value value) {
  publish_flagged(at, value, 1);
}
template <class Value>
__device__ inline void publish(std::uint64_t* at, segment_value<Value> value) {
  publish_flagged(at, value.sum, 1 + value.head);
}

template <class Value>
__device__ inline bool read_published(const std::uint64_t* at, Value& value) {
  return read_flagged(at, value) != 0;
}
template <class Value>
__device__ inline bool read_published(const std::uint64_t* at, segment_value<Value>& value) {
  const std::uint32_t flag = read_flagged(at, value.sum);
  value.head = flag - 1;
  return flag != 0;
}

}  // namespace twill::TWILL_BACKEND::kernels
