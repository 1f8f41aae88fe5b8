#include <cstdint>
#include <cstring>
#include <iterator>

#include "backends/cpu/device.hpp"
#include "table.hpp"

namespace twill::cpu {
namespace {

using detail::array_rung_args;
using detail::work_queue;

template <class F>
void with_number(element_type type, F&& f) {
  if (type == element_type::f32) return f(float{});
  if (type == element_type::f64) return f(double{});
  f(std::uint32_t{});
}

void run_scan(const work_queue&, const array_rung_args& a) {
  with_number(a.type, [&](auto sum) {
    const auto* in = static_cast<const decltype(sum)*>(a.in);
    auto* out = static_cast<decltype(sum)*>(a.out);
    for (int r = 0; r < a.repeats; ++r) {
      sum = 0;
      for (std::int64_t i = 0; i < a.count; ++i) {
        const auto next =
            in[i];  // before the store: a later load at the same page offset would wait for it (4K aliasing)
        out[i] = sum;
        sum += next;
      }
    }
  });
}

void run_reverse(const work_queue&, const array_rung_args& a) {
  const auto bytes = static_cast<std::int64_t>(element_bytes(a.type));
  const auto* in = static_cast<const unsigned char*>(a.in);
  auto* out = static_cast<unsigned char*>(a.out);
  for (int r = 0; r < a.repeats; ++r) {
    for (std::int64_t i = 0; i < a.count; ++i) {
      std::memcpy(out + (a.count - 1 - i) * bytes, in + i * bytes, static_cast<std::size_t>(bytes));
    }
  }
}

void run_increment(const work_queue&, const array_rung_args& a) {
  with_number(a.type, [&](auto number) {
    const auto* in = static_cast<const decltype(number)*>(a.in);
    auto* out = static_cast<decltype(number)*>(a.out);
    for (int r = 0; r < a.repeats; ++r) {
      for (std::int64_t i = 0; i < a.count; ++i) out[i] = in[i] + 1;
    }
  });
}

void run_increment_team(const work_queue& queue, const array_rung_args& a) {
  constexpr std::int64_t piece = 1 << 16;
  for (int r = 0; r < a.repeats; ++r) {
    team_of(queue).run(static_cast<std::size_t>((a.count + piece - 1) / piece), [&](std::size_t task) {
      const std::int64_t first = static_cast<std::int64_t>(task) * piece,
                         bytes = first * static_cast<std::int64_t>(element_bytes(a.type));
      array_rung_args part = a;
      part.in = static_cast<const unsigned char*>(a.in) + bytes;
      part.out = static_cast<unsigned char*>(a.out) + bytes;
      part.count = a.count - first < piece ? a.count - first : piece;
      part.repeats = 1;
      run_increment(queue, part);
    });
  }
}

void run_sieve(const work_queue&, const array_rung_args& a) {
  auto* composite = static_cast<std::int32_t*>(a.out);
  for (int r = 0; r < a.repeats; ++r) {
    for (std::int64_t i = 0; i < a.count; ++i) composite[i] = i < 2;
    for (std::int64_t p = 2; p * p < a.count; ++p) {
      if (composite[p] != 0) continue;
      for (std::int64_t i = p * p; i < a.count; i += p) composite[i] = 1;
    }
  }
}

void run_sieve_segmented(const work_queue& queue, const array_rung_args& a) {
  detail::sieve_args args{};
  args.last = a.count;
  args.bits = static_cast<std::uint32_t*>(a.out);
  args.scratch = a.scratch;
  for (int r = 0; r < a.repeats; ++r) sieve_in_runs(queue, args, true);
}

constexpr detail::array_rung_entry entry(std::string_view op, std::string_view name, std::string_view lesson,
                                         std::string_view source,
                                         void (*run)(const work_queue&, const array_rung_args&)) {
  return {{op, name, lesson, source, rung_promise::result, {}, true}, nullptr, nullptr, run};
}

constexpr std::string_view exercises = "Moreno Maza, CS 4402: Optimizing CUDA code (exercises)";

const detail::array_rung_entry array_table[] = {
    entry("scan", "cpu-naive", "one loop on one thread: each addition waits for the one before", exercises, &run_scan),
    entry("reverse", "cpu-naive", "one loop on one thread", exercises, &run_reverse),
    entry("increment", "cpu-naive", "one loop on one thread", exercises, &run_increment),
    entry("increment", "cpu-tuned", "the loop on all threads", "this library", &run_increment_team),
    entry("sieve", "cpu-naive", "Eratosthenes on one thread: multiples of primes only", exercises, &run_sieve),
    entry("sieve", "cpu-segmented", "segments of the first-level cache on one thread, small primes by a pattern",
          "Bays and Hudson, 1977, The Segmented Sieve of Eratosthenes", &run_sieve_segmented),
};

}  // namespace

detail::table_view<detail::array_rung_entry> array_ladder() {
  return {array_table, std::size(array_table)};
}

}  // namespace twill::cpu
