#include "tile_mover.hpp"

#include <algorithm>
#include <cstring>

#include "families.hpp"
#include "mover.hpp"

namespace twill::cpu {
tile_mover::tile_mover(const detail::permute_args& a, const composite_tile& tile, const vector_functions* streamed_by)
    : a_(a), t_(tile), vector_(vectors()), streamed_by_(streamed_by), exponent_(exponent_of(a.run_bytes)) {
  const bool ascending =
      std::all_of(a.dims, a.dims + a.rank, [&](const detail::permute_dim& d) { return d.in_stride >= a.run_bytes; });
  gather_ = gather_of(a.run_bytes, ascending);
}

// Tiles follow each other along the input.
void tile_mover::move(std::int64_t first, std::int64_t end) {
  walk tiles;
  for (int i = 0; i < a_.rank; ++i) {
    const int dim = t_.input_order[i];
    tiles.add(t_.count[dim], t_.extent[dim] * a_.dims[dim].in_stride, t_.extent[dim] * a_.dims[dim].out_stride);
  }
  walk::position at = tiles.find(first);
  const auto* const in = static_cast<const unsigned char*>(a_.in);
  auto* const out = static_cast<unsigned char*>(a_.out);
  for (std::int64_t i = first; i < end; ++i) {
    if (set_extents(at.index)) prepare();
    load(in + at.from);
    unsigned char* const to = out + at.to;
    tiles.step(at);
    store(to, i + 1 < end ? in + at.from : nullptr);
  }
}

// Returns whether the tile differs in size from the one before.
bool tile_mover::set_extents(const std::int64_t* index) {
  bool differs = false;
  for (int i = 0; i < a_.rank; ++i) {
    const int dim = t_.input_order[i];
    const std::int64_t extent = std::min(t_.extent[dim], a_.dims[dim].extent - index[i] * t_.extent[dim]);
    differs = differs || extent != extent_[dim];
    extent_[dim] = extent;
  }
  return differs;
}

void tile_mover::prepare() {
  std::int64_t rows = 1, cols = 1;
  for (int i = 0; i < t_.row_dims; ++i) rows *= extent_[i];
  for (int i = 0; i < t_.col_dims; ++i) cols *= extent_[t_.input_order[i]];
  blocks_ = runs_ = walk{};
  gathered_ = 0;
  if (vector_ != nullptr && exponent_ >= 0 && std::min(rows, cols) * a_.run_bytes >= 16) {
    prepare_vectors(rows, cols);
  } else {
    prepare_gather();
  }
  run_ = a_.run_bytes;
  for (int i = 0; i < a_.rank; ++i) {
    if (runs_.rank == 0 && a_.dims[i].out_stride == run_ && stride_[i] == run_) {
      run_ *= extent_[i];
    } else if (extent_[i] > 1) {
      runs_.add(extent_[i], stride_[i], a_.dims[i].out_stride);
    }
  }
  prepare_prefetch();
}

// Rows follow each other in the buffer. Otherwise all tiles lie there as the full one does, so that tiles which are
// smaller in the outermost dimension of a side can use its tables.
void tile_mover::prepare_vectors(std::int64_t rows, std::int64_t cols) {
  const int *const order = t_.input_order, *const order_end = order + t_.col_dims;
  std::int64_t next = a_.run_bytes;
  for (int i = 0; i < a_.rank; ++i) {
    stride_[i] = next;
    next *= i + 1 < t_.row_dims ? extent_[i] : t_.extent[i];
    // Rows with a power-of-two pitch would conflict in few sets of the cache.
    if (i + 1 == t_.row_dims && next >= 512 && next % line_bytes == 0) next += line_bytes;
    const bool on_a_side = i < t_.row_dims || std::find(order, order_end, i) != order_end;
    if (!on_a_side && extent_[i] > 1) blocks_.add(extent_[i], a_.dims[i].in_stride, stride_[i]);
  }
  if (!have_tables()) make_tables();
  rows_ = rows;
  cols_ = cols;
}

// The first entries of a table are those of a tile that is smaller in the outermost dimension.
bool tile_mover::have_tables() const {
  for (int i = 0; i + 1 < t_.row_dims; ++i) {
    if (extent_[i] != table_extent_[i]) return false;
  }
  for (int i = 0; i + 1 < t_.col_dims; ++i) {
    if (extent_[t_.input_order[i]] != table_extent_[t_.input_order[i]]) return false;
  }
  return table_extent_[0] != 0;
}

void tile_mover::make_tables() {
  const int* const order = t_.input_order;
  std::copy_n(extent_, a_.rank, table_extent_);
  table_extent_[t_.row_dims - 1] = t_.extent[t_.row_dims - 1];
  if (t_.col_dims > 0) table_extent_[order[t_.col_dims - 1]] = t_.extent[order[t_.col_dims - 1]];
  walk rows, cols;
  for (int i = 0; i < t_.row_dims; ++i) rows.add(table_extent_[i], a_.dims[i].in_stride, 0);
  for (int i = 0; i < t_.col_dims; ++i) cols.add(table_extent_[order[i]], 0, stride_[order[i]]);
  std::int64_t row = 0, col = 0;
  rows.each([&](std::int64_t from, std::int64_t) { offsets_[row++] = from; });
  cols.each([&](std::int64_t, std::int64_t to) { col_offsets_[col++] = to; });
}

// One table of elements in the order of the buffer, for as many dimensions as fit; the others are walked.
void tile_mover::prepare_gather() {
  walk elements;
  std::int64_t count = 1, next = a_.run_bytes;
  for (int i = 0; i < a_.rank; ++i) {
    stride_[i] = next;
    next *= extent_[i];
    const bool fits = blocks_.rank == 0 && count * extent_[i] <= most_offsets;
    if (fits) count *= extent_[i];
    (fits ? elements : blocks_).add(extent_[i], a_.dims[i].in_stride, stride_[i]);
  }
  elements.each([&](std::int64_t from, std::int64_t) { offsets_[gathered_++] = from; });
  table_extent_[0] = 0;
}

void tile_mover::prepare_prefetch() {
  input_runs_ = walk{};
  input_run_ = a_.run_bytes;
  bool contiguous = true;
  for (int i = 0; i < a_.rank; ++i) {
    const int dim = t_.input_order[i];
    contiguous = contiguous && a_.dims[dim].in_stride == input_run_;
    if (contiguous) {
      input_run_ *= extent_[dim];
      contiguous = extent_[dim] == a_.dims[dim].extent;
    } else if (extent_[dim] > 1) {
      input_runs_.add(extent_[dim], a_.dims[dim].in_stride, 0);
    }
  }
}

void tile_mover::load(const unsigned char* in) {
  blocks_.each([&](std::int64_t from, std::int64_t to) {
    unsigned char* const out = buffer_.data() + to;
    if (gathered_ > 0) {
      gather_(in + from, out, offsets_, gathered_, a_.run_bytes);
    } else {
      vector_->transpose_block[exponent_]({in + from, out, offsets_, col_offsets_, rows_, cols_});
    }
  });
}

// Between the stores, lines of the next tile come into the second-level cache.
void tile_mover::store(unsigned char* out, const unsigned char* next) {
  const std::int64_t input_runs = next == nullptr ? 0 : input_runs_.count(), runs = runs_.count();
  std::int64_t prefetched = 0, stored = 0;
  walk::position at;
  runs_.each([&](std::int64_t from, std::int64_t to) {
    for (const std::int64_t end = ++stored * input_runs / runs; prefetched < end; ++prefetched) {
      for (std::int64_t i = 0; i < input_run_; i += line_bytes) __builtin_prefetch(next + at.from + i, 0, 2);
      __builtin_prefetch(next + at.from + input_run_ - 1, 0, 2);
      input_runs_.step(at);
    }
    if (streamed_by_ != nullptr) {
      streamed_by_->stream(out + to, buffer_.data() + from, static_cast<std::size_t>(run_));
    } else {
      std::memcpy(out + to, buffer_.data() + from, static_cast<std::size_t>(run_));
    }
  });
}

}  // namespace twill::cpu
