#include <twill/ladder/sieve.hpp>

#include <string>

#include "backends/error.hpp"
#include "core/arguments.hpp"
#include "core/call.hpp"
#include "ladder/operations.hpp"

namespace twill {
namespace {

constexpr std::int64_t greatest = std::int64_t{1} << 40;

bool is_empty(const sieve_range& range) {
  return range.first == range.last;
}

void require_range(const sieve_range& range) {
  detail::require_extent(range.first, "the first number");
  detail::require_extent(range.last, "the last number");
  if (range.last > greatest) {
    detail::fail(errc::invalid_argument, "the range ends too late", std::to_string(range.last) + " is beyond 2^40",
                 "sieve smaller numbers");
  }
  if (range.first > range.last) {
    detail::fail(errc::invalid_argument, "the range ends before it begins",
                 std::to_string(range.first) + " to " + std::to_string(range.last), "swap them");
  }
  detail::require(range.first % 64 == 0, "the range begins within a word", "its first number is no multiple of 64",
                  "begin at a multiple of 64");
}

std::size_t scratch_of(const sieve_range& range) {
  require_range(range);
  return is_empty(range) ? 0 : detail::sieve_scratch(range.last - range.first);
}

std::int64_t words_of(const sieve_range& range) {
  require_range(range);
  return (range.last - range.first + 63) / 64;
}

// A count is always written, also of none; the other arrays only where there are numbers.
void run(const detail::work_queue& queue, const sieve_range& range, detail::sieve_args args,
         const scratch_ref& scratch) {
  const std::size_t needed = scratch_of(range);
  const detail::named_memory bits{"bits", args.bits, words_of(range) * 4}, count{"count", args.count, 8},
      list{"primes", args.list, detail::checked_product(args.capacity, 8, "capacity")},
      work{"scratch", scratch.data, static_cast<std::int64_t>(needed)};
  const bool wants_bits = args.count == nullptr && !args.wants_list;
  if (wants_bits) detail::require_memory(bits, 4);
  if (!wants_bits) detail::require_memory(count, 8);
  detail::require_memory(list, 8);
  if (is_empty(range)) {
    if (args.count != nullptr) queue.device->fill(queue.native, args.count, 0, sizeof *args.count);
    return;
  }
  detail::require_scratch(scratch, needed, "sieve");
  for (const auto& memory : {bits, count, list}) {
    if (memory.first != nullptr) detail::require_disjoint(memory, work);
  }
  if (list.bytes > 0) detail::require_disjoint(list, count);
  args.first = range.first;
  args.last = range.last;
  args.scratch = scratch.data;
  detail::ladders_of(*queue.device).sieve(queue, args);
}

}  // namespace

std::size_t sieve_scratch_bytes(const device& on, const sieve_range& range) {
  return detail::in_call("sieve_scratch_bytes", [&] {
    on.impl();
    return scratch_of(range);
  });
}

std::int64_t sieve_words(const sieve_range& range) {
  return detail::in_call("sieve_words", [&] { return words_of(range); });
}

void sieve_bits(stream_ref stream, std::uint32_t* bits, const sieve_range& range, scratch_ref scratch) {
  detail::in_call("sieve_bits", [&] {
    const auto queue = detail::queue_of(stream);
    detail::sieve_args args{};
    args.bits = bits;
    if (words_of(range) > 0) run(queue, range, args, scratch);
  });
}

void sieve_count(stream_ref stream, std::uint64_t* count, const sieve_range& range, scratch_ref scratch) {
  detail::in_call("sieve_count", [&] {
    const auto queue = detail::queue_of(stream);
    detail::sieve_args args{};
    args.count = count;
    run(queue, range, args, scratch);
  });
}

void sieve_list(stream_ref stream, std::uint64_t* primes, std::uint64_t* count, extent capacity,
                const sieve_range& range, scratch_ref scratch) {
  detail::in_call("sieve_list", [&] {
    const auto queue = detail::queue_of(stream);
    detail::sieve_args args{};
    args.count = count;
    args.list = primes;
    args.capacity = capacity;
    args.wants_list = true;
    run(queue, range, args, scratch);
  });
}

}  // namespace twill
