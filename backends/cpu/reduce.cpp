#include <algorithm>
#include <cstring>

#include "core/reduce_plan.hpp"
#include "device.hpp"
#include "operations.hpp"
#include "reduce_kinds.hpp"
#include "reduce_tree.hpp"

namespace twill::cpu {
namespace {

using detail::reduce_args;
using detail::work_queue;

template <class Kind>
const typename Kind::in* row_of(const reduce_args& a, std::int64_t row) {
  return static_cast<const typename Kind::in*>(a.in) + row * a.ld;
}

/// One long row, or a few: tasks of the team leave partial values, which are combined afterwards.
template <class Kind>
void reduce_long_rows(const work_queue& queue, const reduce_args& a, const Kind& kind) {
  using value = typename Kind::value;
  auto* partials = reinterpret_cast<value*>(static_cast<unsigned char*>(a.scratch) + detail::reduce_ticket_bytes);
  constexpr std::int64_t most = (reduce_scratch_bytes - detail::reduce_ticket_bytes) / sizeof(value);
  std::int64_t task = 4 * chunk_of<Kind>;  // 128 KiB
  const auto tasks = [&] { return (a.cols + task - 1) / task; };
  while (tasks() * a.rows > most) task *= 2;
  team_of(queue).run(static_cast<std::size_t>(tasks() * a.rows), [&](std::size_t i) {
    const auto row = static_cast<std::int64_t>(i) / tasks(), begin = static_cast<std::int64_t>(i) % tasks() * task;
    partials[i] = combine_elements(kind, row_of<Kind>(a, row), begin, std::min(a.cols, begin + task));
  });
  for (std::int64_t row = 0; row < a.rows; ++row) {
    neighbour_stack<Kind> stack;
    for (std::int64_t i = 0; i < tasks(); ++i) stack.push(partials[row * tasks() + i]);
    Kind::store(a.out, row, stack.all());
  }
}

template <class Kind>
void reduce_rows(const work_queue& queue, const reduce_args& a, const Kind& kind) {
  const std::int64_t row_bytes = a.cols * static_cast<std::int64_t>(sizeof(typename Kind::in));
  if (a.rows <= 64 && row_bytes > (1 << 18)) return reduce_long_rows(queue, a, kind);
  const std::int64_t at_once = std::max<std::int64_t>(1, (1 << 18) / std::max<std::int64_t>(64, row_bytes));
  const auto rows = [&](std::int64_t first) {
    for (std::int64_t row = first; row < std::min(a.rows, first + at_once); ++row) {
      const bool none = a.cols == 0;
      Kind::store(a.out, row,
                  none ? kind.load(kind.empty, 0) : combine_elements(kind, row_of<Kind>(a, row), 0, a.cols));
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
      const std::int64_t begin = a.offsets[s], length = a.offsets[s + 1] - begin;
      const auto* in = static_cast<const typename Kind::in*>(a.in) + begin;
      Kind::store(a.out, s, length <= 0 ? kind.load(kind.empty, -1) : combine_elements(kind, in, 0, length));
    }
  });
}

/// One chunk of a tile of `width` columns: leaves their values in `values`, which has room for all parts.
template <class Kind>
void combine_column_chunk(const reduce_args& a, const Kind& kind, const detail::column_tree& tree, std::int64_t chunk,
                          std::int64_t column, int width, typename Kind::value* values) {
  const int parts = tree.parts();
  for (int part = 0; part < parts; ++part) {
    typename Kind::value* mine = values + part * width;
    for (int batch = 0; batch < tree.batches; ++batch) {
      const std::int64_t first = (chunk * tree.batches + batch) * 8 * parts + part;
      if (batch > 0 && first >= a.rows) break;
      const bool whole = first + 7 * parts < a.rows;
      const auto element = [&](int i, int c) {
        const std::int64_t row = first + i * parts;
        return kind.load(whole || row < a.rows ? row_of<Kind>(a, row)[column + c] : kind.pad, row);
      };
      for (int c = 0; c < width; ++c) {
        const auto eight = combine_eight(kind, [&](int i) { return element(i, c); });
        mine[c] = batch == 0 ? eight : Kind::combine(mine[c], eight);
      }
    }
  }
  for (int c = 0; c < width; ++c) combine_neighbours<Kind>(values + c, parts, width);
}

template <class Kind>
void reduce_columns(const work_queue& queue, const reduce_args& a, const Kind& kind) {
  using value = typename Kind::value;
  const auto bytes = static_cast<std::int64_t>(sizeof(typename Kind::in));
  const auto tree = detail::tree_of_columns(a.rows, a.cols * bytes);
  const std::int64_t tile = std::int64_t{tree.lanes} * slots_of<Kind>;
  auto* partials = reinterpret_cast<value*>(static_cast<unsigned char*>(a.scratch) + detail::reduce_ticket_bytes);
  constexpr int most = tree_threads * slots_of<Kind>;
  team_of(queue).run(static_cast<std::size_t>(tree.tiles * tree.chunks), [&](std::size_t task) {
    alignas(64) value values[most];
    const auto t = static_cast<std::int64_t>(task) / tree.chunks, chunk = static_cast<std::int64_t>(task) % tree.chunks;
    const auto width = static_cast<int>(std::min(tile, a.cols - t * tile));
    combine_column_chunk(a, kind, tree, chunk, t * tile, width, values);
    for (int c = 0; c < width; ++c) {
      const value result = a.rows == 0 ? kind.load(kind.empty, 0) : values[c];
      if (tree.chunks == 1) {
        Kind::store(a.out, t * tile + c, result);
      } else {
        partials[static_cast<std::int64_t>(task) * tile + c] = result;
      }
    }
  });
  if (tree.chunks == 1) return;
  team_of(queue).run(static_cast<std::size_t>(tree.tiles), [&](std::size_t t) {
    const std::int64_t first = static_cast<std::int64_t>(t) * tile, parts = tree.parts();
    value values[tree_threads];
    for (std::int64_t c = 0; c < std::min(tile, a.cols - first); ++c) {
      const auto chunk_value = [&](std::int64_t i) {
        return partials[(static_cast<std::int64_t>(t) * tree.chunks + i) * tile + c];
      };
      const auto used = static_cast<int>(std::min(parts, tree.chunks));
      for (int part = 0; part < used; ++part) {
        values[part] = chunk_value(part);
        for (std::int64_t i = part + parts; i < tree.chunks; i += parts)
          values[part] = Kind::combine(values[part], chunk_value(i));
      }
      combine_neighbours<Kind>(values, used, 1);
      Kind::store(a.out, first + c, values[0]);
    }
  });
}

template <class Kind>
void run(const work_queue& queue, const reduce_args& a) {
  const Kind kind;
  switch (a.over) {
    case detail::reduce_over::rows:
      return reduce_rows(queue, a, kind);
    case detail::reduce_over::columns:
      return reduce_columns(queue, a, kind);
    case detail::reduce_over::segments:
      return reduce_segments(queue, a, kind);
  }
}

template <class T, class Wide>
void run_numbers(const work_queue& queue, const reduce_args& a) {
  const bool usual = a.in_type == a.out_type;
  if (a.op == reduce_op::sum) return usual ? run<sum_kind<T, T>>(queue, a) : run<sum_kind<T, Wide>>(queue, a);
  usual ? run<product_kind<T, T>>(queue, a) : run<product_kind<T, Wide>>(queue, a);
}

template <class T>
void run_order(const work_queue& queue, const reduce_args& a) {
  if (a.op == reduce_op::min) return run<extreme_kind<T, false>>(queue, a);
  if (a.op == reduce_op::max) return run<extreme_kind<T, true>>(queue, a);
  a.op == reduce_op::argmin ? run<place_kind<T, false>>(queue, a) : run<place_kind<T, true>>(queue, a);
}

template <class T>
void run_logic(const work_queue& queue, const reduce_args& a) {
  if (a.op == reduce_op::logical_and) return run<logic_kind<T, logic::all>>(queue, a);
  a.op == reduce_op::logical_or ? run<logic_kind<T, logic::any>>(queue, a) : run<logic_kind<T, logic::odd>>(queue, a);
}

template <class T>
void run_bits(const work_queue& queue, const reduce_args& a) {
  if (a.op == reduce_op::bitwise_and) return run<bitwise_kind<T, bitwise::all>>(queue, a);
  a.op == reduce_op::bitwise_or ? run<bitwise_kind<T, bitwise::any>>(queue, a)
                                : run<bitwise_kind<T, bitwise::odd>>(queue, a);
}

template <class T, class Wide>
void run_type(const work_queue& queue, const reduce_args& a) {
  constexpr bool is_complex = !std::is_arithmetic_v<T> && !is_half<T>;
  if (a.op <= reduce_op::product) return run_numbers<T, Wide>(queue, a);
  if (a.op >= reduce_op::logical_and && a.op <= reduce_op::logical_xor) return run_logic<T>(queue, a);
  if constexpr (!is_complex) {
    if (a.op <= reduce_op::argmax) return run_order<T>(queue, a);
  }
  if constexpr (std::is_integral_v<T>) run_bits<T>(queue, a);
}

}  // namespace

void reduce(const work_queue& queue, const reduce_args& a) {
  switch (a.in_type) {
    case element_type::i8:
      return run_type<std::int8_t, std::int64_t>(queue, a);
    case element_type::i16:
      return run_type<std::int16_t, std::int64_t>(queue, a);
    case element_type::i32:
      return run_type<std::int32_t, std::int64_t>(queue, a);
    case element_type::i64:
      return run_type<std::int64_t, std::int64_t>(queue, a);
    case element_type::u8:
      return run_type<std::uint8_t, std::uint64_t>(queue, a);
    case element_type::u16:
      return run_type<std::uint16_t, std::uint64_t>(queue, a);
    case element_type::u32:
      return run_type<std::uint32_t, std::uint64_t>(queue, a);
    case element_type::u64:
      return run_type<std::uint64_t, std::uint64_t>(queue, a);
    case element_type::f16:
      return run_type<float16, float>(queue, a);
    case element_type::bf16:
      return run_type<bfloat16, float>(queue, a);
    case element_type::f32:
      return run_type<float, float>(queue, a);
    case element_type::f64:
      return run_type<double, double>(queue, a);
    case element_type::c64:
      return run_type<std::complex<float>, std::complex<float>>(queue, a);
    case element_type::c128:
      return run_type<std::complex<double>, std::complex<double>>(queue, a);
  }
}

}  // namespace twill::cpu
