#pragma once

// What launches of kernels that move data have in common: matrices in bytes, and the launch.

#include <cstdint>
#include <string>

#include "backends/error.hpp"
#include "families.hpp"
#include "gpu/dependent_launch.hpp"
#include "gpu/limits.hpp"
#include "gpu/realign.hpp"
#include "gpu/tile_order.hpp"
#include "launch.hpp"
#include "move/args.hpp"
#include "move/plan/matrices.hpp"

namespace twill::TWILL_BACKEND {

using detail::permute_args;
using detail::permute_dim;
using detail::transpose_args;
using detail::transpose_in_place_args;
using detail::work_queue;

/// Sets the strides between a kernel's matrices, in bytes, and of how many tiles each consists; returns these in all.
template <class Matrices>
std::int64_t set_batch(Matrices& m, const transpose_args& a, std::int64_t tiles) {
  m.in_stride = a.in_stride * a.element_bytes;
  m.out_stride = a.out_stride * a.element_bytes;
  m.tiles = static_cast<unsigned>(tiles);
  m.all_tiles = static_cast<unsigned>(tiles * a.batch);
  return tiles * a.batch;
}

/// Sets extents, strides and the order of the tiles of each matrix, `down` x `across`; returns the number of tiles.
/// Throws: unsupported, unless in a dry run, where there are too many.
template <class Matrices>
std::int64_t set_tiles(const launch_queue& queue, Matrices& m, const transpose_args& a, std::int64_t down,
                       std::int64_t across, bool across_first) {
  const std::int64_t tiles = down * across * a.batch;
  if (tiles > INT32_MAX && !queue.dry_run) {  // as far as indices of tiles are divided
    detail::fail(errc::unsupported, "the matrices exceed the maximum grid size", std::to_string(tiles) + " tiles",
                 "split the batch");
  }
  set_matrices(m, a);
  m.order = kernels::make_order(down, across, across_first);
  m.tiles = static_cast<unsigned>(tiles);
  return tiles;
}

/// Bytes of an input without gaps; 0 where it has some.
inline std::int64_t packed_input_bytes(const transpose_args& a) {
  return detail::is_packed_input(a) ? a.batch * a.rows * a.cols * a.element_bytes : 0;
}

inline unsigned char* bytes_of(void* memory) {
  return static_cast<unsigned char*>(memory);
}

/// Blocks of a kernel, threads of a block, and its shared memory.
struct block_grid {
  std::int64_t blocks, threads, shared_bytes = 0;
};

/// Launches a kernel from `a.in` to `a.out`, unless in a dry run; returns true.
template <class Args, class Plan>
bool start_kernel(const launch_queue& queue, const block_grid& grid,
                  void (*kernel)(unsigned char*, const unsigned char*, Plan), const Args& a, const Plan& plan,
                  const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (queue.dry_run) return true;
  check(launch_dependent(queue, grid_of(grid.blocks, grid.threads, grid.shared_bytes), kernel, bytes_of(a.out),
                         static_cast<const unsigned char*>(a.in), plan),
        "launch of a kernel that moves data", file, line);
  return true;
}

/// Launches a kernel on `a.data`.
template <class Plan>
void start_kernel(const work_queue& queue, const detail::launch_config& config, void (*kernel)(unsigned char*, Plan),
                  const transpose_in_place_args& a, const Plan& plan, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
  check(launch_dependent(queue, config, kernel, bytes_of(a.data), plan), a.launch, file, line);
}

inline std::int64_t shared_of(const work_queue& queue) {
  return static_cast<std::int64_t>(queue.device->properties().shared_bytes_per_block);
}

/// The lowest bit of all row addresses; 16 at most.
inline std::int64_t alignment_of(const transpose_in_place_args& a) {
  const std::int64_t strides = a.ld | (a.batch > 1 ? a.stride : 0);
  return lowest_bit(address_of(a.data) | strides * a.element_bytes | 16);
}

}  // namespace twill::TWILL_BACKEND
