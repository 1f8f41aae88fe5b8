#include <twill/ladder/sieve.hpp>
#include <twill/transpose.hpp>

#include <string>

#include "backends/error.hpp"
#include "core/arguments.hpp"
#include "ladder/operations.hpp"

namespace twill {
namespace {

constexpr std::int64_t greatest = std::int64_t{1} << 40;

bool is_empty(const sieve_range& range) {
  return range.first >= range.last;
}

void require_range(const sieve_range& range) {
  detail::require_extent(range.first, "the first number");
  detail::require_extent(range.last, "the last number");
  if (range.last > greatest) {
    detail::fail(errc::invalid_argument, "the range ends too late", std::to_string(range.last) + " is beyond 2^40",
                 "sieve smaller numbers");
  }
  detail::require(range.first % 64 == 0, "the range begins within a word", "its first number is no multiple of 64",
                  "begin at a multiple of 64");
}

void run(stream_ref stream, const sieve_range& range, detail::sieve_args args, void* scratch,
         std::size_t scratch_bytes) {
  auto& device = *stream.on().impl();
  const std::size_t needed = sieve_scratch_bytes(stream.on(), range);
  if (is_empty(range)) {
    if (args.count != nullptr) device.fill(stream.native(), args.count, 0, sizeof *args.count);
    return;
  }
  detail::require_pointer(scratch, "scratch");
  detail::require_aligned(scratch, 16, "scratch");
  if (scratch_bytes < needed) {
    detail::fail(errc::invalid_argument, "the scratch is too small",
                 std::to_string(scratch_bytes) + " bytes of " + std::to_string(needed), "ask sieve_scratch_bytes");
  }
  const auto apart = [&](const void* memory, std::int64_t bytes, const char* what) {
    if (memory != nullptr) detail::require_scratch_apart(scratch, needed, memory, bytes, what);
  };
  apart(args.bits, sieve_words(range) * 4, "bits");
  apart(args.count, sizeof *args.count, "count");
  apart(args.list, detail::checked_product(args.capacity, sizeof *args.list, "capacity"), "primes");
  args.first = range.first;
  args.last = range.last;
  args.scratch = scratch;
  detail::ladders_of(device).sieve({&device, stream.native()}, args);
}

}  // namespace

std::size_t sieve_scratch_bytes(const device&, const sieve_range& range) {
  require_range(range);
  return is_empty(range) ? 0 : detail::sieve_scratch(range.last - range.first);
}

std::int64_t sieve_words(const sieve_range& range) {
  require_range(range);
  return is_empty(range) ? 0 : (range.last - range.first + 63) / 64;
}

void sieve_bits(stream_ref stream, const sieve_range& range, std::uint32_t* bits, void* scratch,
                std::size_t scratch_bytes) {
  if (sieve_words(range) > 0) detail::require_pointer(bits, "bits");
  detail::require_aligned(bits, alignof(std::uint32_t), "bits");
  detail::sieve_args args{};
  args.bits = bits;
  run(stream, range, args, scratch, scratch_bytes);
}

void sieve_count(stream_ref stream, const sieve_range& range, std::uint64_t* count, void* scratch,
                 std::size_t scratch_bytes) {
  detail::require_pointer(count, "count");
  detail::require_aligned(count, alignof(std::uint64_t), "count");
  detail::sieve_args args{};
  args.count = count;
  run(stream, range, args, scratch, scratch_bytes);
}

void sieve_list(stream_ref stream, const sieve_range& range, std::uint64_t* primes, std::int64_t capacity,
                std::uint64_t* count, void* scratch, std::size_t scratch_bytes) {
  detail::require_extent(capacity, "capacity");
  detail::require_pointer(count, "count");
  detail::require_aligned(count, alignof(std::uint64_t), "count");
  if (capacity > 0) detail::require_pointer(primes, "primes");
  detail::require_aligned(primes, alignof(std::uint64_t), "primes");
  detail::sieve_args args{};
  args.count = count;
  args.list = primes;
  args.capacity = capacity;
  args.wants_list = true;
  run(stream, range, args, scratch, scratch_bytes);
}

}  // namespace twill
