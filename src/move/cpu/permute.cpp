// Permutations by composite tiles: a tile is gathered from the input into a buffer that lies as the output does, and
// leaves it in long runs, past the caches where the output is large.

#include <algorithm>
#include <cstring>

#include "backends/cpu/device.hpp"
#include "backends/cpu/vector.hpp"
#include "composite_tile.hpp"
#include "move/plan/normal_form.hpp"
#include "operations.hpp"

namespace twill::cpu {
namespace {

using detail::permute_args;

constexpr std::int64_t task_bytes = std::int64_t{256} << 10;

/// Dimensions to walk, with the steps of both sides.
struct walk {
  int rank = 0;
  std::int64_t extent[8], from[8], to[8];

  void add(std::int64_t count, std::int64_t from_step, std::int64_t to_step) {
    extent[rank] = count;
    from[rank] = from_step;
    to[rank++] = to_step;
  }

  /// Calls f(offset, offset) for each place, the first dimension's next to each other.
  template <class F>
  void each(F&& f) const {
    std::int64_t index[8] = {}, at_from = 0, at_to = 0;
    for (;;) {
      f(at_from, at_to);
      int i = 0;
      for (; i < rank; ++i) {
        at_from += from[i];
        at_to += to[i];
        if (++index[i] < extent[i]) break;
        at_from -= extent[i] * from[i];
        at_to -= extent[i] * to[i];
        index[i] = 0;
      }
      if (i == rank) return;
    }
  }
};

template <std::size_t Bytes>
void gather_block(const vector_block& b, std::size_t bytes) {
  if constexpr (Bytes != 0) bytes = Bytes;  // a constant, so that memcpy becomes a load
  const auto size = static_cast<std::int64_t>(bytes);
  if (b.rows >= b.cols) {
    for (std::int64_t c = 0; c < b.cols; ++c) {
      for (std::int64_t r = 0; r < b.rows; ++r) {
        std::memcpy(b.out + b.col_offsets[c] + r * size, b.in + b.row_offsets[r] + c * size, bytes);
      }
    }
    return;
  }
  for (std::int64_t r = 0; r < b.rows; ++r) {
    for (std::int64_t c = 0; c < b.cols; ++c) {
      std::memcpy(b.out + b.col_offsets[c] + r * size, b.in + b.row_offsets[r] + c * size, bytes);
    }
  }
}

void gather_any_block(const vector_block& b, std::int64_t bytes) {
  using function = void (*)(const vector_block&, std::size_t);
  constexpr function up_to_16[] = {&gather_block<1>,  &gather_block<2>,  &gather_block<3>,  &gather_block<4>,
                                   &gather_block<5>,  &gather_block<6>,  &gather_block<7>,  &gather_block<8>,
                                   &gather_block<9>,  &gather_block<10>, &gather_block<11>, &gather_block<12>,
                                   &gather_block<13>, &gather_block<14>, &gather_block<15>, &gather_block<16>};
  const auto of_size = bytes <= 16 ? up_to_16[bytes - 1] : bytes == 24 ? &gather_block<24> : &gather_block<0>;
  of_size(b, static_cast<std::size_t>(bytes));
}

/// Moves tiles one after another, with tables of offsets that stay while the extents do.
class tile_mover {
 public:
  tile_mover(const permute_args& a, const composite_tile& tile, const vector_functions* streamed_by)
      : a_(a), t_(tile), vector_(vectors()), streamed_by_(streamed_by) {
    while (exponent_ < 5 && a.run_bytes != std::int64_t{1} << exponent_) ++exponent_;
  }

  void move(std::int64_t index) {
    const auto* in = static_cast<const unsigned char*>(a_.in);
    auto* out = static_cast<unsigned char*>(a_.out);
    bool same = true;
    for (int i = 0; i < a_.rank; ++i) {
      const int dim = t_.input_order[i];
      const std::int64_t first = index % t_.count[dim] * t_.extent[dim];
      index /= t_.count[dim];
      in += first * a_.dims[dim].in_stride;
      out += first * a_.dims[dim].out_stride;
      const std::int64_t extent = std::min(t_.extent[dim], a_.dims[dim].extent - first);
      same = same && extent == extent_[dim];
      extent_[dim] = extent;
    }
    if (!same) prepare();
    others_.each([&](std::int64_t from, std::int64_t to) { move_block(in + from, buffer_.data() + to); });
    rows_out_.each([&](std::int64_t from, std::int64_t to) { store(out + to, buffer_.data() + from); });
  }

 private:
  // Strides of the buffer, tables of the sides, and what is walked around them.
  void prepare() {
    std::int64_t stride[8], next = a_.run_bytes;
    for (int i = 0; i < a_.rank; ++i) {
      stride[i] = next;
      next *= extent_[i];
      // Rows with a power-of-two pitch would conflict in few sets of the cache.
      if (i + 1 == t_.row_dims && next >= 512 && next % line_bytes == 0) next += line_bytes;
    }
    walk rows, cols;
    others_ = rows_out_ = walk{};
    for (int i = 0; i < t_.row_dims; ++i) rows.add(extent_[i], a_.dims[i].in_stride, stride[i]);
    for (int i = 0; i < t_.col_dims; ++i) {
      const int dim = t_.input_order[i];
      cols.add(extent_[dim], a_.dims[dim].in_stride, stride[dim]);
    }
    for (int i = t_.row_dims; i < a_.rank; ++i) {
      const bool is_col = std::find(t_.input_order, t_.input_order + t_.col_dims, i) != t_.input_order + t_.col_dims;
      if (!is_col && extent_[i] > 1) others_.add(extent_[i], a_.dims[i].in_stride, stride[i]);
    }
    rows_ = cols_ = 0;
    rows.each([&](std::int64_t from, std::int64_t) { row_offsets_[rows_++] = from; });
    cols.each([&](std::int64_t, std::int64_t to) { col_offsets_[cols_++] = to; });
    run_ = a_.run_bytes;
    for (int i = 0; i < a_.rank; ++i) {
      if (rows_out_.rank == 0 && a_.dims[i].out_stride == run_ && stride[i] == run_) {
        run_ *= extent_[i];
      } else if (extent_[i] > 1) {
        rows_out_.add(extent_[i], stride[i], a_.dims[i].out_stride);
      }
    }
  }

  void move_block(const unsigned char* in, unsigned char* out) const {
    const vector_block block{in, out, row_offsets_, col_offsets_, rows_, cols_};
    if (vector_ != nullptr && exponent_ < 5 && std::min(rows_, cols_) * a_.run_bytes >= 16) {
      vector_->transpose_block[exponent_](block);
    } else {
      gather_any_block(block, a_.run_bytes);
    }
  }

  void store(unsigned char* to, const unsigned char* from) const {
    if (streamed_by_ != nullptr) return streamed_by_->stream(to, from, static_cast<std::size_t>(run_));
    std::memcpy(to, from, static_cast<std::size_t>(run_));
  }

  const permute_args& a_;
  const composite_tile& t_;
  const vector_functions *vector_, *streamed_by_;
  int exponent_ = 0;
  std::int64_t extent_[8] = {};
  walk others_, rows_out_;
  std::int64_t rows_ = 0, cols_ = 0, run_ = 0;
  std::int64_t row_offsets_[most_side_elements], col_offsets_[most_side_elements];
  host::work_buffer buffer_;
};

// Runs that are long as they are: from the input to the output, in pieces.
void copy_runs(const detail::work_queue& queue, const permute_args& a, const vector_functions* streamed_by) {
  std::int64_t runs = 1;
  for (int i = 0; i < a.rank; ++i) runs *= a.dims[i].extent;
  const std::int64_t at_once = std::max<std::int64_t>(1, task_bytes / a.run_bytes);
  const std::int64_t pieces = (a.run_bytes + task_bytes - 1) / task_bytes;
  const auto tasks = static_cast<std::size_t>((runs + at_once - 1) / at_once * pieces);
  team_of(queue).run(tasks, [&](std::size_t task) {
    const auto first = static_cast<std::int64_t>(task) / pieces * at_once;
    const auto piece = static_cast<std::int64_t>(task) % pieces * task_bytes;
    const auto bytes = static_cast<std::size_t>(std::min(task_bytes, a.run_bytes - piece));
    for (std::int64_t run = first; run < std::min(runs, first + at_once); ++run) {
      const auto* in = static_cast<const unsigned char*>(a.in) + piece;
      auto* out = static_cast<unsigned char*>(a.out) + piece;
      std::int64_t place = run;
      for (int i = 0; i < a.rank; ++i) {
        in += place % a.dims[i].extent * a.dims[i].in_stride;
        out += place % a.dims[i].extent * a.dims[i].out_stride;
        place /= a.dims[i].extent;
      }
      if (streamed_by != nullptr) {
        streamed_by->stream(out, in, bytes);
      } else {
        std::memcpy(out, in, bytes);
      }
    }
    if (streamed_by != nullptr) streamed_by->fence();
  });
}

}  // namespace

void permute(const detail::work_queue& queue, const permute_args& a) {
  if (const auto as = detail::as_transpose(a)) return transpose(queue, *as);
  std::int64_t bytes = a.run_bytes;
  for (int i = 0; i < a.rank; ++i) bytes *= a.dims[i].extent;
  const auto* const streamed_by = bytes >= least_streamed ? vectors() : nullptr;
  if (a.run_bytes >= most_side_elements) return copy_runs(queue, a, streamed_by);
  const composite_tile tile = choose_tile(a);
  const std::int64_t at_once = std::max<std::int64_t>(1, task_bytes / tile.bytes);
  team_of(queue).run(static_cast<std::size_t>((tile.tiles + at_once - 1) / at_once), [&](std::size_t task) {
    tile_mover mover(a, tile, streamed_by);
    const auto first = static_cast<std::int64_t>(task) * at_once;
    for (std::int64_t i = first; i < std::min(tile.tiles, first + at_once); ++i) mover.move(i);
    if (streamed_by != nullptr) streamed_by->fence();
  });
}

}  // namespace twill::cpu
