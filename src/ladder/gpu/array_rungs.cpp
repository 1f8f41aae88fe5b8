// The rungs of the ladders of scan, reverse, increment and sieve: what each teaches, and how it is launched.

#include <cmath>
#include <iterator>
#include <string>

#include "increment_rungs.hpp"
#include "reverse_rungs.hpp"
#include "scan_rungs.hpp"
#include "sieve_rungs.hpp"

#include "backends/error.hpp"
#include "dispatch.hpp"
#include "launch.hpp"
#include "table.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::array_rung_args;
using detail::work_queue;

constexpr std::string_view harris_scan = "Harris, Sengupta and Owens, 2007, Parallel Prefix Sum (Scan) with CUDA";
constexpr std::string_view exercises = "Moreno Maza, CS 4402: Optimizing CUDA code (exercises)";
constexpr block_shape blocks_of_three[] = {{256, 1}, {128, 1}, {512, 1}, {0, 0}};
constexpr int sieve_part = 4096;  // numbers of a block

template <int X>
struct threads_of {
  static constexpr int x = X;
};

template <class F>
void with_threads(block_shape block, F&& f) {
  if (block.x == 128) return f(threads_of<128>{});
  if (block.x == 512) return f(threads_of<512>{});
  f(threads_of<256>{});
}

/// Calls f with a value of the type that adds elements of `type`: i32 as u32, which wraps around.
template <class F>
void with_number(element_type type, F&& f) {
  if (type == element_type::f32) return f(float{});
  if (type == element_type::f64) return f(double{});
  f(std::uint32_t{});
}

/// Blocks of `threads` for parts of `part` elements each. Throws unsupported beyond the grid of all devices.
detail::launch_config grid_of(std::int64_t count, std::int64_t part, int threads) {
  const std::int64_t blocks = (count + part - 1) / part;
  if (blocks >= (std::int64_t{1} << 32) / threads || blocks >= std::int64_t{1} << 31) {
    detail::fail(errc::unsupported, "the array exceeds the maximum grid size", std::to_string(blocks) + " blocks",
                 "use the rung tuned");
  }
  return {{static_cast<unsigned>(blocks), 1, 1}, {static_cast<unsigned>(threads), 1, 1}, 0};
}

// One class a rung of the scan: its kernel, and the elements of a thread.
struct naive_scan {
  static constexpr int elements = 1;
  template <class T, int X>
  static auto kernel() {
    return &kernels::scan_naive<T, X>;
  }
};
template <bool ConflictFree>
struct tree_scan {
  static constexpr int elements = 2;
  template <class T, int X>
  static auto kernel() {
    return &kernels::scan_tree<T, X, ConflictFree>;
  }
};

// Scans the parts, then their sums in the same way, then adds those: any length.
template <class Rung, class T, int X>
void scan_parts(const work_queue& queue, T* out, const T* in, std::int64_t count, T* sums) {
  constexpr int part = X * Rung::elements;
  const auto config = grid_of(count, part, X);
  const std::int64_t parts = config.grid.x;
  check(launch(queue, config, Rung::template kernel<T, X>(), out, in, count, parts > 1 ? sums : nullptr),
        "launch of a scan rung");
  if (parts == 1) return;
  scan_parts<Rung, T, X>(queue, sums, sums, parts, sums + parts);
  check(launch(queue, config, &kernels::add_sums<T, X>, out, count, sums, part), "launch of a scan rung's additions");
}

template <class Rung>
void run_scan(const work_queue& queue, const array_rung_args& a) {
  with_number(a.type, [&](auto number) {
    using T = decltype(number);
    with_threads(a.block, [&](auto threads) {
      for (int i = 0; i < a.repeats; ++i) {
        scan_parts<Rung, T, decltype(threads)::x>(queue, static_cast<T*>(a.out), static_cast<const T*>(a.in), a.count,
                                                  static_cast<T*>(a.scratch));
      }
    });
  });
}

void run_reverse_naive(const work_queue& queue, const array_rung_args& a) {
  with_element(static_cast<std::int64_t>(element_bytes(a.type)), [&](auto element) {
    using T = decltype(element);
    check(launch(queue, grid_of(a.count, a.block.x, a.block.x), &kernels::reverse_naive<T>, static_cast<T*>(a.out),
                 static_cast<const T*>(a.in), a.count, a.repeats),
          "launch of a reverse rung");
  });
}

void run_reverse_shared(const work_queue& queue, const array_rung_args& a) {
  with_element(static_cast<std::int64_t>(element_bytes(a.type)), [&](auto element) {
    using T = decltype(element);
    with_threads(a.block, [&](auto threads) {
      constexpr int x = decltype(threads)::x;
      check(launch(queue, grid_of(a.count, x, x), &kernels::reverse_shared<T, x>, static_cast<T*>(a.out),
                   static_cast<const T*>(a.in), a.count, a.repeats),
            "launch of a reverse rung");
    });
  });
}

void run_increment(const work_queue& queue, const array_rung_args& a) {
  with_number(a.type, [&](auto number) {
    using T = decltype(number);
    check(launch(queue, grid_of(a.count, a.block.x, a.block.x), &kernels::increment<T>, static_cast<T*>(a.out),
                 static_cast<const T*>(a.in), a.count, a.repeats),
          "launch of an increment rung");
  });
}

void run_sieve_naive(const work_queue& queue, const array_rung_args& a) {
  const auto candidates = static_cast<std::int64_t>(std::sqrt(static_cast<double>(a.count))) + 2;
  auto* sieve = static_cast<std::int32_t*>(a.out);
  with_threads(a.block, [&](auto threads) {
    constexpr int x = decltype(threads)::x;
    for (int i = 0; i < a.repeats; ++i) {
      check(launch(queue, grid_of(a.count, x, x), &kernels::sieve_clear<x>, sieve, a.count), "launch of a sieve rung");
      check(launch(queue, grid_of(candidates, x, x), &kernels::sieve_naive<x>, sieve, a.count),
            "launch of a sieve rung");
    }
  });
}

void run_sieve_shared(const work_queue& queue, const array_rung_args& a) {
  with_threads(a.block, [&](auto threads) {
    constexpr int x = decltype(threads)::x;
    for (int i = 0; i < a.repeats; ++i) {
      check(launch(queue, grid_of(a.count, sieve_part, x), &kernels::sieve_shared<x, sieve_part>,
                   static_cast<std::int32_t*>(a.out), a.count),
            "launch of a sieve rung");
    }
  });
}

template <int Elements, int Buffers>
std::size_t parts_bytes(std::int64_t element_bytes, block_shape block) {
  return static_cast<std::size_t>(block.x * Elements * Buffers * element_bytes);
}
std::size_t padded_bytes(std::int64_t element_bytes, block_shape block) {
  return static_cast<std::size_t>((2 * block.x + 2 * block.x / 32) * element_bytes);
}
std::size_t sieve_bytes(std::int64_t, block_shape) {
  return sieve_part * sizeof(std::int32_t);
}

constexpr detail::array_rung_entry entry(std::string_view op, std::string_view name, std::string_view lesson,
                                         std::string_view source, std::size_t (*shared)(std::int64_t, block_shape),
                                         void (*run)(const work_queue&, const array_rung_args&)) {
  return {{op, name, lesson, source, rung_promise::result, blocks_of_three[0], true}, blocks_of_three, shared, run};
}

const detail::array_rung_entry array_table[] = {
    entry("scan", "naive", "log n steps over all elements, double-buffered: n log n additions",
          "Hillis and Steele, 1986, Data Parallel Algorithms", &parts_bytes<1, 2>, &run_scan<naive_scan>),
    entry("scan", "work-efficient", "up-sweep and down-sweep: 2n additions, but strided accesses conflict in banks",
          "Blelloch, 1990, Prefix Sums and Their Applications", &parts_bytes<2, 1>, &run_scan<tree_scan<false>>),
    entry("scan", "conflict-free", "the tree padded by one element every 32: no bank conflicts", harris_scan,
          &padded_bytes, &run_scan<tree_scan<true>>),
    entry("reverse", "naive", "an element a thread: stores run backwards, within the same lines", exercises, nullptr,
          &run_reverse_naive),
    entry("reverse", "shared", "reversed in shared memory: loads and stores both run forwards", exercises,
          &parts_bytes<1, 1>, &run_reverse_shared),
    entry("increment", "naive", "an element a thread: all that a kernel needs", exercises, nullptr, &run_increment),
    entry("sieve", "naive", "a thread a sieving number, scattered stores: the number 2 does half of the work",
          exercises, nullptr, &run_sieve_naive),
    entry("sieve", "shared", "a block a segment in shared memory: each flag written once, balanced work", exercises,
          &sieve_bytes, &run_sieve_shared),
};

}  // namespace

detail::table_view<detail::array_rung_entry> array_ladder() {
  return {array_table, std::size(array_table)};
}

}  // namespace twill::TWILL_BACKEND
