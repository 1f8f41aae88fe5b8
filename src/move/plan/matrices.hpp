#pragma once

// A transpose as the planner's conditions and costs see it.

#include <algorithm>
#include <cstdint>

#include "device_model.hpp"
#include "integers.hpp"
#include "move/args.hpp"

namespace twill::detail {

inline bool is_packed_input(const transpose_args& a) {
  return a.in_ld == a.cols && (a.batch == 1 || a.in_stride == a.rows * a.cols);
}

struct matrices {
  const transpose_args& a;
  std::int64_t size, down, across, bytes;  // of an element; of an output and an input row; of a matrix
  std::int64_t alignment;                  // of all rows, at most 16

  explicit matrices(const transpose_args& args)
      : a(args),
        size(a.element_bytes),
        down(a.rows * size),
        across(a.cols * size),
        bytes(down * a.cols),
        alignment(std::min<std::int64_t>(16, lowest_bit(address() | (a.in_ld | a.out_ld | strides()) * size | 16))) {}

  std::int64_t address() const { return address_of(a.in) | address_of(a.out); }
  std::int64_t strides() const { return a.batch > 1 ? a.in_stride | a.out_stride : 0; }
  std::int64_t side_alignment(const void* first, std::int64_t ld, std::int64_t stride) const {
    return lowest_bit(address_of(first) | (ld | (a.batch > 1 ? stride : 0)) * size | 64);
  }
  std::int64_t in_alignment() const { return side_alignment(a.in, a.in_ld, a.in_stride); }
  std::int64_t out_alignment() const { return side_alignment(a.out, a.out_ld, a.out_stride); }
  int place() const { return place_of(size); }
  bool is_power(std::int64_t most) const { return size <= most && (size & (size - 1)) == 0; }
  bool in_vectors() const { return alignment == 16 && down % 16 == 0 && across % 16 == 0; }
  bool is_interleaved() const {
    return a.batch > 1 && (a.in_stride < a.rows * a.in_ld || a.out_stride < a.cols * a.out_ld);
  }
  bool without_gaps() const { return a.in_stride == a.rows * a.cols && a.out_stride == a.rows * a.cols; }
};

/// Shared memory needed for so many bytes, including pads (an eighth) and the unused ends of the first and last chunks.
constexpr std::int64_t with_pads(std::int64_t bytes) {
  return (bytes + 32) / 128 * 144 + 144;
}
/// Inverse of with_pads; not positive where nothing fits.
constexpr std::int64_t without_pads(std::int64_t shared_bytes) {
  return (shared_bytes - 144) / 144 * 128 - 32;
}

/// `bytes` rounded up to a multiple of `piece`, over `bytes`.
inline double filled(std::int64_t bytes, std::int64_t piece) {
  return static_cast<double>(ceil_divided(bytes, piece) * piece) / static_cast<double>(bytes);
}

/// The share of small arrays in what their launches are charged: nothing from 2 MiB on.
inline double share_of_small(const matrices& m) {
  return std::max(0.0, 1 - static_cast<double>(m.bytes * m.a.batch) / (2 << 20));
}

/// Microseconds of a launch: where few blocks run at once, the latency of one is most of it.
inline double launch_of(double small, double large, const matrices& m) {
  return small > 0 ? large + (small - large) * share_of_small(m) : large;
}

}  // namespace twill::detail
