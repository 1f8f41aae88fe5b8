#pragma once

// Recomputes the sum of a tile that is not published yet from the input, so that a scan makes progress in whatever
// order blocks start ("decoupled fallback"). The order of additions is that of the tile's own block, hence the same
// bits.

#include <cstdint>

#include "device.hpp"
#include "tile.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// The sum of one warp's part of a tile, vector by vector: as warp_sum, or as warp_scan.
template <class Kind, class Rows>
__device__ inline typename Kind::value sum_of_part(const Kind& kind, const scan_problem& p, std::uint32_t tile,
                                                   int warp) {
  const int thread = warp * 32 + static_cast<int>(threadIdx.x % 32);
  typename Kind::value sum = kind.identity();
#pragma unroll 1
  for (int v = 0; v < scan_vectors<Kind>; ++v) {
    auto one = sum_of(kind, Rows::load_vector(kind, p, tile, thread, v), heads_of<Kind>(p, tile, thread, v));
    if constexpr (!publishes_before_scan<Kind>) one = from_one_lane(lanes_scanned(kind, one), 31);
    sum = v == 0 ? one : kind.combine(sum, one);
  }
  if constexpr (publishes_before_scan<Kind>) sum = lanes_summed(kind, sum);
  return sum;
}

/// The sum of a tile, in all lanes of the warp that calls this.
template <class Kind, class Rows>
__device__ inline typename Kind::value sum_of_tile(const Kind& kind, const scan_problem& p, std::uint32_t tile) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  typename Kind::value mine = kind.identity();
#pragma unroll 1
  for (int warp = 0; warp < scan_warps; ++warp) {
    const auto sum = sum_of_part<Kind, Rows>(kind, p, tile, warp);
    if (lane == warp) mine = sum;
  }
  return from_one_lane(lanes_scanned(kind, mine, scan_warps), scan_warps - 1);
}

/// The least number of all lanes.
__device__ inline std::uint32_t least_of_lanes(std::uint32_t number) {
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const std::uint32_t other = shuffle_xor(number, d);
    if (other < number) number = other;
  }
  return number;
}

}  // namespace twill::TWILL_BACKEND::kernels
