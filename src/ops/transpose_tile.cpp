// Matrices of elements of 1, 2, 4, 8 and 16 bytes, through register blocks (kernels/transpose_tile.hpp).

#include "ops/transpose_tile.hpp"

#include <algorithm>

#include "kernels/transpose_tile.hpp"

#include "core/check.hpp"
#include "launch.hpp"
#include "ops/transpose_plan.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::transpose_args;
using detail::work_queue;

// The shape of the tile: `lines` x `chunks` pieces of 16 bytes by as many rows. Square, 256 bytes each way, as long as
// the matrix is; a narrow matrix gets a long tile.
struct tile_shape {
  std::int64_t lines, chunks;
};

std::int64_t ceil_power(std::int64_t value) {
  std::int64_t power = 1;
  while (power < value) power *= 2;
  return power;
}

// Chunks of padding after each R = `edge` tile rows. Eight neighbouring lanes hold 8 / chunks lines of each of `chunks`
// blocks: those blocks lie that far apart, mod 8.
std::int64_t pad_of(const tile_shape& t, std::int64_t edge) {
  const std::int64_t apart = t.chunks >= 8 ? 1 : 8 / t.chunks;
  return ((apart - edge * (t.lines + 1)) % 8 + 8) % 8;
}

// Shared memory of a tile; one chunk more, for the last row's chunks are read in pairs.
std::int64_t tile_bytes(const tile_shape& t, std::int64_t edge) {
  return (t.chunks * (edge * (t.lines + 1) + pad_of(t, edge)) + 1) * 16;
}

tile_shape shape_of(const transpose_args& a, const device_limits& limits) {
  const std::int64_t bytes = a.element_bytes, blocks = bytes == 16 ? 1024 : bytes == 8 ? 512 : 256;
  tile_shape t{bytes == 16 ? 32 : bytes == 8 ? 32 : 16, bytes == 16 ? 32 : 16};
  const std::int64_t across = ceil_power(ceil_div(a.cols * bytes, 16)), down = ceil_power(ceil_div(a.rows * bytes, 16));
  if (across < t.chunks) t = {std::min(blocks / across, down), across};
  if (down < t.lines) t = {down, std::min(blocks / down, across)};
  const auto tiles = [&] {
    return ceil_div(a.rows * bytes, t.lines * 16) * ceil_div(a.cols * bytes, t.chunks * 16) * a.batch;
  };
  const auto too_large = [&] { return t.lines * t.chunks > 8 && tile_bytes(t, 16 / bytes) > limits.shared_bytes; };
  while (too_large() || (t.lines * t.chunks > 64 && tiles() < 2 * limits.multiprocessors)) {
    (t.lines > t.chunks ? t.lines : t.chunks) /= 2;
  }
  return t;
}

// Misaligned elements of these sizes are cut from aligned chunks; gathering is ahead for the others (measured on an
// H200, tests/bench/NOTES.md).
template <int Bytes>
inline constexpr bool cut_from_aligned = Bytes == 2 || Bytes == 4;

template <int Bytes>
void start_tile_of(const work_queue& queue, const transpose_args& a, bool aligned) {
  constexpr std::int64_t edge = 16 / Bytes, depth = Bytes == 16 ? 4 : Bytes == 8 ? 2 : 1;
  const tile_shape t = shape_of(a, limits_of(queue.device->properties()));
  kernels::tile_matrices m{};
  m.rows = a.rows;
  m.cols = a.cols;
  m.batch = a.batch;
  m.in_ld = a.in_ld * Bytes;
  m.out_ld = a.out_ld * Bytes;
  m.in_stride = a.in_stride * Bytes;
  m.out_stride = a.out_stride * Bytes;
  m.lines = static_cast<int>(t.lines);
  m.chunks = static_cast<int>(t.chunks);
  m.tiles_r = ceil_div(a.rows, t.lines * edge);
  m.tiles_c = ceil_div(a.cols, t.chunks * edge);
  m.threads = static_cast<int>(std::max(t.lines * t.chunks, depth) / depth);
  m.lanes = std::min(m.lines, m.threads);
  m.pad = static_cast<int>(pad_of(t, edge));
  const auto config =
      grid_of(m.tiles_r * m.tiles_c * a.batch, m.threads + (aligned ? 0 : std::min(m.chunks, 32)), tile_bytes(t, edge));
  auto kernel = &kernels::transpose_tile<Bytes, true>;
  if constexpr (cut_from_aligned<Bytes>) {
    if (!aligned) kernel = &kernels::transpose_tile<Bytes, false>;
  }
  check(launch(queue, config, kernel, static_cast<unsigned char*>(a.out), static_cast<const unsigned char*>(a.in), m),
        "launch of transpose");
}

// More than one line of each matrix.
bool tiled_well(const transpose_args& a) {
  return std::max(a.rows, a.cols) * a.element_bytes >= 128 && std::min(a.rows, a.cols) * a.element_bytes >= 16;
}

bool tiled_misaligned_well(const transpose_args& a) {
  const bool cut = a.element_bytes == 2 ? cut_from_aligned<2> : a.element_bytes == 4 && cut_from_aligned<4>;
  return cut && std::min(a.rows, a.cols) * a.element_bytes >= 512;
}

bool all_aligned(const transpose_args& a, std::int64_t alignment) {
  return alignment == 16 && a.rows * a.element_bytes % 16 == 0 && a.cols * a.element_bytes % 16 == 0;
}

}  // namespace

bool tile_serves(const transpose_args& a, std::int64_t alignment) {
  if (a.element_bytes > 16 || lowest_bit(a.element_bytes) != a.element_bytes) return false;
  return all_aligned(a, alignment) ? tiled_well(a) : alignment >= a.element_bytes && tiled_misaligned_well(a);
}

void start_tile(const work_queue& queue, const transpose_args& a, std::int64_t alignment) {
  const bool aligned = all_aligned(a, alignment);
  switch (a.element_bytes) {
    case 1:
      return start_tile_of<1>(queue, a, aligned);
    case 2:
      return start_tile_of<2>(queue, a, aligned);
    case 4:
      return start_tile_of<4>(queue, a, aligned);
    case 8:
      return start_tile_of<8>(queue, a, aligned);
    default:
      return start_tile_of<16>(queue, a, aligned);
  }
}

}  // namespace twill::TWILL_BACKEND
