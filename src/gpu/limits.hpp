#pragma once

// Shared by the launches of data movement: integer helpers, grids, and the limits of a device.

#include <algorithm>
#include <cstdint>
#include <string>

#include "backends/backend.hpp"
#include "backends/error.hpp"
#include "backends/launch_config.hpp"
#include "launch.hpp"

namespace twill::TWILL_BACKEND {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}
constexpr std::int64_t lowest_bit(std::int64_t bits) {
  return bits & -bits;
}

inline std::int64_t address_of(const void* pointer) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(pointer));
}

/// The exponent of the largest power of two that is not above `value`.
constexpr int floor_log2(std::int64_t value) {
  int shift = 0;
  while (value >> (shift + 1) != 0) ++shift;
  return shift;
}

/// A 2-D grid of at least `blocks` blocks.
inline detail::launch_config grid_of(std::int64_t blocks, std::int64_t threads, std::int64_t shared_bytes) {
  const std::int64_t limit = UINT32_MAX / threads;  // AMD's grids count threads in 32 bits
  const detail::extent3 grid = detail::rectangle(blocks, std::min<std::int64_t>(limit, INT32_MAX));
  if (blocks > UINT32_MAX - limit) {  // kernels count blocks in 32 bits, the rectangle's last line included
    detail::fail(errc::unsupported, "the arrays exceed the maximum grid size", std::to_string(blocks) + " blocks",
                 "split the call");
  }
  return {grid, {static_cast<unsigned>(threads), 1, 1}, static_cast<std::size_t>(shared_bytes)};
}

/// Sets the extents of a kernel's matrices, and their strides, which arguments give in elements, in bytes.
template <class Matrices, class Args>
void set_matrices(Matrices& m, const Args& a) {
  m.rows = a.rows;
  m.cols = a.cols;
  m.in_ld = a.in_ld * a.element_bytes;
  m.out_ld = a.out_ld * a.element_bytes;
  m.in_stride = a.in_stride * a.element_bytes;
  m.out_stride = a.out_stride * a.element_bytes;
}

/// What a plan may take of the device.
struct device_limits {
  std::int64_t shared_bytes;  // of a block
  int multiprocessors;
  std::int64_t cache_bytes;
};

inline device_limits limits_of(const device_properties& device) {
  return {static_cast<std::int64_t>(device.shared_bytes_per_block), std::max(1, device.multiprocessors),
          static_cast<std::int64_t>(device.cache_bytes)};
}

inline device_limits limits_of(const detail::work_queue& queue) {
  return limits_of(queue.device->properties());
}

/// Whether the L2 prefetch size hint (load_prefetch_l2) pays: rows do not start at multiples of the 256 bytes that DRAM
/// transfers best, and only `between` bytes are moved until another block reads the rest of them. `distances`: the
/// strides between rows, ORed.
inline bool pays_to_prefetch_l2(const device_limits& limits, const void* data, std::int64_t distances,
                                std::int64_t between) {
  return ((address_of(data) | distances) & 255) != 0 && between <= limits.cache_bytes / 3;
}

}  // namespace twill::TWILL_BACKEND
