#pragma once

#include <doctest/doctest.h>

#include <cstdint>

#include <twill/twill.hpp>

#include "image.hpp"
#include "transpose_reference.hpp"

namespace support {

inline std::int64_t in_elements(const twill::transpose_shape& s) {
  const std::int64_t ld = s.in_ld ? s.in_ld : s.cols, given = s.in_stride, stride = given ? given : s.rows * ld;
  return s.rows * s.cols * s.batch == 0 ? 0 : (s.batch - 1) * stride + (s.rows - 1) * ld + s.cols;
}

inline std::int64_t out_elements(const twill::transpose_shape& s) {
  const std::int64_t ld = s.out_ld ? s.out_ld : s.rows, given = s.out_stride, stride = given ? given : s.cols * ld;
  return s.rows * s.cols * s.batch == 0 ? 0 : (s.batch - 1) * stride + (s.cols - 1) * ld + s.rows;
}

// One case against the plain loops, every byte of the output memory compared, guards and gaps included.
inline void check_case(twill::stream_ref stream, const twill::transpose_shape& s, std::int64_t element_bytes,
                       std::size_t in_offset, std::size_t out_offset, std::uint32_t seed) {
  const image in(stream, static_cast<std::size_t>(in_elements(s) * element_bytes), in_offset, seed);
  image out(stream, static_cast<std::size_t>(out_elements(s) * element_bytes), out_offset, seed + 1);
  twill::transpose_bytes(stream, in.data(), out.data(), element_bytes, s);
  transpose_reference(in.expected(), out.expected(), element_bytes, s);
  CAPTURE(element_bytes);
  CAPTURE(s.rows);
  CAPTURE(s.cols);
  CAPTURE(s.batch);
  CAPTURE(s.in_ld);
  CAPTURE(s.out_ld);
  CAPTURE(s.in_stride);
  CAPTURE(s.out_stride);
  CAPTURE(in_offset);
  CAPTURE(out_offset);
  CHECK(out.matches(stream));
}

}  // namespace support
