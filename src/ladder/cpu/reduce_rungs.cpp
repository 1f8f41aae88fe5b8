#include <algorithm>
#include <cstdint>
#include <iterator>

#include "backends/cpu/device.hpp"
#include "backends/cpu/vector.hpp"
#include "core/operations.hpp"
#include "reduce/operations.hpp"
#include "table.hpp"

namespace twill::cpu {
namespace {

using detail::reduce_rung_args;
using detail::work_queue;

template <class T>
void sum_in_order(const reduce_rung_args& a) {
  const T* in = static_cast<const T*>(a.in);
  T sum = 0;
  for (std::int64_t i = 0; i < a.count; ++i) sum += in[i];
  *static_cast<T*>(a.out) = sum;
}

void run_naive(const work_queue&, const reduce_rung_args& a) {
  for (int i = 0; i < a.repeats; ++i) {
    switch (a.type) {
      case element_type::f32:
        sum_in_order<float>(a);
        break;
      case element_type::f64:
        sum_in_order<double>(a);
        break;
      case element_type::i64:
      case element_type::u64:
        sum_in_order<std::uint64_t>(a);
        break;
      default:
        sum_in_order<std::uint32_t>(a);
    }
  }
}

// All threads read all lines; what they find is kept only in so far that no compiler can leave the reading out.
void run_read(const work_queue& queue, const reduce_rung_args& a) {
  const std::int64_t words = a.count * static_cast<std::int64_t>(element_bytes(a.type)) / 8, piece = 1 << 16;
  const auto* in = static_cast<const std::uint64_t*>(a.in);
  auto* out = static_cast<std::uint64_t*>(a.scratch);
  for (int i = 0; i < a.repeats; ++i) {
    team_of(queue).run(static_cast<std::size_t>((words + piece - 1) / piece), [&](std::size_t task) {
      const std::int64_t first = static_cast<std::int64_t>(task) * piece, end = std::min(words, first + piece);
      combined_bits bits{};
      std::int64_t w = first;
      if (const auto* vector = vectors(); vector != nullptr) w += vector->reduce.bits(in + first, end - first, bits);
      for (; w < end; ++w) bits.any |= in[w];
      if (bits.any == 0) out[task % 64] = bits.any;
    });
  }
}

void run_tuned(const work_queue& queue, const reduce_rung_args& a) {
  for (int i = 0; i < a.repeats; ++i) {
    queue.device->operations->reduce.reduce(
        queue, {detail::reduce_over::rows, reduce_op::sum, a.type, a.type, a.in, a.out, 1, a.count, a.count, nullptr,
                a.scratch, static_cast<std::int64_t>(detail::reduce_scratch_limit), false});
  }
}

constexpr std::string_view harris = "Harris, 2007, Optimizing Parallel Reduction in CUDA";

const detail::reduce_rung_entry reduce_table[] = {
    {{"reduce",
      "cpu-naive",
      "one loop on one thread: each addition waits for the one before",
      harris,
      rung_promise::result,
      {},
      true},
     nullptr,
     nullptr,
     &run_naive},
    {{"reduce",
      "cpu-tuned",
      "twill::reduce on all cores, in vector registers",
      "this library",
      rung_promise::result,
      {},
      true},
     nullptr,
     nullptr,
     &run_tuned},
    {{"reduce",
      "read",
      "reads every byte on all cores and keeps nothing",
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

}  // namespace twill::cpu
