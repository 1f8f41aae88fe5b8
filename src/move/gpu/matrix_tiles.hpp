#pragma once

// What kernels that move tiles have in common: matrices in tiles, and places along several dimensions.

#include <cstdint>
#include <type_traits>

#include "device.hpp"
#include "gpu/fast_division.hpp"
#include "gpu/tile_order.hpp"
#include "move/args.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// A batch of matrices in tiles.
struct matrix_tiles {
  std::int64_t rows, cols;                            // elements
  std::int64_t in_ld, out_ld, in_stride, out_stride;  // bytes
  unsigned tiles;
  tile_order order;
};

constexpr int most_dims = std::extent_v<decltype(detail::permute_args::dims)>;

/// A dimension; strides in bytes.
struct strided_dim {
  fast_divisor extent;
  std::int64_t in_stride, out_stride;
};

struct strided_dims {
  int rank = 0;
  strided_dim dim[most_dims];

  void add(std::int64_t extent, std::int64_t in_stride, std::int64_t out_stride) {
    dim[rank++] = {make_divisor(extent), in_stride, out_stride};
  }
};

struct strided_place {
  std::int64_t in, out;
};

/// Where index `index` lies. Every: also the last dimension's index is divided by its extent.
template <bool Every = false>
__device__ strided_place place_of(const strided_dims& dims, int index) {
  strided_place p{0, 0};
#pragma unroll
  for (int i = 0; i < most_dims; ++i) {
    if (i >= dims.rank) break;
    const int rest = Every || i + 1 < dims.rank ? quotient(index, dims.dim[i].extent) : 0;
    const int coordinate = index - rest * dims.dim[i].extent.divisor;
    p.in += coordinate * dims.dim[i].in_stride;
    p.out += coordinate * dims.dim[i].out_stride;
    index = rest;
  }
  return p;
}

}  // namespace twill::TWILL_BACKEND::kernels
