#pragma once

// Calls that run every kernel of the operations that move data at least once, whatever the device: their
// extents grow with its multiprocessors and its shared memory, which its plans count. Extents are odd and pointers
// misaligned wherever a kernel takes them so.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <twill/twill.hpp>

#include "support/moving_calls.hpp"

namespace support {

class directed_calls {
 public:
  static std::vector<drawn_call> of(const twill::device_properties& device) {
    directed_calls all(device);
    all.aligned();
    all.narrow();
    all.any_rows();
    all.small();
    all.with_gaps();
    all.odd_elements();
    all.squares();
    all.rectangles();
    all.permutations();
    all.reversals();
    return std::move(all.calls_);
  }

 private:
  explicit directed_calls(const twill::device_properties& device)
      : on_(twill::device::open(device.name)),
        multiprocessors_(std::max(1, device.multiprocessors)),
        shared_(std::max<std::int64_t>(4096, static_cast<std::int64_t>(device.shared_bytes_per_block))) {}

  void transpose(const twill::transpose_shape& s, std::int64_t bytes, std::int64_t in_offset = 0,
                 std::int64_t out_offset = 0) {
    if (s.rows == 1 || s.cols == 1) {
      calls_.push_back(
          transpose_call(s, bytes, static_cast<std::size_t>(in_offset), static_cast<std::size_t>(out_offset)));
      return;
    }
    const std::int64_t in_ld = s.in_ld ? s.in_ld : s.cols, out_ld = s.out_ld ? s.out_ld : s.rows;
    const std::int64_t given_in = s.in_stride, in_stride = given_in != 0 ? given_in : s.rows * in_ld;
    const std::int64_t given_out = s.out_stride, out_stride = given_out != 0 ? given_out : s.cols * out_ld;
    const twill::permute_shape all{
        {s.batch, s.rows, s.cols}, {0, 2, 1}, {in_stride, in_ld, 1}, {out_stride, out_ld, 1}};
    by_each_matrix_kernel(all, bytes, in_offset, out_offset);
  }

  void by_each_matrix_kernel(const twill::permute_shape& s, std::int64_t bytes, std::int64_t in_offset,
                             std::int64_t out_offset) {
    for (std::size_t n = 0; n < std::max<std::size_t>(1, kernels_of(s, bytes, in_offset, out_offset)); ++n)
      permute(s, bytes, in_offset, out_offset, matrix_kernel + std::to_string(n));
  }

  // A call each: the output is compared after the call.
  std::size_t kernels_of(const twill::permute_shape& s, std::int64_t bytes, std::int64_t in_offset,
                         std::int64_t out_offset) const {
    if (on_.properties().backend == "cpu") return 1;
    if (on_.properties().multiprocessors != multiprocessors_) return 5;  // on which it depends
    const auto at = [](std::uintptr_t place, std::int64_t offset) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): an address, never followed.
      return reinterpret_cast<const void*>((place << 40) + static_cast<std::uintptr_t>(offset));
    };
    return matrix_kernels_of(on_, at(1, in_offset), at(2, out_offset), bytes, s).size();
  }

  // Rows of full vectors, by tiled-4byte and tiled-2d, of little and of more for a multiprocessor; rows of 64 bytes.
  void aligned() {
    for (const std::int64_t bytes : {1, 2, 4}) {
      for (const std::int64_t row : {16, 32, 48, 64}) {
        transpose({1104 / bytes, row / bytes, 3, 0, 1136 / bytes, 1152 * row / bytes / bytes}, bytes, 16, 48);
      }
      const std::int64_t rows = 304 / bytes, cols = 208 / bytes, ld = cols + 16 / bytes;
      transpose({rows, cols, 1, ld}, bytes, 16, 48);
      transpose({rows, cols, 65536 * multiprocessors_ / (rows * cols * bytes) + 1, ld}, bytes, 16, 48);
      transpose({1024 * multiprocessors_ + 16, 64 / bytes, 1, 0, 1024 * multiprocessors_ + 32}, bytes);
    }
    transpose({34, 66, 2, 68}, 8, 16, 48);
    transpose({35, 67, 2, 69}, 16, 16, 48);
    for (const std::int64_t bytes : {1, 2, 4, 8, 16}) {  // rows that begin at multiples of 256 bytes
      const std::int64_t rows = 304 / bytes, cols = 560 / bytes, ld = 768 / bytes;
      transpose({rows, cols, 65536 * multiprocessors_ / (rows * cols * bytes) + 1, ld}, bytes, 256, 48);
    }
    transpose({67, 1}, 16, 16, 48);
  }

  void narrow() {
    for (const std::int64_t bytes : {1, 2, 4, 8, 16}) {
      const std::int64_t step = 16 / bytes, length = 67 * step;
      for (std::int64_t few = 2; few <= 8; ++few) {
        transpose({length, few, 2, 0, length + step}, bytes, 16, 48);
        transpose({few, length, 2, length + step}, bytes, 16, 48);
      }
    }
  }

  // Misaligned rows: tiles of words, few of them and many; staged rows and columns.
  void any_rows() {
    for (const std::int64_t bytes : {1, 2, 4, 8}) {
      const std::int64_t rows = bytes == 1 ? 477 : bytes == 2 ? 195 : 67, cols = bytes == 1 ? 133 : 67;
      const std::int64_t whole = (cols + 3) / 4 * 4, odd = whole + 1;
      for (const std::int64_t ld : {whole, odd}) {
        transpose({rows, cols, 1, ld}, bytes, 0, bytes);
        if (bytes <= 2) transpose({rows, cols, multiprocessors_ + 1, ld}, bytes, 0, bytes);
        const std::int64_t beyond = bytes == 1 ? 259 : bytes == 2 ? 148 : 280 / bytes;  // large tiles by a few rows
        transpose({beyond, cols, multiprocessors_ + 1, ld}, bytes, 0, bytes);
        if (bytes != 2) continue;
        for (const std::int64_t height : {163, 290}) {  // a tall tile; two alternate ones
          transpose({height, cols, multiprocessors_ + 1, ld}, bytes, 0, bytes);
        }
      }
      if (bytes <= 2) {  // with gaps, but tiles whose words lie within rows
        const std::int64_t height = bytes == 1 ? 259 : 163, width = 400 / bytes;
        transpose({height, width, multiprocessors_ + 1, width + 1}, bytes, 0, bytes);
      }
      if (bytes > 1) long_rows(bytes == 2 ? 127 : rows, bytes);
      short_rows(rows, bytes);
      if (bytes == 2 || bytes == 4) rows_of_wide_tiles(bytes);
      transpose({512 / bytes * std::max<std::int64_t>(8, 2 * multiprocessors_) + 5, 33}, bytes, bytes, 3 * bytes);
      for (const std::int64_t part :
           {4, 10, 13, 20, 26, 50, 66}) {  // rows of which bands fill so much of shared memory
        const std::int64_t rows = std::max<std::int64_t>(10, shared_ / part / 142);
        const std::int64_t width = part < 20 ? 112 : part < 66 ? 240 : 992;
        const std::int64_t columns = width / bytes * std::max<std::int64_t>(12, 2 * multiprocessors_) + 7;
        transpose({rows, columns, 1, columns + 3}, bytes, bytes, 3 * bytes);
        if (bytes == 1) transpose({11, columns, 1, columns + 3}, bytes, bytes, 3 * bytes);
      }
      if (bytes <= 4) bands(bytes);
    }
  }

  // Packed rows of half of what a warp loads, of less and more, and such that the last tile is less than a word.
  void short_rows(std::int64_t rows, std::int64_t bytes) {
    const std::int64_t loaded = 32 * std::max<std::int64_t>(4, bytes);
    for (const std::int64_t row_bytes :
         {loaded / 2 - bytes, loaded / 2, loaded / 2 + bytes, loaded - 3 * bytes, loaded - 2 * bytes, loaded - bytes}) {
      for (const std::int64_t offset : {std::int64_t{0}, bytes}) {
        transpose({rows, row_bytes / bytes}, bytes, offset, bytes);
        transpose({rows, row_bytes / bytes, 3}, bytes, offset, 3 * bytes);
      }
    }
  }

  // Packed rows that a wide tile of 2 or 4 bytes covers, in words and off them: batches, and a matrix of many tiles
  // whose last has two rows.
  void rows_of_wide_tiles(std::int64_t bytes) {
    const std::int64_t tiles = 4 * multiprocessors_ + 1, written = 224 / bytes;
    for (const std::int64_t row_bytes : {220, 224, 236, 248}) {
      for (const std::int64_t offset : {std::int64_t{0}, bytes}) {
        transpose({2, row_bytes / bytes, tiles}, bytes, offset, 3 * bytes);
        transpose({tiles * written + 2, row_bytes / bytes}, bytes, offset, 3 * bytes);
      }
    }
  }

  // Several tiles a row, wide ones of 2 (a tile down, or eight) and 4 bytes, the last not full or of one column: with
  // gaps, and packed.
  void long_rows(std::int64_t rows, std::int64_t bytes) {
    const std::int64_t tall = bytes == 2 ? 901 : 1024 / bytes + 5, times = bytes == 2 ? 2 : 1;
    for (const std::int64_t ld : {976 / bytes, 976 / bytes + 1}) {
      transpose({rows, 968 / bytes, times * (multiprocessors_ + 1) / 2, ld}, bytes, 0, bytes);
      transpose({tall, 968 / bytes, multiprocessors_ / 5 + 1, ld}, bytes, 0, bytes);
    }
    for (const std::int64_t offset : {std::int64_t{0}, bytes}) {
      transpose({rows, 488 / bytes, times * (multiprocessors_ + 1)}, bytes, offset, bytes);
      transpose({rows, 1984 / bytes + 1, times * (multiprocessors_ / 4 + 1)}, bytes, offset, 0);
    }
  }

  // Of many rows, whose vectors a warp takes from four places; with vectors that all begin at one place modulo 16
  // bytes; without gaps, where what is around a band is read.
  void bands(std::int64_t bytes) {
    const std::int64_t wide = 240 / bytes * std::max<std::int64_t>(12, 2 * multiprocessors_) + 7;
    for (const std::int64_t part : {5, 7}) {  // of shared memory, that bands of 16 vectors fill with more threads
      transpose({shared_ / part / 280, wide, 1, wide + 1}, bytes, bytes, 3 * bytes);
    }
    const std::int64_t columns = 112 / bytes * std::max<std::int64_t>(12, 2 * multiprocessors_) + 7;
    for (const std::int64_t rows : {65, 67, 69, 145}) {
      for (const std::int64_t more : {1, 3, 8}) transpose({rows, columns, 1, columns + more}, bytes, bytes, 3 * bytes);
      transpose({rows, columns}, bytes, bytes, 3 * bytes);
    }
    for (const std::int64_t rows : {11, 13, 57, 81}) {
      std::int64_t ld = columns + 1;
      while (rows * ld * bytes % 16 != bytes) ++ld;
      transpose({rows, columns, 1, ld}, bytes, bytes, 3 * bytes);
    }
    transpose({17, 1040 / bytes + 5, 2 * multiprocessors_ + 1}, bytes, bytes, 3 * bytes);
    if (bytes == 1) transpose({17, 133, 2 * multiprocessors_ + 1}, bytes, bytes, 3 * bytes);
    transpose({17, 1045, 2 * multiprocessors_ + 1, 0, 0, 17 * 1045 + 3}, bytes, bytes, 3 * bytes);
  }

  // Batches: windows of matrices that begin at chunks, and misaligned matrices.
  void small() {
    for (const std::int64_t bytes : {1, 2, 4, 8, 16}) {
      transpose({3, 4, 997}, bytes, 16, 48);
      transpose({17, 33, 37}, bytes, 16, 48);
      const std::int64_t matrix = 23 * 31, together = std::max<std::int64_t>(1, 16384 / (matrix * bytes));
      transpose({23, 31, together * (multiprocessors_ + 1) + 1}, bytes, bytes, 3 * bytes);
      transpose({23, 31, multiprocessors_ + 1, 0, 0, matrix + 5, matrix + 3}, bytes, bytes, 3 * bytes);
      transpose({5, 7, 331, 8, 0, 41, 38}, bytes, bytes, 3 * bytes);  // with gaps
      transpose({3, 5, 333, 0, 0, 16}, 3 * bytes, bytes, 3 * bytes);
      in_place({5, 5, 331, 6}, bytes, bytes);
      in_place({4, 4, 333, 0, 17}, 3 * bytes, bytes);
    }
    for (const std::int64_t rows : {3, 5, 7}) {
      for (const std::int64_t cols : {3, 5, 7}) transpose({rows, cols, 1025}, 1, 16, 48);
    }
    // Words in different orders: several matrices a block, one, and few rows.
    permute({{4 * multiprocessors_ + 1, 316, 11}, {0, 2, 1}, {}, {}}, 1, 5, 3, "staged-misaligned");
    permute({{multiprocessors_ + 1, 391, 59}, {0, 2, 1}, {}, {}}, 1, 3, 9, "staged-misaligned");
    permute({{300, 17, 61}, {0, 2, 1}, {}, {}}, 1, 1, 2, "staged-misaligned");
  }

  // Small matrices with gaps, in the input and in the output: as large as blocks of 8, 4, 2 and 1 windows take them.
  void with_gaps() {
    const std::int64_t many = multiprocessors_ + 5;
    for (const std::int64_t bytes : {1, 2, 4, 8}) {
      const std::int64_t cols = 100 / bytes;
      transpose({5, 7, 331, 8}, bytes, bytes, 3 * bytes);
      transpose({64, cols, many, cols + 1}, bytes, bytes, 3 * bytes);
      transpose({128, cols, many, cols + 1}, bytes, bytes, 3 * bytes);
      transpose({33, 34, many + 16, 35}, bytes, bytes, 3 * bytes);
      transpose({12, 13, 67, 0, 13}, bytes, bytes, 3 * bytes);
      transpose({64, cols, many, 0, 65}, bytes, bytes, 3 * bytes);
      transpose({128, cols, many, 0, 129}, bytes, bytes, 3 * bytes);
      transpose({33, 34, many + 16, 35, 34}, bytes, bytes, 3 * bytes);
    }
    transpose({5, 7, 331, 8, 0, 41, 38}, 16, 16, 48);
    for (const std::int64_t row : {31, 62, 124, 248, 496}) copy({333, row, row + (row & -row), 0}, 5 * row, 3 * row);
  }

  void odd_elements() {
    for (const std::int64_t bytes : {3, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 20, 24}) {
      const std::int64_t natural = bytes & -bytes;
      transpose({128, 192}, bytes, 16, 48);
      transpose({131, 211, 2, 223}, bytes, natural, 3 * natural);
      transpose({33, 501}, bytes, natural, 16);
      // Packed inputs, whose edges are copied as vectors.
      permute({{2, 131, 211}, {0, 2, 1}, {}, {}}, bytes, natural, 3 * natural, "vec3");
      permute({{33, 499}, {1, 0}, {}, {}}, bytes, natural, 16, "vec3");
    }
    transpose({1408, 4}, 7, 16, 48);  // columns of more vectors than a block has threads
    transpose({1405, 4, 2, 5}, 7, 1, 3);
  }

  void in_place(const twill::transpose_in_place_shape& s, std::int64_t bytes, std::int64_t offset = 0,
                std::int64_t scratch_offset = 0) {
    const std::size_t scratch = twill::transpose_in_place_scratch_bytes(on_, bytes, s);
    calls_.push_back(transpose_in_place_call(s, bytes, static_cast<std::size_t>(offset),
                                             static_cast<std::size_t>(scratch_offset), scratch));
  }

  void squares() {
    for (const std::int64_t bytes : {1, 2, 4, 8, 16}) {
      const std::int64_t step = 16 / bytes;
      in_place({13 * step, 13 * step, 2, 15 * step}, bytes, 16);
      in_place({13 * step, 13 * step, 2, 16 * step}, bytes, 256);          // rows that begin at multiples of 256 bytes
      in_place({67, 67, 2, 72}, bytes, std::max<std::int64_t>(4, bytes));  // rows of whole words
      in_place({67, 67, 2, 71}, bytes, bytes);
      in_place({67, 67, 2, 1280 / bytes}, bytes, 256);
      in_place({67, 67, 2, 71}, 3 * bytes, bytes);
    }
    // Tiles of 256 bytes: fifteen pairs a matrix, three for each multiprocessor.
    const std::int64_t batch = (3 * multiprocessors_ + 14) / 15;
    in_place({1040, 1040, batch, 1056}, 1, 16);
    in_place({520, 520, batch, 536}, 2, 16);
    in_place({1040, 1040, batch, 1280}, 1, 256);
    in_place({520, 520, batch, 640}, 2, 256);
  }

  // Small ones go through shared memory whole. Others by passes over rows and columns: in shared memory, of rows that
  // are too long for it a part of each element, and through scratch memory where these are too long as well.
  void rectangles() {
    for (const std::int64_t unit : {1, 2, 4, 8, 16}) {
      in_place({5, 7, 37}, 3 * unit, unit % 16);
      in_place({17, 33, 37}, unit, 0);
      const std::int64_t rows = shared_ / unit / 512 + 3;
      in_place({rows, 528}, unit, 0);
      in_place({521, rows}, unit, unit % 16);
      in_place({rows, 524, 2, 0, rows * 524 + 1}, unit, unit % 16);
      const std::int64_t many = multiprocessors_ / 2 + 2, length = shared_ / unit / 2 + 17;
      in_place({many, length}, 2 * unit, unit % 16);
      in_place({length, many}, 2 * unit, unit % 16);
      const std::int64_t longer = 4 * shared_ / unit + 17;
      in_place({3, longer}, unit, 0, 16);
      in_place({longer, 3}, unit, unit % 16, 32);
      if (unit < 16) in_place({3, longer}, unit, 0, unit);
    }
  }

  void permute(const twill::permute_shape& s, std::int64_t bytes, std::int64_t in_offset, std::int64_t out_offset,
               const std::string& kernel = "") {
    calls_.push_back(
        permute_call(s, bytes, static_cast<std::size_t>(in_offset), static_cast<std::size_t>(out_offset), kernel));
  }

  // Each family on shapes that it can move, whatever the planner would choose.
  void permutations() {
    const twill::dims reversed{3, 2, 1, 0};
    for (const std::int64_t bytes : {1, 2, 4, 8, 16}) {
      const std::int64_t other = bytes % 16;
      permute({{17, 3, 5, 19}, reversed, {}, {}}, bytes, other, 3 * other, "gather");
      permute({{37, 3, 5, 9}, {2, 0, 3, 1}, {}, {}}, bytes, other, 3 * other, "gather");  // one input segment
      if (bytes >= 4) segments_of_full_lines(256 / bytes, bytes);
      permute({{7, 3, 5, 9}, reversed, {}, {}}, bytes, other, 3 * other, "elementwise");
      permute({{7, 3, 5, 9}, reversed, {}, {}}, bytes, other, 3 * other);
      permute({{5, 7, 9}, {2, 1, 0}, {140, 20, 2}, {84, 12, 2}}, bytes, other, 3 * other);
    }
    // 999 segments of 10 bytes: further apart, or with wider pads, their offsets would need more than 16 bits.
    permute({{111, 6, 35, 3, 10}, {4, 1, 2, 0, 3}, {-6300, 1050, -30, -10, 1}, {}}, 1, 0, 0, "gather");
    // Rows and columns of two dimensions each.
    for (const std::int64_t bytes : {1, 2, 4, 8}) {
      const std::int64_t many = 256 * multiprocessors_ / bytes / 37 + 1;
      permute({{37, many, 5, 67}, reversed, {}, {}}, bytes, bytes % 4, 3 * bytes, "misaligned");
      permute({{37, many, 5, 68}, reversed, {-many * 340, 340, 68, 1}, {}}, bytes, 8, bytes, "misaligned");
    }
    // Windows that slide over the input by a few bytes; the last tile but one reaches all but the last window: words of
    // it may lie behind the windows that follow, but not behind the last one. And a last tile less than a word wide.
    for (const std::int64_t bytes : {1, 2}) {
      const auto rows = [&](std::int64_t tiles) { return (224 * tiles + 32) / bytes + 1; };
      const std::int64_t many = rows(multiprocessors_), some = rows(multiprocessors_ / 2 + 1);
      permute({{many, 65 + bytes}, {1, 0}, {8 / bytes, 1}, {}}, bytes, bytes, bytes, "misaligned");
      permute({{many, 65 + bytes}, {1, 0}, {8 / bytes + 1, 1}, {}}, bytes, bytes, bytes, "misaligned");
      permute({{some, bytes == 1 ? 241 : 621}, {1, 0}, {}, {}}, bytes, 0, bytes, "misaligned");
    }
    for (const std::int64_t row : {301, 302, 316, 304, 312}) {
      permute({{5, 7, row}, {1, 0, 2}, {}, {}}, 1, 0, 0, row % 16 == 0 ? "elementwise" : "rows");
    }
    for (const std::int64_t bytes : {1, 2, 4, 8}) {
      const std::int64_t row = 301 / bytes;
      permute({{60, 3, 2, row}, {2, 1, 0, 3}, {}, {}}, bytes, bytes, 3 * bytes);
      permute({{81, 3, row}, {1, 0, 2}, {-3 * row - 1, row, 1}, {81 * row + 5, row, 1}}, bytes, bytes, 3 * bytes);
      misaligned_rows(bytes);
    }
  }

  // Also those of a dimension walked backwards, and segments that share lines.
  void segments_of_full_lines(std::int64_t row, std::int64_t bytes) {
    const twill::permute_shape shape{{6, 24, 10, row}, {3, 1, 0, 2}, {}, {}};
    const twill::permute_shape backwards{{6, 24, 2, row}, {3, 1, 0, 2}, {-48 * row, 2 * row, row, 1}, {}};
    permute(shape, bytes, 0, 0, "gather");
    permute(shape, bytes, 16, 0, "gather");
    permute(backwards, bytes, 0, 0, "gather");
  }

  // Misaligned rows of 72 bytes to 8 KiB, one and two dimensions of rows, some with negative strides.
  void misaligned_rows(std::int64_t bytes) {
    for (const std::int64_t row_bytes : {72, 104, 264, 8200}) {
      const std::int64_t row = row_bytes / bytes - (bytes < 8 ? 1 : 0), many = 30000 / row_bytes + 2;
      permute({{many, 3, row}, {1, 0, 2}, {}, {}}, bytes, bytes, 3 * bytes % 16, "rows");
      permute({{many, 3, row}, {1, 0, 2}, {}, {}}, bytes, 0, 0, "rows");
      permute({{2, 3, many, row}, {2, 1, 0, 3}, {-3 * many * row, many * row, row, 1}, {}}, bytes, 3 * bytes % 16,
              bytes, "rows");
      permute({{many, 3, row}, {1, 0, 2}, {-3 * row - 1, row, 1}, {many * row + 5, row, 1}}, bytes, bytes, 0, "rows");
      permute({{2, 3, row}, {1, 0, 2}, {}, {}}, bytes, bytes, 3 * bytes % 16, "rows");
    }
  }

  void copy(const twill::copy_shape& s, std::int64_t in_offset, std::int64_t out_offset) {
    calls_.push_back(copy_call(s, 1, static_cast<std::size_t>(in_offset), static_cast<std::size_t>(out_offset)));
  }

  void reversals() {
    for (const std::int64_t unit : {1, 2, 4, 8, 16}) {
      const auto offset = static_cast<std::size_t>(unit % 16);
      calls_.push_back(reverse_call(30001 / unit, unit, false, 3 * offset, offset));
      calls_.push_back(reverse_call(30001 / unit, 3 * unit, false, 3 * offset, offset));
      calls_.push_back(reverse_call(30001 / unit, unit, true, 0, offset));
    }
  }

  twill::device on_;
  std::int64_t multiprocessors_, shared_;
  std::vector<drawn_call> calls_;
};

}  // namespace support
