#pragma once

#include <cstdint>
#include <cstring>

#include <twill/ladder/rung.hpp>
#include <twill/transpose.hpp>

namespace support {

/// The plain loops: out[b][c][r] = in[b][r][c], elements as bytes. Strides of 0 are packed, as in the library.
inline void transpose_reference(const unsigned char* in, unsigned char* out, std::int64_t element_bytes,
                                twill::transpose_shape s) {
  if (s.in_ld == 0) s.in_ld = s.cols;
  if (s.out_ld == 0) s.out_ld = s.rows;
  if (s.in_stride == 0) s.in_stride = s.rows * s.in_ld;
  if (s.out_stride == 0) s.out_stride = s.cols * s.out_ld;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t r = 0; r < s.rows; ++r) {
      for (std::int64_t c = 0; c < s.cols; ++c) {
        std::memcpy(out + (b * s.out_stride + c * s.out_ld + r) * element_bytes,
                    in + (b * s.in_stride + r * s.in_ld + c) * element_bytes, static_cast<std::size_t>(element_bytes));
      }
    }
  }
}

/// What a rung promises to leave in `out` (see rung_promise), for tiles of edge x edge.
inline void rung_reference(const unsigned char* in, unsigned char* out, std::int64_t element_bytes, std::int64_t rows,
                           std::int64_t cols, twill::rung_promise promise, std::int64_t edge) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < cols; ++c) {
      const std::int64_t y = edge ? r % edge : 0, x = edge ? c % edge : 0, r0 = r - y, c0 = c - x;
      std::int64_t to = r * cols + c;
      if (promise == twill::rung_promise::transpose) to = c * rows + r;
      if (promise == twill::rung_promise::tiles_transposed && r0 + x < rows && c0 + y < cols) {
        to = (r0 + x) * cols + c0 + y;
      }
      if (promise == twill::rung_promise::tiles_moved) {
        // Straight to row c0 + y, column r0 + x of the output where that exists, else transposed.
        to = c0 + y < cols && r0 + x < rows ? (c0 + y) * rows + r0 + x : c * rows + r;
      }
      std::memcpy(out + to * element_bytes, in + (r * cols + c) * element_bytes,
                  static_cast<std::size_t>(element_bytes));
    }
  }
}

}  // namespace support
