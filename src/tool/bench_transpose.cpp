// Transposes of a matrix or a batch, out of place and in place.

#include <fmt/core.h>

#include <twill/ladder/transpose.hpp>
#include <twill/transpose.hpp>
#include <twill/transpose_in_place.hpp>

#include "candidates.hpp"
#include "moved.hpp"
#include "text.hpp"

namespace twill::tool {
namespace {

constexpr std::string_view least_name = "least-scratch";

/// The sizes of elements that the steps of the ladder move.
bool is_rung_size(std::int64_t bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
}

/// {N} is N x N, {rows, cols} one matrix, {batch, rows, cols} several. Refuses other sizes, and too many bytes.
extents matrix_extents(const bench_case& which) {
  const extents& size = which.size;
  if (size.size() > 3) {
    refuse(fmt::format("size {} has {} extents", extents_text(size), size.size()),
           "a matrix has two, a batch of them three", "write --size ROWSxCOLS, BATCHxROWSxCOLS, or N for a square");
  }
  const extents all = size.size() == 1 ? extents{size.front(), size.front()} : size;
  extents factors = all;
  factors.back() += which.gap;
  factors.insert(factors.end(), {which.type.bytes, 4});
  checked_product(factors, fmt::format("size {}", extents_text(size)));
  return all;
}

class transpose_problem : public moving_problem {
 public:
  explicit transpose_problem(const bench_case& which)
      : moving_problem(matrix_extents(which), which.type.bytes), gap_(which.gap) {
    const extents& all = size();
    batch_ = all.size() == 3 ? all.front() : 1;
    rows_ = all[all.size() - 2];
    cols_ = all.back();
  }

  std::string text() const override {
    return extents_text(size()) + (gap_ > 0 ? fmt::format("+{}", gap_) : std::string());
  }
  std::int64_t rows() const override { return rows_; }
  std::int64_t cols() const override { return cols_; }
  std::int64_t batch() const override { return batch_; }
  std::int64_t gap() const override { return gap_; }
  extents all_extents() const override { return batch_ == 1 ? extents{} : size(); }
  std::size_t in_bytes() const override { return static_cast<std::size_t>(batch_ * in_stride() * element_bytes()); }

  std::vector<candidate> candidates(const device& on) const override {
    return explain_permute(on, element_bytes(), form());
  }
  std::chrono::nanoseconds planning_time(const device& on) const override {
    return twill::planning_time(on, element_bytes(), form());
  }

  /// The steps of the ladder take one matrix without gaps, of elements of some sizes.
  void run(stream_ref stream, const rung& which, const void* in, void* out,
           const rung_options& options) const override {
    if (is_candidate(which)) {
      return permute_bytes_with(stream, std::string(which.name), in, out, element_bytes(), form());
    }
    if (batch_ == 1 && gap_ == 0 && is_rung_size(element_bytes())) {
      return transpose_rung(stream, which.name, in, out, element_bytes(), rows_, cols_, options);
    }
    if (which.name != "memcpy" && which.name != "tuned" && which.name != "cpu-tuned") {
      throw error(errc::unsupported,
                  fmt::format("{} moves one matrix, of elements of 1, 2, 4, 8 or 16 bytes", which.name));
    }
    moving_problem::run(stream, which, in, out, options);
  }

 protected:
  void move(stream_ref stream, const rung&, const void* in, void* out) const override {
    transpose_bytes(stream, in, out, element_bytes(), {rows_, cols_, batch_, in_ld(), 0, in_stride()});
  }

  moved_elements moved() const override {
    const std::int64_t bytes = element_bytes();
    return {bytes,
            {{batch_, in_stride() * bytes, rows_ * cols_ * bytes},
             {cols_, bytes, rows_ * bytes},
             {rows_, in_ld() * bytes, bytes}},
            {}};
  }

  moved_elements expected_of(const rung& which, block_shape block) const override {
    if (which.promise == rung_promise::tiles_transposed) return tiles_transposed(block.x);
    if (which.promise == rung_promise::tiles_moved) return tiles_moved(block.x);
    return moving_problem::expected_of(which, block);
  }

  std::int64_t elements_bytes() const override { return batch_ * rows_ * cols_ * element_bytes(); }

 private:
  std::int64_t in_ld() const { return cols_ + gap_; }
  std::int64_t in_stride() const { return rows_ * in_ld() + gap_; }
  permute_shape form() const { return {{batch_, rows_, cols_}, {0, 2, 1}, {in_stride(), in_ld(), 1}, {}}; }

  /// Tiles stay where they are; (i, j) of a tile comes from (j, i), or where the matrix has no (j, i) stays as it is.
  moved_elements tiles_transposed(std::int64_t tile) const {
    const auto source = [rows = rows_, cols = cols_, bytes = element_bytes(), tile](const extents& out) {
      const std::int64_t i = out[0] % tile, j = out[1] % tile, row = out[0] - i + j, col = out[1] - j + i;
      return (row < rows && col < cols ? row * cols + col : out[0] * cols + out[1]) * bytes;
    };
    return {element_bytes(), {{rows_, 0, cols_ * element_bytes()}, {cols_, 0, element_bytes()}}, source};
  }

  /// Tile (ty, tx) goes to (tx, ty) with (i, j) kept; where the tile at the edge has no (i, j) its (j, i) is taken.
  moved_elements tiles_moved(std::int64_t tile) const {
    const auto source = [rows = rows_, cols = cols_, bytes = element_bytes(), tile](const extents& out) {
      const std::int64_t i = out[0] % tile, j = out[1] % tile, row = out[1] - j + i, col = out[0] - i + j;
      return (row < rows && col < cols ? row * cols + col : out[1] * cols + out[0]) * bytes;
    };
    return {element_bytes(), {{cols_, 0, rows_ * element_bytes()}, {rows_, 0, element_bytes()}}, source};
  }

  std::int64_t batch_ = 1, rows_ = 1, cols_ = 1, gap_;
};

/// The matrices lie in the output, and scratch memory behind them.
class in_place_problem : public transpose_problem {
 public:
  explicit in_place_problem(const bench_case& which) : transpose_problem(which), shape_{rows(), cols(), batch()} {}

  std::size_t out_bytes() const override { return scratch_place() + scratch_bytes(scratch_size::fast); }
  std::size_t touched_bytes() const override { return in_bytes(); }
  bool in_place() const override { return true; }
  std::vector<candidate> candidates(const device&) const override { return {}; }

  void run(stream_ref stream, const rung& which, const void* in, void* out,
           const rung_options& options) const override {
    // transpose_problem's runs the ladder. NOLINTNEXTLINE(bugprone-parent-virtual-call)
    moving_problem::run(stream, which, in, out, options);
  }

 protected:
  void move(stream_ref stream, const rung& which, const void*, void* out) const override {
    const auto size = which.name == least_name ? scratch_size::least : scratch_size::fast;
    transpose_in_place_bytes(stream, out, element_bytes(), shape_,
                             {static_cast<unsigned char*>(out) + scratch_place(), scratch_bytes(size)});
  }
  std::size_t checked_bytes() const override { return in_bytes(); }

 private:
  std::size_t scratch_place() const { return (in_bytes() + 255) / 256 * 256; }
  std::size_t scratch_bytes(scratch_size size) const {
    return transpose_in_place_scratch_bytes(device(), element_bytes(), shape_, size);
  }

  transpose_in_place_shape shape_;
};

std::vector<block_shape> transpose_blocks(const device& on, std::string_view rung, std::int64_t element_bytes) {
  return is_rung_size(element_bytes) ? transpose_rung_blocks(on, rung, element_bytes) : std::vector<block_shape>{};
}

template <class Problem>
std::unique_ptr<ladder_problem> make_problem(const bench_case& which) {
  return std::make_unique<Problem>(which);
}

std::vector<rung> in_place_rungs(const device& on) {
  std::vector<rung> list = moving_rungs(on, "transpose-in-place", "twill::transpose_in_place, with fast scratch");
  rung least = list.front();
  least.name = least_name;
  least.lesson = "twill::transpose_in_place, with the least scratch: a row at most";
  list.insert(list.begin(), least);
  return list;
}

}  // namespace

const ladder_operation& transpose_operation() {
  static const ladder_operation operation = {
      "transpose", "4096x4096", transpose_rungs, transpose_blocks, make_problem<transpose_problem>, "memcpy", "f32",
      false,       true};
  return operation;
}

const ladder_operation& transpose_in_place_operation() {
  static const ladder_operation operation = {"transpose-in-place", "4096x4096", in_place_rungs, moving_blocks,
                                             make_problem<in_place_problem>};
  return operation;
}

}  // namespace twill::tool
