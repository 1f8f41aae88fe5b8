#include "exchange_misaligned.hpp"

#include <algorithm>

#include "gpu/limits.hpp"
#include "gpu/realign.hpp"
#include "launch.hpp"
#include "operations.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::exchange_piece;
using detail::transpose_args;
using detail::work_queue;

// Vectors along the output's rows and along the input's: 128-byte lines are complete on both sides, and rows of the
// output, which go to a peer, are long.
struct tile_shape {
  int lines_shift, chunks_shift;
};

tile_shape shape_of(std::int64_t bytes) {
  return bytes == 16  ? tile_shape{6, 4}
         : bytes == 8 ? tile_shape{5, 4}
         : bytes == 1 ? tile_shape{4, 4}
                      : tile_shape{5, 3};
}

std::int64_t tile_bytes(const tile_shape& t, int edge) {
  return kernels::tile_bytes(std::int64_t{1} << t.lines_shift, std::int64_t{1} << t.chunks_shift, edge);
}

kernels::counted_tiles matrices_of(const transpose_args& a, std::int64_t tiles_r, std::int64_t tiles_c) {
  kernels::counted_tiles m{};
  set_matrices(m, a);
  m.tiles_r = static_cast<unsigned>(tiles_r);
  m.tiles_c = static_cast<unsigned>(tiles_c);
  m.tiles = static_cast<unsigned>(tiles_r * tiles_c * a.batch);
  return m;
}

kernels::counted_tiles matrices_of(const transpose_args& a, const tile_shape& t, int edge) {
  kernels::counted_tiles m = matrices_of(a, ceil_div(a.rows, std::int64_t{edge} << t.lines_shift),
                                         ceil_div(a.cols, std::int64_t{edge} << t.chunks_shift));
  m.lines_shift = t.lines_shift;
  m.chunks_shift = t.chunks_shift;
  m.pad = static_cast<int>(kernels::tile_pad(1 << t.chunks_shift, edge * ((1 << t.lines_shift) + 1)));
  return m;
}

constexpr int plain_threads = 256;

// Of a large block: small elements take more registers, which more threads would spill.
template <int Bytes>
constexpr int most_threads = Bytes == 1   ? plain_threads
                             : Bytes == 2 ? 512
                                          : 1024;

template <int Bytes>
int threads_of(const tile_shape& t) {
  return (1 << (t.lines_shift + t.chunks_shift)) / kernels::tile_depth<Bytes>;
}

std::int64_t most_tiles(const exchange_piece* pieces, int count, const tile_shape& t, int edge) {
  std::int64_t most = 1;
  for (int i = 0; i < count; ++i) {
    most = std::max<std::int64_t>(most, matrices_of(pieces[i].move, t, edge).tiles);
  }
  return most;
}

// So few blocks that each has a multiprocessor to itself take larger tiles with more threads, while there is a tile for
// each: what a multiprocessor stores at a time is what bounds the rate.
template <int Bytes>
tile_shape tile_for(const device_limits& limits, const exchange_piece* pieces, int count, std::int64_t wanted) {
  constexpr int edge = 16 / Bytes;
  tile_shape t = shape_of(Bytes);
  while (tile_bytes(t, edge) > limits.shared_bytes / 2 && t.lines_shift > 0) --t.lines_shift;
  if (wanted * count > limits.multiprocessors / 2) return t;
  for (tile_shape next = t;; t = next) {
    ++next.lines_shift;
    if (threads_of<Bytes>(next) > most_threads<Bytes> || tile_bytes(next, edge) > limits.shared_bytes ||
        most_tiles(pieces, count, next, edge) < wanted) {
      return t;
    }
  }
}

std::int64_t blocks_for(const device_limits& limits, const detail::exchange_call& call, int count) {
  return call.blocks_per_peer > 0 ? call.blocks_per_peer : ceil_div(2 * limits.multiprocessors, count);
}

// As many blocks for each piece as are wanted, and as the largest has tiles.
template <class Matrices, class Kernel>
void launch_pieces(const work_queue& queue, const detail::exchange_call& call, const exchange_piece* pieces, int count,
                   detail::launch_config config, std::int64_t wanted, Kernel kernel, Matrices&& matrices) {
  const std::int64_t first_ready = counter_of(detail::handshake_phase::ready, call.with.size, 0);
  kernels::exchange_parts all{call.with, first_ready, call.ticks, count, {}};
  std::int64_t most = 1;
  for (int i = 0; i < count; ++i) {
    const transpose_args& a = pieces[i].move;
    all.part[i] = {static_cast<const unsigned char*>(a.in), static_cast<unsigned char*>(a.out), pieces[i].peer,
                   matrices(a)};
    most = std::max<std::int64_t>(most, all.part[i].tiles.tiles);
  }
  config.grid = {static_cast<unsigned>(std::min(wanted, most) * count), 1, 1};
  check(launch(queue, config, kernel, all), "launch of global_transpose");
}

template <int Bytes>
void start(const work_queue& queue, const detail::exchange_call& call, const exchange_piece* pieces, int count) {
  constexpr int edge = 16 / Bytes;
  const device_limits limits = limits_of(queue.device->properties());
  const std::int64_t wanted = blocks_for(limits, call, count);
  const tile_shape t = tile_for<Bytes>(limits, pieces, count, wanted);
  const int threads = threads_of<Bytes>(t);
  const auto kernel = threads > plain_threads ? &kernels::exchange_tiles<Bytes, most_threads<Bytes>>
                                              : &kernels::exchange_tiles<Bytes, plain_threads>;
  launch_pieces(queue, call, pieces, count,
                {{}, {static_cast<unsigned>(threads), 1, 1}, static_cast<std::size_t>(tile_bytes(t, edge))}, wanted,
                kernel, [&](const transpose_args& a) { return matrices_of(a, t, edge); });
}

// Bytes of an output row, threads and rows at once, by element size. A warp stores 512 bytes of an output row at a
// time; of 1-byte elements 256, whose tiles would exceed the shared memory.
constexpr int line_tiles[4][3] = {{384, 512, 24}, {640, 512, 20}, {640, 256, 20}, {640, 160, 16}};

template <int Bytes>
void start_misaligned(const work_queue& queue, const detail::exchange_call& call, const exchange_piece* pieces,
                      int count) {
  constexpr auto& tile = line_tiles[floor_log2(Bytes)];
  using shape = kernels::line_tile<Bytes, tile[0], tile[1], tile[2]>;
  static_assert(shape::bytes <= detail::exchange_shared_bytes);
  const device_limits limits = limits_of(queue.device->properties());
  launch_pieces(queue, call, pieces, count, {{}, {shape::threads, 1, 1}, shape::bytes}, blocks_for(limits, call, count),
                &kernels::exchange_misaligned<Bytes, shape>, [](const transpose_args& a) {
                  const std::int64_t behind_first = std::max<std::int64_t>(0, a.rows - shape::height);
                  return matrices_of(a, 1 + ceil_div(behind_first, shape::written), ceil_div(a.cols, shape::width));
                });
}

template <int Bytes>
void start_any(const work_queue& queue, const detail::exchange_call& call, const exchange_piece* pieces, int count) {
  if constexpr (Bytes < 16) {
    if (!call.in_vectors) return start_misaligned<Bytes>(queue, call, pieces, count);
  }
  start<Bytes>(queue, call, pieces, count);
}

}  // namespace

void exchange(const work_queue& queue, const detail::exchange_call& call) {
  for (int first = 0; first < call.count; first += kernels::most_exchange_parts) {
    const int count = std::min(kernels::most_exchange_parts, call.count - first);
    const exchange_piece* const pieces = call.pieces + first;
    with_unit(pieces->move.element_bytes, [&](auto one) { start_any<sizeof(one)>(queue, call, pieces, count); });
  }
}

}  // namespace twill::TWILL_BACKEND
