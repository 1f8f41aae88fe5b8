#pragma once

#include <cstdint>
#include <cstring>

#include <twill/permute.hpp>

namespace support {

/// Bytes before and after the first element that an array takes, the element itself counted as after.
struct array_reach {
  std::int64_t before = 0, after = 0;
};

inline twill::dims packed_strides(const twill::dims& extents) {
  std::int64_t strides[8] = {}, next = 1;
  for (int i = extents.size() - 1; i >= 0; next *= extents[i], --i) strides[i] = next;
  return {strides, static_cast<std::size_t>(extents.size())};
}

inline array_reach reach_of(const twill::dims& extents, const twill::dims& strides, std::int64_t element_bytes) {
  array_reach reach{0, element_bytes};
  for (int i = 0; i < extents.size(); ++i) {
    if (extents[i] == 0) return {};
    const std::int64_t distance = (extents[i] - 1) * strides[i] * element_bytes;
    (distance < 0 ? reach.before : reach.after) += distance < 0 ? -distance : distance;
  }
  return reach;
}

inline twill::dims out_extents(const twill::permute_shape& s) {
  std::int64_t extents[8] = {};
  for (int i = 0; i < s.order.size(); ++i) extents[i] = s.extents[static_cast<int>(s.order[i])];
  return {extents, static_cast<std::size_t>(s.order.size())};
}

/// The plain loop over the output's elements. `in` and `out` point to the elements of index 0; strides are given.
inline void permute_reference(const unsigned char* in, unsigned char* out, std::int64_t element_bytes,
                              const twill::permute_shape& s) {
  const twill::dims extents = out_extents(s);
  const int rank = extents.size();
  std::int64_t index[8] = {}, elements = 1;
  for (const std::int64_t extent : extents) elements *= extent;
  for (std::int64_t k = 0; k < elements; ++k) {
    std::int64_t from = 0, to = 0;
    for (int i = 0; i < rank; ++i) {
      from += index[i] * s.in_strides[static_cast<int>(s.order[i])];
      to += index[i] * s.out_strides[i];
    }
    std::memcpy(out + to * element_bytes, in + from * element_bytes, static_cast<std::size_t>(element_bytes));
    for (int i = rank - 1; i >= 0 && ++index[i] == extents[i]; --i) index[i] = 0;
  }
}

}  // namespace support
