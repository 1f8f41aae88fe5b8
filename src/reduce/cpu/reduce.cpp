#include <algorithm>
#include <cstdint>

#include "columns.hpp"
#include "element_map.hpp"
#include "operations.hpp"

namespace twill::cpu {
namespace {

using detail::reduce_args;
using detail::work_queue;

/// One long row, or a few: tasks of the team leave partial values, which are combined afterwards.
template <class Kind>
void reduce_long_rows(const work_queue& queue, const reduce_args& a, const Kind& kind) {
  using value = typename Kind::value;
  value* partials = partials_of<Kind>(a);
  // From 128 KiB to 1 MiB, a chunk times a power of two: so the tree does not depend on it.
  std::int64_t task = 4 * chunk_of<Kind>;
  const auto tasks = [&] { return (a.cols + task - 1) / task; };
  while (task < 32 * chunk_of<Kind> && tasks() * a.rows > 16 * team_of(queue).size()) task *= 2;
  while (tasks() * a.rows > most_partials<Kind>(a)) task *= 2;
  team_of(queue).run(static_cast<std::size_t>(tasks() * a.rows), [&](std::size_t i) {
    const auto row = static_cast<std::int64_t>(i) / tasks(), begin = static_cast<std::int64_t>(i) % tasks() * task;
    partials[i] = combine_elements(kind, row_of<Kind>(a, row), begin, std::min(a.cols, begin + task));
  });
  for (std::int64_t row = 0; row < a.rows; ++row) {
    neighbour_stack<Kind> stack(kind);
    for (std::int64_t i = 0; i < tasks(); ++i) stack.push(partials[row * tasks() + i]);
    kind.store(a.out, row, stack.all());
  }
}

/// The value of a row, which may be empty.
template <class Kind>
typename Kind::value value_of_row(const Kind& kind, const typename Kind::in* in, std::int64_t length) {
  if constexpr (!Kind::exact) {
    if (length <= 0) return kind.load(kind.empty, 0);
  }
  return combine_elements(kind, in, 0, length);
}

template <class Kind>
void reduce_rows(const work_queue& queue, const reduce_args& a, const Kind& kind) {
  const std::int64_t row_bytes = a.cols * static_cast<std::int64_t>(sizeof(typename Kind::in));
  if (a.rows <= 64 && row_bytes > (1 << 18)) return reduce_long_rows(queue, a, kind);
  const std::int64_t at_once = std::max<std::int64_t>(1, (1 << 18) / std::max<std::int64_t>(64, row_bytes));
  const auto rows = [&](std::int64_t first) {
    for (std::int64_t row = first; row < std::min(a.rows, first + at_once); ++row) {
      kind.store(a.out, row, value_of_row(kind, row_of<Kind>(a, row), a.cols));
    }
  };
  if (a.rows <= at_once) return rows(0);  // waking the team takes longer
  team_of(queue).run(static_cast<std::size_t>((a.rows + at_once - 1) / at_once),
                     [&](std::size_t task) { rows(static_cast<std::int64_t>(task) * at_once); });
}

template <class Kind>
void reduce_segments(const work_queue& queue, const reduce_args& a, const Kind& kind) {
  constexpr std::int64_t at_once = 16;
  team_of(queue).run(static_cast<std::size_t>((a.rows + at_once - 1) / at_once), [&](std::size_t task) {
    const auto first = static_cast<std::int64_t>(task) * at_once;
    for (std::int64_t s = first; s < std::min(a.rows, first + at_once); ++s) {
      const auto* in = static_cast<const typename Kind::in*>(a.in) + a.offsets[s];
      kind.store(a.out, s, value_of_row(kind, in, a.offsets[s + 1] - a.offsets[s]));
    }
  });
}

template <class Kind>
void run(const work_queue& queue, const reduce_args& a) {
  const Kind kind(a);
  if (a.over == detail::reduce_over::rows) return reduce_rows(queue, a, kind);
  if (a.over == detail::reduce_over::segments) return reduce_segments(queue, a, kind);
  if constexpr (Kind::exact) {
    reduce_columns_exactly(queue, a, kind);
  } else {
    reduce_columns_in_order(queue, a, kind);
  }
}

template <class T>
void run_numbers(const work_queue& queue, const reduce_args& a) {
  a.op == reduce_op::sum ? run<number_kind<T, false>>(queue, a) : run<number_kind<T, true>>(queue, a);
}

/// The operations on words of bits of one size.
template <class Bits>
void run_bits(const work_queue& queue, const reduce_args& a) {
  if constexpr (std::is_integral_v<Bits>) {
    if (a.op == reduce_op::sum) return run<integer_sum_kind<Bits>>(queue, a);
    if (a.op == reduce_op::min || a.op == reduce_op::max) return run<min_kind<Bits>>(queue, a);
    if (a.op == reduce_op::argmin || a.op == reduce_op::argmax) return run<argmin_kind<Bits>>(queue, a);
  }
  run<bits_kind<Bits>>(queue, a);
}

}  // namespace

void reduce(const work_queue& queue, const reduce_args& a) {
  if (a.op <= reduce_op::product) {
    switch (a.in_type) {
      case element_type::f16:
        return run_numbers<float16>(queue, a);
      case element_type::bf16:
        return run_numbers<bfloat16>(queue, a);
      case element_type::f32:
        return run_numbers<float>(queue, a);
      case element_type::f64:
        return run_numbers<double>(queue, a);
      case element_type::c64:
        return run_numbers<std::complex<float>>(queue, a);
      case element_type::c128:
        return run_numbers<std::complex<double>>(queue, a);
      default:
        break;
    }
  }
  switch (element_bytes(a.in_type)) {
    case 1:
      return run_bits<std::uint8_t>(queue, a);
    case 2:
      return run_bits<std::uint16_t>(queue, a);
    case 4:
      return run_bits<std::uint32_t>(queue, a);
    case 8:
      return run_bits<std::uint64_t>(queue, a);
    default:
      return run_bits<two_words>(queue, a);
  }
}

}  // namespace twill::cpu
