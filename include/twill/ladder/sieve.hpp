#pragma once

#include <cstddef>
#include <cstdint>

#include <twill/device.hpp>
#include <twill/export.hpp>
#include <twill/extent.hpp>
#include <twill/scratch.hpp>
#include <twill/stream.hpp>

namespace twill {

/// The numbers from `first`, a multiple of 64, to `last` - 1, at most 2^40 - 1. Longer ranges, such as all numbers to
/// 10^12, go in chunks: each costs little more than its share.
struct sieve_range {
  extent first = 0;
  extent last = 0;
};

/// Bytes of device memory that each of the sieves needs. Throws: invalid_argument for a wrong range.
TWILL_API std::size_t sieve_scratch_bytes(const device& on, const sieve_range& range);

/// Words that `sieve_bits` writes: one for 64 numbers.
TWILL_API std::int64_t sieve_words(const sieve_range& range);

/// The primes of a range as a bit mask of odd numbers: bit i of word w is set when range.first + 64 w + 2 i + 1 is
/// prime. Of the number 1, which is none, the bit stands for 2, so that all bits together are all primes. Bits of
/// numbers from range.last on are 0.
///
/// Shape: {0, 20} gives one word, 0x36f: 0x3ff without the bits of 9 and 15, so 2, 3, 5, 7, 11, 13, 17, 19.
/// Units: 1/16 byte a number is written.
/// Memory: device memory; `bits` has sieve_words(range) words; `scratch` sieve_scratch_bytes, 16-byte aligned.
/// Order: asynchronous in `stream`; no synchronisation, no allocation. May be called from several threads, on different
///   streams with a scratch each, and captured in a graph.
/// Throws: invalid_argument, before anything is launched; unsupported (blocks have too little shared memory);
///   launch_failed.
/// Source: Bays and Hudson, 1977, The Segmented Sieve of Eratosthenes and Primes in Arithmetic Progressions to 10^12.
TWILL_API void sieve_bits(stream_ref stream, std::uint32_t* bits, const sieve_range& range, scratch_ref scratch);

/// count[0] = how many primes the range has: pi(n) for {0, n + 1}. Otherwise as `sieve_bits`; nothing but the count, in
/// device memory, is written.
TWILL_API void sieve_count(stream_ref stream, std::uint64_t* count, const sieve_range& range, scratch_ref scratch);

/// The primes of a range, ascending, and how many there are. At most `capacity` of them are written. It sieves twice:
/// once to count, once to write. Otherwise as `sieve_bits`.
TWILL_API void sieve_list(stream_ref stream, std::uint64_t* primes, std::uint64_t* count, extent capacity,
                          const sieve_range& range, scratch_ref scratch);

}  // namespace twill
