#pragma once

// The trees of src/reduce/gpu/tree.hpp and reduce_columns.hpp, walked by the CPU: see reduce_kinds.hpp for `Kind`.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "vectors.hpp"

namespace twill::cpu {

inline constexpr int tree_rows = 8, tree_parts = 8, tree_lanes = 32, tree_threads = 256;

/// Combines values[0], values[stride] ... values[(count - 1) * stride] as neighbours into values[0].
template <class Kind>
void combine_neighbours(typename Kind::value* values, int count, int stride) {
  for (int step = 1; step < count; step *= 2) {
    for (int i = 0; i + step < count; i += 2 * step) {
      values[i * stride] = Kind::combine(values[i * stride], values[(i + step) * stride]);
    }
  }
}

template <class Kind, class Element>
typename Kind::value combine_eight(const Kind& kind, Element&& element) {
  const auto four = [&](int i) {
    return kind.combine(kind.combine(element(i), element(i + 1)), kind.combine(element(i + 2), element(i + 3)));
  };
  return kind.combine(four(0), four(4));
}

/// Values that come one after another, combined as neighbours.
template <class Kind>
class neighbour_stack {
 public:
  explicit neighbour_stack(const Kind& kind) : kind_(kind) {}
  void push(typename Kind::value value) {
    int level = 0;
    for (std::uint64_t bit = count_; (bit & 1) != 0; bit >>= 1) value = kind_.combine(levels_[level++], value);
    levels_[level] = value;
    ++count_;
  }
  /// All of them; at least one was pushed.
  typename Kind::value all() const {
    int level = 0;
    while ((count_ >> level & 1) == 0) ++level;
    typename Kind::value value = levels_[level];
    for (++level; count_ >> level != 0; ++level) {
      if ((count_ >> level & 1) != 0) value = kind_.combine(levels_[level], value);
    }
    return value;
  }

 private:
  const Kind& kind_;
  typename Kind::value levels_[48];
  std::uint64_t count_ = 0;
};

/// Elements of a vector, and of a chunk.
template <class Kind>
inline constexpr int slots_of = 16 / static_cast<int>(sizeof(typename Kind::in));
template <class Kind>
inline constexpr std::int64_t chunk_of = std::int64_t{tree_rows} * tree_threads * slots_of<Kind>;

/// Combines lane l with l + lanes / 2 and so on.
template <class Kind>
typename Kind::value combine_lanes(typename Kind::value* values, int lanes) {
  for (int step = lanes / 2; step > 0; step /= 2) {
    for (int lane = 0; lane < step; ++lane) values[lane] = Kind::combine(values[lane], values[lane + step]);
  }
  return values[0];
}

/// One chunk, of which `left` elements (at least 1) are there; the first has the index `first`.
template <class Kind>
typename Kind::value combine_chunk(const Kind& kind, const typename Kind::in* in, std::int64_t left,
                                   std::int64_t first) {
  constexpr int slots = slots_of<Kind>, row = tree_threads * slots;
  alignas(64) typename Kind::value columns[row];
  if (left >= chunk_of<Kind> && combine_whole_chunk(kind, in, columns)) return combine_lanes<Kind>(columns, tree_lanes);
  int threads = tree_threads;  // that have elements; the others' pads change nothing
  if (left >= chunk_of<Kind>) {
    for (int j = 0; j < row; ++j) {
      columns[j] = combine_eight(kind, [&](int i) { return kind.load(in[i * row + j], first + i * row + j); });
    }
  } else {
    const auto element = [&](std::int64_t at) { return kind.load(at < left ? in[at] : kind.pad, first + at); };
    const std::int64_t vectors = (left + slots - 1) / slots;
    threads = 1;
    while (threads < vectors && threads < tree_lanes) threads *= 2;
    if (vectors > tree_lanes)
      threads = static_cast<int>(std::min<std::int64_t>(tree_threads, (vectors + 31) / 32 * 32));
    const bool one_row = left <= row;
    for (int j = 0; j < threads * slots; ++j) {
      columns[j] = one_row ? element(j) : combine_eight(kind, [&](int i) { return element(i * row + j); });
    }
  }
  for (int t = 0; t < threads; ++t) {
    combine_neighbours<Kind>(columns + t * slots, slots, 1);
    columns[t] = columns[t * slots];
  }
  const int lanes = std::min(threads, tree_lanes);
  for (int lane = 0; lane < lanes; ++lane) combine_neighbours<Kind>(columns + lane, threads / lanes, tree_lanes);
  return combine_lanes<Kind>(columns, lanes);
}

/// Fewer elements are combined one by one.
inline constexpr std::int64_t least_for_vectors = 64;

/// Elements `begin` to `end` of an array, at least one unless the kind is exact; all chunks but the last are full.
template <class Kind>
typename Kind::value combine_elements(const Kind& kind, const typename Kind::in* in, std::int64_t begin,
                                      std::int64_t end) {
  if constexpr (Kind::exact) {
    auto all = kind.none();
    std::int64_t at = begin;
    if (const auto* vector = vectors(); vector != nullptr && end - begin >= least_for_vectors) {
      at = combine_vectors(*vector, kind, in, begin, end, all);
    }
    for (; at < end; ++at) all = kind.combine(all, kind.load(in[at], at));
    return all;
  } else {
    neighbour_stack<Kind> stack(kind);
    std::int64_t at = begin;
    do {
      stack.push(combine_chunk(kind, in + at, end - at, at));
      at += chunk_of<Kind>;
    } while (at < end);
    return stack.all();
  }
}

}  // namespace twill::cpu
