#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "backends/cpu/device.hpp"
#include "move/plan/normal_form.hpp"
#include "operations.hpp"

namespace twill::cpu {
namespace {

using detail::permute_args;
using detail::permute_dim;

// A plane of two dimensions, walked in tiles: the output's fastest dimension and the input's. The dimensions around it
// are walked tile by tile.
struct plane {
  permute_dim out_fast, in_fast;  // in_fast has extent 1 where they are the same
  permute_dim around[8];
  int rank = 0;
  std::int64_t planes = 1;
};

plane plane_of(const permute_args& a) {
  const auto* end = a.dims + a.rank;
  const auto* in_fast = std::min_element(
      a.dims, end, [](const auto& x, const auto& y) { return std::abs(x.in_stride) < std::abs(y.in_stride); });
  plane p;
  p.out_fast = a.dims[0];
  p.in_fast = in_fast == a.dims ? permute_dim{1, 0, 0} : *in_fast;
  for (const auto* d = a.dims + 1; d != end; ++d) {
    if (d == in_fast) continue;
    p.around[p.rank++] = *d;
    p.planes *= d->extent;
  }
  return p;
}

template <std::size_t Bytes>
void move_tile(const unsigned char* in, unsigned char* out, const permute_dim& x, const permute_dim& y,
               std::size_t bytes) {
  if constexpr (Bytes != 0) bytes = Bytes;  // a constant, so that memcpy becomes a load
  for (std::int64_t j = 0; j < y.extent; ++j) {
    const unsigned char* from = in + j * y.in_stride;
    unsigned char* to = out + j * y.out_stride;
    for (std::int64_t i = 0; i < x.extent; ++i, from += x.in_stride, to += x.out_stride) std::memcpy(to, from, bytes);
  }
}

void move_any_tile(const unsigned char* in, unsigned char* out, const permute_dim& x, const permute_dim& y,
                   std::int64_t bytes) {
  switch (bytes) {
    case 1:
      return move_tile<1>(in, out, x, y, 1);
    case 2:
      return move_tile<2>(in, out, x, y, 2);
    case 4:
      return move_tile<4>(in, out, x, y, 4);
    case 8:
      return move_tile<8>(in, out, x, y, 8);
    case 16:
      return move_tile<16>(in, out, x, y, 16);
    default:
      return move_tile<0>(in, out, x, y, static_cast<std::size_t>(bytes));
  }
}

void permute_planes(const detail::work_queue& queue, const permute_args& a) {
  const plane p = plane_of(a);
  const std::int64_t edge = p.in_fast.extent == 1 ? 4096 : std::max<std::int64_t>(8, 64 / a.run_bytes);
  const std::int64_t across = (p.out_fast.extent + edge - 1) / edge, down = (p.in_fast.extent + edge - 1) / edge;
  const std::int64_t tiles = across * down * p.planes;
  const std::int64_t tile_bytes = std::min(edge, p.out_fast.extent) * std::min(edge, p.in_fast.extent) * a.run_bytes;
  const std::int64_t at_once = std::max<std::int64_t>(1, (256 << 10) / tile_bytes);
  team_of(queue).run(static_cast<std::size_t>((tiles + at_once - 1) / at_once), [&](std::size_t task) {
    const auto first = static_cast<std::int64_t>(task) * at_once, end = std::min(tiles, first + at_once);
    for (std::int64_t tile = first; tile < end; ++tile) {
      const auto* in = static_cast<const unsigned char*>(a.in);
      auto* out = static_cast<unsigned char*>(a.out);
      const auto move = [&](const permute_dim& d, std::int64_t index) {
        in += index * d.in_stride;
        out += index * d.out_stride;
      };
      permute_dim x = p.out_fast, y = p.in_fast;
      std::int64_t place = tile;
      const std::int64_t i = place % across * edge, j = (place /= across) % down * edge;
      move(x, i);
      move(y, j);
      x.extent = std::min(edge, x.extent - i);
      y.extent = std::min(edge, y.extent - j);
      place /= down;
      for (int k = 0; k < p.rank; ++k) {
        move(p.around[k], place % p.around[k].extent);
        place /= p.around[k].extent;
      }
      move_any_tile(in, out, x, y, a.run_bytes);
    }
  });
}

}  // namespace

void permute(const detail::work_queue& queue, const permute_args& a) {
  if (const auto as = detail::as_transpose(a)) return transpose(queue, *as);
  permute_planes(queue, a);
}

}  // namespace twill::cpu
