#pragma once

// Reversal of a line of elements. A block stages its piece of the input in shared memory and stores aligned vectors of
// the output: reversed in registers where an element is one unit, else gathered unit by unit. In place it stages two
// pieces at equal distances from the two ends, and swaps them.

#include <cstdint>

#include "device.hpp"
#include "gpu/dependent_launch.hpp"
#include "gpu/fast_division.hpp"
#include "gpu/grid.hpp"
#include "gpu/packed_units.hpp"
#include "gpu/realign.hpp"
#include "gpu/staged_run.hpp"
#include "uninitialised_reads.hpp"

namespace twill::TWILL_BACKEND::kernels {

constexpr int reverse_threads = 256;

/// The elements of a chunk in reverse order.
template <int Bytes>
__device__ word16 reversed(const word16& v) {
  if (Bytes == 16) return v;
  if (Bytes == 8) return make_word16(word<2>(v), word<3>(v), word<0>(v), word<1>(v));
  const std::uint32_t selector = Bytes == 4 ? 0x3210 : Bytes == 2 ? 0x1032 : 0x0123;
  return make_word16(byte_permute(word<3>(v), 0, selector), byte_permute(word<2>(v), 0, selector),
                     byte_permute(word<1>(v), 0, selector), byte_permute(word<0>(v), 0, selector));
}

struct staged_line {
  std::int64_t count;  // elements
  int bytes;           // of an element
  int piece;           // elements that a block takes, from each end where it works in place
  int piece_bytes;     // shared memory for a piece
  fast_divisor units;  // of an element
};

/// Copies `bytes` bytes to shared memory; returns where the first one is. wait_for_copies() completes it.
template <class Unit>
__device__ const unsigned char* stage(unsigned char* shared, const unsigned char* from, int bytes) {
  const int skew = misalignment(from);
  copy_run<Unit>(shared, from, bytes, skew, run_padding{0, 31});
  return shared + skew;
}

// The chunk of the output at byte `at`, when an element is one unit: a vector of the input, reversed.
template <int Bytes>
__device__ word16 reversed_chunk(const unsigned char* from) {
  const int skip = misalignment(from);
  const auto* chunk = reinterpret_cast<const word16*>(from - skip);
  return reversed<Bytes>(Bytes == 16 || skip == 0 ? chunk[0] : realigned<Bytes>(chunk[0], chunk[1], skip));
}

/// Writes the `count` elements at `staged` in reverse order.
template <class Unit>
__device__ void store_reversed(unsigned char* to, const unsigned char* staged, int count, const staged_line& line) {
  constexpr int size = static_cast<int>(sizeof(Unit));
  const int bytes = count * line.bytes;
  const auto source = [&](int unit) {
    const int element = quotient(unit, line.units), within = unit * size - element * line.bytes;
    return reinterpret_cast<const Unit*>(staged + (count - 1 - element) * line.bytes + within);
  };
  const int lead = misalignment(to);
  for (int at = static_cast<int>(threadIdx.x) * 16 - lead; at < bytes; at += reverse_threads * 16) {
    if (at >= 0 && at + 16 <= bytes) {
      word16 v;
      if (line.units.divisor == 1) {
        v = reversed_chunk<size>(staged + bytes - 16 - at);
      } else {
        unit_chunk<Unit> chunk;
#pragma unroll
        for (int u = 0; u < 16 / size; ++u) chunk.unit[u] = *source(at / size + u);
        v = chunk.packed();
      }
      *reinterpret_cast<word16*>(to + at) = v;
      continue;
    }
    for (int byte = at < 0 ? 0 : at; byte < at + 16 && byte < bytes; byte += size) {
      *reinterpret_cast<Unit*>(to + byte) = *source(byte / size);
    }
  }
}

/// Any elements that consist of units, out of place or, where in == out, in place.
template <class Unit>
__global__ void __launch_bounds__(reverse_threads)
    reverse_staged(unsigned char* out, const unsigned char* in, staged_line line) {
  unsigned char* shared = dynamic_shared<unsigned char>();
  const std::int64_t block = block_index();
  const bool in_place = in == out;
  const std::int64_t all = in_place ? line.count / 2 : line.count, first = block * line.piece;
  if (first >= all) return;  // uniform exit: padding block of the 2-D grid
  wait_then_trigger_dependents();
  const int count = static_cast<int>(all - first < line.piece ? all - first : line.piece);
  const std::int64_t low = first * line.bytes, high = (line.count - first - count) * line.bytes;
  const unsigned char* upper = stage<Unit>(shared, in + high, count * line.bytes);
  const unsigned char* lower = upper;
  if (in_place) lower = stage<Unit>(shared + line.piece_bytes, in + low, count * line.bytes);
  wait_for_copies();
  allow_uninitialised_reads();
  __syncthreads();
  store_reversed<Unit>(out + low, upper, count, line);
  if (in_place) store_reversed<Unit>(out + high, lower, count, line);
}

}  // namespace twill::TWILL_BACKEND::kernels
