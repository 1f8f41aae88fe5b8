#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include <twill/transpose_in_place.hpp>

namespace support {

/// Elements from the first to one past the last.
inline std::int64_t elements_of(const twill::transpose_in_place_shape& s) {
  if (s.rows * s.cols * s.batch == 0) return 0;
  const std::int64_t ld = s.ld != 0 ? s.ld : s.cols, given = s.stride, stride = given != 0 ? given : s.rows * ld;
  return (s.batch - 1) * stride + (s.rows - 1) * ld + s.cols;
}

/// The plain loops: each matrix transposed where it is.
inline void transpose_in_place_reference(unsigned char* data, std::int64_t element_bytes,
                                         const twill::transpose_in_place_shape& s) {
  const std::int64_t ld = s.ld != 0 ? s.ld : s.cols, given = s.stride, stride = given != 0 ? given : s.rows * ld;
  const std::int64_t out_ld = s.rows == s.cols ? ld : std::int64_t{s.rows};
  const auto bytes = static_cast<std::size_t>(element_bytes);
  const std::vector<unsigned char> before(data, data + elements_of(s) * element_bytes);
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t r = 0; r < s.rows; ++r) {
      for (std::int64_t c = 0; c < s.cols; ++c) {
        std::memcpy(data + (b * stride + c * out_ld + r) * element_bytes,
                    before.data() + (b * stride + r * ld + c) * element_bytes, bytes);
      }
    }
  }
}

}  // namespace support
