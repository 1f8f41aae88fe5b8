#include <algorithm>
#include <cstring>

#include "device.hpp"
#include "operations.hpp"

namespace twill::cpu {
namespace {

using detail::transpose_args;

// A tile of both sides stays in the first-level cache: 64 bytes of each row, a line.
template <std::size_t Bytes>
void transpose_block(const unsigned char* in, unsigned char* out, std::int64_t rows, std::int64_t cols,
                     std::int64_t in_ld, std::int64_t out_ld) {
  for (std::int64_t c = 0; c < cols; ++c) {
    for (std::int64_t r = 0; r < rows; ++r)
      std::memcpy(out + c * out_ld + r * Bytes, in + r * in_ld + c * Bytes, Bytes);
  }
}

void transpose_any_block(const unsigned char* in, unsigned char* out, std::int64_t rows, std::int64_t cols,
                         std::int64_t in_ld, std::int64_t out_ld, std::size_t bytes) {
  for (std::int64_t c = 0; c < cols; ++c) {
    for (std::int64_t r = 0; r < rows; ++r) {
      std::memcpy(out + c * out_ld + r * static_cast<std::int64_t>(bytes),
                  in + r * in_ld + c * static_cast<std::int64_t>(bytes), bytes);
    }
  }
}

void move_block(const transpose_args& a, std::int64_t matrix, std::int64_t row, std::int64_t col, std::int64_t edge) {
  const std::int64_t bytes = a.element_bytes, in_ld = a.in_ld * bytes, out_ld = a.out_ld * bytes;
  const std::int64_t rows = std::min(edge, a.rows - row), cols = std::min(edge, a.cols - col);
  const auto* in = static_cast<const unsigned char*>(a.in) + (matrix * a.in_stride + col) * bytes + row * in_ld;
  auto* out = static_cast<unsigned char*>(a.out) + (matrix * a.out_stride + row) * bytes + col * out_ld;
  switch (bytes) {
    case 1:
      return transpose_block<1>(in, out, rows, cols, in_ld, out_ld);
    case 2:
      return transpose_block<2>(in, out, rows, cols, in_ld, out_ld);
    case 4:
      return transpose_block<4>(in, out, rows, cols, in_ld, out_ld);
    case 8:
      return transpose_block<8>(in, out, rows, cols, in_ld, out_ld);
    case 16:
      return transpose_block<16>(in, out, rows, cols, in_ld, out_ld);
    default:
      return transpose_any_block(in, out, rows, cols, in_ld, out_ld, static_cast<std::size_t>(bytes));
  }
}

}  // namespace

void transpose(const detail::work_queue& queue, const transpose_args& a) {
  const std::int64_t edge = std::max<std::int64_t>(8, 64 / a.element_bytes);
  const std::int64_t across = (a.cols + edge - 1) / edge, down = (a.rows + edge - 1) / edge;
  // A task is some blocks, one after another along the output's rows: about 256 KiB in all.
  const std::int64_t block_bytes = std::min(edge, a.rows) * std::min(edge, a.cols) * a.element_bytes;
  const std::int64_t blocks = across * down * a.batch;
  const std::int64_t at_once = std::max<std::int64_t>(1, (256 << 10) / block_bytes);
  team_of(queue).run(static_cast<std::size_t>((blocks + at_once - 1) / at_once), [&](std::size_t task) {
    const auto first = static_cast<std::int64_t>(task) * at_once, end = std::min(blocks, first + at_once);
    for (std::int64_t block = first; block < end; ++block) {
      const std::int64_t strip = block / down;
      move_block(a, strip / across, block % down * edge, strip % across * edge, edge);
    }
  });
}

}  // namespace twill::cpu
