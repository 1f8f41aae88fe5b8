// The rungs of the reduction ladder: what each teaches, where it is from, and how it is launched.

#include "reduce_rungs.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "backends/backend.hpp"
#include "backends/error.hpp"
#include "launch.hpp"
#include "table.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::reduce_rung_args;
using detail::work_queue;

constexpr std::string_view harris = "Harris, 2007, Optimizing Parallel Reduction in CUDA";

constexpr block_shape any_block[] = {{256, 1}, {64, 1}, {128, 1}, {512, 1}, {1024, 1}, {0, 0}};
constexpr block_shape known_block[] = {{256, 1}, {128, 1}, {512, 1}, {0, 0}};
constexpr block_shape b256{256, 1};

std::size_t shared_bytes(std::int64_t element_bytes, block_shape block) {
  return static_cast<std::size_t>(block.x * element_bytes);
}

template <class T>
using sum_kernel = void (*)(T*, const T*, std::int64_t, int);

/// Calls f with a value of the type that sums `type`: signed integers as unsigned, which wrap around.
template <class F>
void with_summed_number(element_type type, F&& f) {
  switch (type) {
    case element_type::f32:
      return f(float{});
    case element_type::f64:
      return f(double{});
    case element_type::i64:
    case element_type::u64:
      return f(std::uint64_t{});
    default:
      return f(std::uint32_t{});
  }
}

// One class a rung: the kernel for a type and a block.
struct divergent_rung {
  template <class T>
  static sum_kernel<T> kernel(int) {
    return &kernels::interleaved_divergent<T>;
  }
  static constexpr int elements = 1;
};
struct strided_rung {
  template <class T>
  static sum_kernel<T> kernel(int) {
    return &kernels::interleaved_strided<T>;
  }
  static constexpr int elements = 1;
};
struct sequential_rung {
  template <class T>
  static sum_kernel<T> kernel(int) {
    return &kernels::sequential<T>;
  }
  static constexpr int elements = 1;
};
struct first_add_rung {
  template <class T>
  static sum_kernel<T> kernel(int) {
    return &kernels::first_add<T>;
  }
  static constexpr int elements = 2;
};
struct last_warp_rung {
  template <class T>
  static sum_kernel<T> kernel(int) {
    return &kernels::unroll_last_warp<T>;
  }
  static constexpr int elements = 2;
};
struct complete_rung {
  template <class T>
  static sum_kernel<T> kernel(int threads) {
    if (threads == 128) return &kernels::unroll_complete<128, T>;
    return threads == 256 ? &kernels::unroll_complete<256, T> : &kernels::unroll_complete<512, T>;
  }
  static constexpr int elements = 2;
};
struct multiple_rung {
  template <class T>
  static sum_kernel<T> kernel(int threads) {
    if (threads == 128) return &kernels::multiple_per_thread<128, T>;
    return threads == 256 ? &kernels::multiple_per_thread<256, T> : &kernels::multiple_per_thread<512, T>;
  }
  static constexpr int elements = 2;
};

/// Blocks of a pass over `count` elements, each of which leaves a partial sum.
std::int64_t blocks_for(const work_queue& queue, std::int64_t count, const reduce_rung_args& a, int elements,
                        bool limited) {
  const std::int64_t each = static_cast<std::int64_t>(a.block.x) * elements;
  const std::int64_t blocks = (count + each - 1) / each;
  if (limited) {
    // 2048 threads a multiprocessor, and no more partial sums than one block of the second pass takes.
    const auto& device = queue.device->properties();
    const std::int64_t at_once = std::max(1, device.multiprocessors) * std::int64_t{2048 / a.block.x};
    return std::min({blocks, at_once, std::int64_t{4096}});
  }
  if (blocks >= (std::int64_t{1} << 32) / a.block.x || blocks >= std::int64_t{1} << 31) {
    detail::fail(errc::unsupported, "the array exceeds the maximum grid size", std::to_string(blocks) + " blocks",
                 "reduce a part of it, or use larger blocks");
  }
  return blocks;
}

template <class Rung, bool Limited>
void run_passes(const work_queue& queue, const reduce_rung_args& a) {
  with_summed_number(a.type, [&](auto number) {
    using T = decltype(number);
    const T* in = static_cast<const T*>(a.in);
    std::int64_t count = a.count;
    T* free = static_cast<T*>(a.scratch);
    const auto threads = static_cast<unsigned>(a.block.x);
    for (;;) {
      const std::int64_t blocks = blocks_for(queue, count, a, Rung::elements, Limited);
      T* out = blocks == 1 ? static_cast<T*>(a.out) : free;
      const detail::launch_config config{{static_cast<unsigned>(blocks), 1, 1}, {threads, 1, 1}, threads * sizeof(T)};
      check(launch(queue, config, Rung::template kernel<T>(a.block.x), out, in, count, a.repeats),
            "launch of a reduction rung");
      if (blocks == 1) return;
      in = out;
      count = blocks;
      free += blocks;
    }
  });
}

void run_read(const work_queue& queue, const reduce_rung_args& a) {
  const std::int64_t vectors = a.count * static_cast<std::int64_t>(element_bytes(a.type)) / 16;
  const std::int64_t each = kernels::read_threads * kernels::read_vectors, blocks = (vectors + each - 1) / each;
  if (blocks == 0) return;
  const detail::launch_config config{{static_cast<unsigned>(blocks), 1, 1}, {kernels::read_threads, 1, 1}, 0};
  check(launch(queue, config, &kernels::read_all, static_cast<std::uint32_t*>(a.scratch),
               static_cast<const word16*>(a.in), vectors, a.repeats),
        "launch of the reading rung");
}

template <class Rung, bool Limited = false>
constexpr detail::reduce_rung_entry entry(std::string_view name, std::string_view lesson, const block_shape* blocks) {
  return {{"reduce", name, lesson, harris, rung_promise::result, b256, true},
          blocks,
          &shared_bytes,
          &run_passes<Rung, Limited>};
}

const detail::reduce_rung_entry reduce_table[] = {
    entry<divergent_rung>("interleaved-divergent", "a tree in shared memory: divergent warps and a slow modulo",
                          any_block),
    entry<strided_rung>("interleaved-strided", "no divergence, but the stride causes bank conflicts", any_block),
    entry<sequential_rung>("sequential", "sequential addressing: no bank conflicts", any_block),
    entry<first_add_rung>("first-add", "first add during load: no thread idles in the first step", any_block),
    entry<last_warp_rung>("unroll-last-warp", "the last six steps shuffle in one warp: no barriers", any_block),
    entry<complete_rung>("unroll-complete", "block size known at compile time: no loops", known_block),
    entry<multiple_rung, true>("multiple-per-thread", "many elements a thread before the tree: log n less work",
                               known_block),
    {{"reduce",
      "read",
      "reads every byte and discards it: the roofline",
      "this library",
      rung_promise::nothing,
      {},
      false},
     nullptr,
     nullptr,
     &run_read},
};

}  // namespace

detail::table_view<detail::reduce_rung_entry> reduce_ladder() {
  return {reduce_table, std::size(reduce_table)};
}

}  // namespace twill::TWILL_BACKEND
