#include "transpose_check.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include <twill/buffer.hpp>

#include "pattern.hpp"

namespace twill::tool {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{64} << 20;

/// Which element of the input belongs at a place of the output.
using source_function = matrix_place (*)(const data_matrix& in, std::int64_t tile, matrix_place out);

matrix_place copied(const data_matrix&, std::int64_t, matrix_place out) {
  return out;
}

matrix_place transposed(const data_matrix&, std::int64_t, matrix_place out) {
  return {out.col, out.row};
}

/// Tiles stay where they are; (i, j) of a tile comes from (j, i), or where the matrix has no (j, i) stays as it is.
matrix_place transposed_in_tile(const data_matrix& in, std::int64_t tile, matrix_place out) {
  const std::int64_t i = out.row % tile;
  const std::int64_t j = out.col % tile;
  const matrix_place source = {out.row - i + j, out.col - j + i};
  return source.row < in.rows && source.col < in.cols ? source : out;
}

/// Tile (ty, tx) goes to (tx, ty) with (i, j) kept; where the tile at the edge has no (i, j) its (j, i) is taken.
matrix_place moved_tile(const data_matrix& in, std::int64_t tile, matrix_place out) {
  const std::int64_t i = out.row % tile;
  const std::int64_t j = out.col % tile;
  const matrix_place source = {out.col - j + i, out.row - i + j};
  return source.row < in.rows && source.col < in.cols ? source : matrix_place{out.col, out.row};
}

/// Whether element `index` of the data is what stands at `found`.
template <std::int64_t Bytes>
bool is_element(const unsigned char* found, std::int64_t index) {
  const auto first = static_cast<std::uint64_t>(index * Bytes);
  if constexpr (Bytes == 16) {
    const std::uint64_t words[2] = {data_word(first / 8), data_word(first / 8 + 1)};
    return std::memcmp(found, words, 16) == 0;
  } else {
    const std::uint64_t word = data_word(first / 8);
    unsigned char expected[8];
    std::memcpy(expected, &word, 8);
    return std::memcmp(found, expected + first % 8, Bytes) == 0;
  }
}

/// The first wrong place among `count` elements of the output, the first of which is at `place`.
template <std::int64_t Bytes, source_function Source>
std::optional<matrix_place> check_chunk(const unsigned char* found, std::int64_t count, const data_matrix& in,
                                        std::int64_t tile, std::int64_t out_cols, matrix_place place) {
  for (std::int64_t k = 0; k < count; ++k, found += Bytes) {
    const matrix_place source = Source(in, tile, place);
    if (!is_element<Bytes>(found, source.row * in.cols + source.col)) return place;
    if (++place.col == out_cols) place = {place.row + 1, 0};
  }
  return std::nullopt;
}

using check_function = std::optional<matrix_place> (*)(const unsigned char*, std::int64_t, const data_matrix&,
                                                       std::int64_t, std::int64_t, matrix_place);

template <std::int64_t Bytes>
check_function check_for(rung_promise promise) {
  switch (promise) {
    case rung_promise::copy:
      return check_chunk<Bytes, copied>;
    case rung_promise::transpose:
      return check_chunk<Bytes, transposed>;
    case rung_promise::tiles_transposed:
      return check_chunk<Bytes, transposed_in_tile>;
    case rung_promise::tiles_moved:
      return check_chunk<Bytes, moved_tile>;
    case rung_promise::result:
    case rung_promise::nothing:
      break;  // no rung of a transpose promises these
  }
  return nullptr;
}

check_function check_for(rung_promise promise, std::int64_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return check_for<1>(promise);
    case 2:
      return check_for<2>(promise);
    case 4:
      return check_for<4>(promise);
    case 8:
      return check_for<8>(promise);
    default:
      return check_for<16>(promise);
  }
}

}  // namespace

std::optional<matrix_place> first_wrong(stream_ref stream, const void* out, const data_matrix& in, rung_promise promise,
                                        int tile) {
  const bool turned = promise == rung_promise::transpose || promise == rung_promise::tiles_moved;
  const std::int64_t out_cols = turned ? in.rows : in.cols;
  const std::int64_t total = in.rows * in.cols;
  const std::int64_t step = static_cast<std::int64_t>(chunk_bytes) / in.element_bytes;
  const check_function check = check_for(promise, in.element_bytes);
  std::vector<unsigned char> chunk(static_cast<std::size_t>(std::min(step, total) * in.element_bytes));
  for (std::int64_t first = 0; first < total; first += step) {
    const std::int64_t count = std::min(step, total - first);
    download_bytes(stream, static_cast<const unsigned char*>(out) + first * in.element_bytes, chunk.data(),
                   static_cast<std::size_t>(count * in.element_bytes));
    stream.wait();
    const auto wrong = check(chunk.data(), count, in, tile, out_cols, {first / out_cols, first % out_cols});
    if (wrong) return wrong;
  }
  return std::nullopt;
}

}  // namespace twill::tool
