#pragma once

// What the plans of transpose_in_place share.

#include <cstdint>

#include "device.hpp"
#include "move/operations.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {

inline constexpr const char* in_place_call = "launch of transpose_in_place";

inline std::int64_t shared_of(const detail::work_queue& queue) {
  return static_cast<std::int64_t>(queue.device->properties().shared_bytes_per_block);
}

inline unsigned char* bytes_of(void* memory) {
  return static_cast<unsigned char*>(memory);
}

/// The lowest bit of all row addresses; 16 at most.
inline std::int64_t alignment_of(const detail::transpose_in_place_args& a) {
  const std::int64_t strides = a.ld | (a.batch > 1 ? a.stride : 0);
  return lowest_bit(address_of(a.data) | strides * a.element_bytes | 16);
}

/// Whether these are several tiny square matrices with gaps, of which a block takes more than one. `unit`: bytes that
/// all elements are aligned at.
bool is_in_place_elementwise(const detail::transpose_in_place_args& args, std::int64_t unit);
void launch_in_place_elementwise(const detail::work_queue& queue, const detail::transpose_in_place_args& args,
                                 std::int64_t unit);

/// Square matrices of any layout: in_place_square.cpp.
void swap_square(const detail::work_queue& queue, const detail::transpose_in_place_args& args, std::int64_t unit);

/// Packed matrices that are not square, with the least scratch memory: in_place_passes.cpp.
void launch_in_place_passes(const detail::work_queue& queue, const detail::transpose_in_place_args& args,
                            std::int64_t unit);

}  // namespace twill::TWILL_BACKEND
