#pragma once

// A transpose as its candidates see it.

#include <algorithm>
#include <cstdint>

#include "integers.hpp"
#include "move/args.hpp"

namespace twill::detail {

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

  std::int64_t address() const {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.in) | reinterpret_cast<std::uintptr_t>(a.out));
  }
  std::int64_t strides() const { return a.batch > 1 ? a.in_stride | a.out_stride : 0; }
  std::int64_t in_alignment() const {
    const auto in = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.in));
    return lowest_bit(in | (a.in_ld | (a.batch > 1 ? a.in_stride : 0)) * size | 64);
  }
  std::int64_t out_alignment() const {
    const auto out = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.out));
    return lowest_bit(out | (a.out_ld | (a.batch > 1 ? a.out_stride : 0)) * size | 64);
  }
  /// The size's place in tables of costs.
  int place() const { return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : 4; }
  std::int64_t out_begin() const {
    const auto out = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.out));
    return out | (a.batch > 1 ? a.out_stride * size : 0);
  }
  bool is_power(std::int64_t most) const { return size <= most && (size & (size - 1)) == 0; }
  bool in_vectors() const { return alignment == 16 && down % 16 == 0 && across % 16 == 0; }
  bool is_interleaved() const {
    return a.batch > 1 && (a.in_stride < a.rows * a.in_ld || a.out_stride < a.cols * a.out_ld);
  }
  bool without_gaps() const { return a.in_stride == a.rows * a.cols && a.out_stride == a.rows * a.cols; }

  /// Bytes of an output row that a block of staged_rows writes, and its shared memory.
  std::int64_t rows_written() const { return a.cols <= 64 ? 512 : 256; }
  std::int64_t rows_shared() const { return with_pads((rows_written() + 32) * a.cols); }
  /// Matrices of a block of staged_misaligned, one where there are gaps between them, and its shared memory.
  std::int64_t staged_at_once() const { return without_gaps() ? std::max<std::int64_t>(1, divided(16384, bytes)) : 1; }
  std::int64_t staged_shared() const { return with_pads(staged_at_once() * bytes); }
  /// Bytes of as many matrices as end at a multiple of 16.
  std::int64_t aligned_bytes() const { return bytes / std::min<std::int64_t>(16, lowest_bit(bytes)) * 16; }

 private:
  // Bytes of a block's shared memory with its pads.
  static std::int64_t with_pads(std::int64_t bytes) { return (bytes + 32) / 128 * 144 + 144; }
};

}  // namespace twill::detail
