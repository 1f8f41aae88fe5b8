#pragma once

// Scan of short packed rows that begin inside of vectors, a thread a row. The rows of a block are one run of bytes,
// staged in shared memory: global accesses are aligned vectors but for the ends of the run. Order of additions: from
// left to right.

#include <cstdint>

#include "device.hpp"
#include "gpu/dependent_launch.hpp"
#include "gpu/grid.hpp"
#include "gpu/staged_run.hpp"
#include "operators.hpp"

namespace twill::TWILL_BACKEND::kernels {

inline constexpr int serial_row_threads = 256;

struct serial_rows {
  const void* in;
  void* out;
  std::int64_t rows;
  int cols;
  int at_once;      ///< rows of a block
  int region;       ///< bytes of shared memory for the input of a block
  bool over_input;  ///< the output is staged over the input, as both have the same alignment; else behind it
  bool exclusive;
};

/// Scans a row in shared memory; `to` may be `from`.
template <class Kind>
__device__ inline void scan_row(const Kind& kind, const typename Kind::element* from, typename Kind::element* to,
                                int cols, bool exclusive) {
  constexpr int depth = 4;  // elements that are read before one is written
  auto sum = kind.identity();
  for (int first = 0; first < cols; first += depth) {
    typename Kind::element x[depth];
#pragma unroll
    for (int i = 0; i < depth; ++i) {
      if (first + i < cols) x[i] = from[first + i];
    }
#pragma unroll
    for (int i = 0; i < depth; ++i) {
      if (first + i >= cols) break;
      const auto with = kind.combine(sum, kind.load(x[i]));
      to[first + i] = kind.store(exclusive ? sum : with);
      sum = with;
    }
  }
}

template <class Kind>
__global__ void __launch_bounds__(serial_row_threads) scan_serial_rows(Kind kind, serial_rows p) {
  using element = typename Kind::element;
  using unit = typename unit_of_bytes<sizeof(element)>::type;
  constexpr run_padding unpadded{0, 31};
  unsigned char* const shared = dynamic_shared<unsigned char>();
  const std::int64_t first = block_index() * p.at_once;
  if (first >= p.rows) return;  // uniform exit: padding block of the 2-D grid
  wait_then_trigger_dependents();
  const int rows = p.rows - first < p.at_once ? static_cast<int>(p.rows - first) : p.at_once;
  const int row_bytes = p.cols * static_cast<int>(sizeof(element)), bytes = rows * row_bytes;
  const auto* in = static_cast<const unsigned char*>(p.in) + first * row_bytes;
  unsigned char* out = static_cast<unsigned char*>(p.out) + first * row_bytes;
  const int in_skew = misalignment(in), out_skew = misalignment(out);
  copy_run<unit>(shared, in, bytes, in_skew, unpadded);
  wait_for_copies();
  __syncthreads();
  unsigned char* const staged = p.over_input ? shared : shared + p.region;
  for (int row = static_cast<int>(threadIdx.x); row < rows; row += serial_row_threads) {
    scan_row(kind, reinterpret_cast<const element*>(shared + in_skew + row * row_bytes),
             reinterpret_cast<element*>(staged + out_skew + row * row_bytes), p.cols, p.exclusive);
  }
  __syncthreads();
  for (int at = static_cast<int>(threadIdx.x) * 16 - out_skew; at + 16 <= bytes; at += serial_row_threads * 16) {
    if (at >= 0) *reinterpret_cast<word16*>(out + at) = *reinterpret_cast<const word16*>(staged + out_skew + at);
  }
  at_ends<unit>(bytes, out_skew, [&](int at) {
    *reinterpret_cast<unit*>(out + at) = *reinterpret_cast<const unit*>(staged + out_skew + at);
  });
}

}  // namespace twill::TWILL_BACKEND::kernels
