#include "exchange.hpp"

#include <algorithm>

#include "gpu/limits.hpp"
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

kernels::counted_tiles matrices_of(const transpose_args& a, const tile_shape& t, int edge) {
  kernels::counted_tiles m{};
  m.rows = a.rows;
  m.cols = a.cols;
  m.in_ld = a.in_ld * a.element_bytes;
  m.out_ld = a.out_ld * a.element_bytes;
  m.in_stride = a.in_stride * a.element_bytes;
  m.out_stride = a.out_stride * a.element_bytes;
  m.lines_shift = t.lines_shift;
  m.chunks_shift = t.chunks_shift;
  m.tiles_r = static_cast<unsigned>(ceil_div(a.rows, std::int64_t{edge} << t.lines_shift));
  m.tiles_c = static_cast<unsigned>(ceil_div(a.cols, std::int64_t{edge} << t.chunks_shift));
  m.tiles = static_cast<unsigned>(static_cast<std::int64_t>(m.tiles_r) * m.tiles_c * a.batch);
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

template <int Bytes>
void start(const work_queue& queue, const detail::exchange_call& call, const exchange_piece* pieces, int count) {
  constexpr int edge = 16 / Bytes;
  const device_limits limits = limits_of(queue.device->properties());
  const std::int64_t wanted =
      call.blocks_per_peer > 0 ? call.blocks_per_peer : ceil_div(2 * limits.multiprocessors, count);
  const tile_shape t = tile_for<Bytes>(limits, pieces, count, wanted);
  const std::int64_t first_ready = counter_of(detail::handshake_phase::ready, call.with.size, 0);
  kernels::exchange_parts all{call.with, first_ready, call.ticks, count, {}};
  for (int i = 0; i < count; ++i) {
    const transpose_args& a = pieces[i].move;
    all.part[i] = {static_cast<const unsigned char*>(a.in), static_cast<unsigned char*>(a.out), pieces[i].peer,
                   matrices_of(a, t, edge)};
  }
  const std::int64_t blocks = std::min(wanted, most_tiles(pieces, count, t, edge)) * count;
  const int threads = threads_of<Bytes>(t);
  const detail::launch_config config{{static_cast<unsigned>(blocks), 1, 1},
                                     {static_cast<unsigned>(threads), 1, 1},
                                     static_cast<std::size_t>(tile_bytes(t, edge))};
  const auto kernel = threads > plain_threads ? &kernels::exchange_tiles<Bytes, most_threads<Bytes>>
                                              : &kernels::exchange_tiles<Bytes, plain_threads>;
  check(launch(queue, config, kernel, all), "launch of global_transpose");
}

}  // namespace

void exchange(const work_queue& queue, const detail::exchange_call& call) {
  for (int first = 0; first < call.count; first += kernels::most_exchange_parts) {
    const int count = std::min(kernels::most_exchange_parts, call.count - first);
    const exchange_piece* const pieces = call.pieces + first;
    switch (pieces->move.element_bytes) {
      case 1:
        start<1>(queue, call, pieces, count);
        break;
      case 2:
        start<2>(queue, call, pieces, count);
        break;
      case 4:
        start<4>(queue, call, pieces, count);
        break;
      case 8:
        start<8>(queue, call, pieces, count);
        break;
      default:
        start<16>(queue, call, pieces, count);
    }
  }
}

}  // namespace twill::TWILL_BACKEND
