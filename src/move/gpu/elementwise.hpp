#pragma once

// A permutation without tiles: a thread moves one unit, a word of 1 to 16 bytes. Stores are coalesced, loads in general
// are not. The fallback where neither side has a dimension worth a tile.

#include <cstdint>

#include "device.hpp"

namespace twill::TWILL_BACKEND::kernels {

constexpr int elementwise_threads = 256;

/// Dimensions in the output's order, the first being the units of a run.
struct elementwise_dims {
  std::int64_t units;  // in all
  int rank;
  std::int64_t extent[9], in_stride[9], out_stride[9];  // strides in bytes
};

template <class Unit>
__global__ void __launch_bounds__(elementwise_threads)
    permute_elementwise(unsigned char* out, const unsigned char* in, elementwise_dims d) {
  const std::int64_t block = static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
  std::int64_t place = block * elementwise_threads + threadIdx.x;
  if (place >= d.units) return;
  for (int i = 0; i < d.rank; ++i) {
    const std::int64_t rest = place / d.extent[i], index = place - rest * d.extent[i];
    in += index * d.in_stride[i];
    out += index * d.out_stride[i];
    place = rest;
  }
  *reinterpret_cast<Unit*>(out) = *reinterpret_cast<const Unit*>(in);
}

}  // namespace twill::TWILL_BACKEND::kernels
