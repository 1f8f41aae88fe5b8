#pragma once

// Reductions over the rows of a matrix, on the CPU: tasks of the team have chunks of rows of tiles of columns, and
// leave partial values that are combined afterwards.

#include <algorithm>
#include <cstdint>

#include "backends/cpu/device.hpp"
#include "reduce/column_tree.hpp"
#include "tree.hpp"

namespace twill::cpu {

template <class Kind>
const typename Kind::in* row_of(const detail::reduce_args& a, std::int64_t row) {
  return static_cast<const typename Kind::in*>(a.in) + row * a.ld;
}
template <class Kind>
typename Kind::value* partials_of(const detail::reduce_args& a) {
  if (a.scratch == nullptr) return nullptr;  // one chunk: no partial results
  return reinterpret_cast<typename Kind::value*>(static_cast<unsigned char*>(a.scratch) + detail::reduce_ticket_bytes);
}
template <class Kind>
std::int64_t most_partials(const detail::reduce_args& a) {
  const std::int64_t bytes = a.scratch_bytes - static_cast<std::int64_t>(detail::reduce_ticket_bytes);
  return std::max<std::int64_t>(0, bytes) / static_cast<std::int64_t>(sizeof(typename Kind::value));
}

/// One chunk of a tile of `width` columns: leaves their values in `values`, which has room for all parts.
template <class Kind>
void combine_column_chunk(const detail::reduce_args& a, const Kind& kind, const detail::column_tree& tree,
                          std::int64_t chunk, std::int64_t column, int width, typename Kind::value* values) {
  const int parts = tree.parts();
  const std::int64_t folds = a.rows / tree.fold;
  for (int part = 0; part < parts; ++part) {
    typename Kind::value* mine = values + part * width;
    for (int batch = 0; batch < tree.batches; ++batch) {
      const std::int64_t first = (chunk * tree.batches + batch) * 8 * parts + part;
      if (batch > 0 && first >= folds) break;
      const typename Kind::in* rows[8];  // null for those that are not there
      for (int i = 0; i < 8; ++i) {
        const std::int64_t row = first + i * parts;
        rows[i] = row < folds ? row_of<Kind>(a, row * tree.fold) + column : nullptr;
      }
      const bool full = rows[7] != nullptr;
      for (int c = 0; c < width; ++c) {
        const auto element = [&](int i) { return kind.load(full || rows[i] ? rows[i][c] : kind.pad, 0); };
        const auto eight = combine_eight(kind, element);
        mine[c] = batch == 0 ? eight : Kind::combine(mine[c], eight);
      }
    }
  }
  for (int c = 0; c < width; ++c) combine_neighbours<Kind>(values + c, parts, width);
}

/// Stores the results of `width` columns from `first` on; those of folds are combined with the rows that do not fill
/// one, and with each other.
template <class Kind>
void store_columns(const detail::reduce_args& a, const Kind& kind, int fold, std::int64_t first, int width,
                   typename Kind::value* values) {
  const std::int64_t folds = a.rows / fold;
  if (fold > 1) {  // one tile
    const auto* rest = row_of<Kind>(a, folds * fold);
    for (std::int64_t c = 0; c < (a.rows - folds * fold) * a.cols; ++c) {
      values[c] = Kind::combine(values[c], kind.load(rest[c], 0));
    }
  }
  const int cols = width / fold;
  for (int c = 0; c < cols; ++c) {
    combine_neighbours<Kind>(values + c, fold, cols);
    kind.store(a.out, first + c, a.rows == 0 ? kind.load(kind.empty, 0) : values[c]);
  }
}

/// In the tree that the shape decides.
template <class Kind>
void reduce_columns_in_order(const detail::work_queue& queue, const detail::reduce_args& a, const Kind& kind) {
  using value = typename Kind::value;
  const auto tree = detail::tree_of_columns({a.rows, a.cols, slots_of<Kind>, a.ld == a.cols});
  const std::int64_t tile = std::int64_t{tree.lanes} * slots_of<Kind>;
  const auto width_of = [&](std::int64_t t) { return static_cast<int>(std::min(tile, a.cols * tree.fold - t * tile)); };
  value* partials = partials_of<Kind>(a);
  team_of(queue).run(static_cast<std::size_t>(tree.tiles * tree.chunks), [&](std::size_t task) {
    alignas(64) value values[tree_threads * slots_of<Kind>];
    const auto t = static_cast<std::int64_t>(task) / tree.chunks, chunk = static_cast<std::int64_t>(task) % tree.chunks;
    combine_column_chunk(a, kind, tree, chunk, t * tile, width_of(t), values);
    if (tree.chunks == 1) {
      store_columns(a, kind, tree.fold, t * tile, width_of(t), values);
    } else {
      std::copy_n(values, width_of(t), partials + static_cast<std::int64_t>(task) * tile);
    }
  });
  if (tree.chunks == 1) return;
  team_of(queue).run(static_cast<std::size_t>(tree.tiles), [&](std::size_t task) {
    const auto t = static_cast<std::int64_t>(task);
    value* values = partials + t * tile * tree.chunks;
    for (int c = 0; c < width_of(t); ++c) {
      combine_neighbours<Kind>(values + c, static_cast<int>(tree.chunks), static_cast<int>(tile));
    }
    store_columns(a, kind, tree.fold, t * tile, width_of(t), values);
  });
}

/// In any order: rows of 256 columns are added to the values of the columns.
template <class Kind>
void reduce_columns_exactly(const detail::work_queue& queue, const detail::reduce_args& a, const Kind& kind) {
  using value = typename Kind::value;
  constexpr std::int64_t tile = 256;
  const std::int64_t tiles = (a.cols + tile - 1) / tile;
  const std::int64_t chunks =
      std::clamp<std::int64_t>(most_partials<Kind>(a) / a.cols, 1, std::clamp<std::int64_t>(a.rows / 64, 1, 256));
  const std::int64_t a_chunk = (a.rows + chunks - 1) / chunks;
  value* partials = partials_of<Kind>(a);
  team_of(queue).run(static_cast<std::size_t>(tiles * chunks), [&](std::size_t task) {
    const auto t = static_cast<std::int64_t>(task) / chunks, chunk = static_cast<std::int64_t>(task) % chunks;
    const std::int64_t first = t * tile, width = std::min(tile, a.cols - first);
    value values[tile];
    for (std::int64_t c = 0; c < width; ++c) values[c] = kind.none();
    for (std::int64_t row = chunk * a_chunk; row < std::min(a.rows, (chunk + 1) * a_chunk); ++row) {
      const auto* in = row_of<Kind>(a, row) + first;
      for (std::int64_t c = 0; c < width; ++c) values[c] = kind.combine(values[c], kind.load(in[c], row));
    }
    for (std::int64_t c = 0; c < width; ++c) {
      if (chunks == 1) {
        kind.store(a.out, first + c, values[c]);
      } else {
        partials[chunk * a.cols + first + c] = values[c];
      }
    }
  });
  if (chunks == 1) return;
  for (std::int64_t column = 0; column < a.cols; ++column) {
    value all = partials[column];
    for (std::int64_t chunk = 1; chunk < chunks; ++chunk) all = kind.combine(all, partials[chunk * a.cols + column]);
    kind.store(a.out, column, all);
  }
}

}  // namespace twill::cpu
