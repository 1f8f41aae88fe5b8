// Where a gathering block's tile lies in shared memory.

#include <algorithm>

#include "gather.hpp"
#include "integers.hpp"

namespace twill::detail {
namespace {

constexpr std::int64_t most_linear_bytes = 61440;  // of input segments; with pads of 4 bytes, offsets have 16 bits

// Sets pitch, pad and bytes; false, and the plan stays, where fewer than so many blocks would be resident.
bool set_layout(gather_plan& p, std::int64_t pitch, std::int64_t pad, std::int64_t least_blocks,
                const device_model& device) {
  const composite_tile& t = p.tile;
  const std::int64_t units = units_of_vector(t.unit),
                     segments = (padded_bytes(t.in_segments * pitch, pad) + t.unit + 15) & -16,
                     tables = 16 * (t.in_segments + t.out_segments) + 2 * units * units * p.table_pitch,
                     all = segments + gather_place_bytes + tables;
  if (all > device.shared_bytes / 2 || resident_blocks(all, device) < least_blocks) return false;
  p.pitch = static_cast<int>(pitch);
  p.pad = static_cast<int>(pad);
  p.segment_bytes = static_cast<int>(segments);
  p.shared_bytes = all;
  return true;
}

// Bytes between the first unit of an input segment and that of an output segment.
std::int64_t offset_of_segment(const composite_tile& t, std::int64_t segment) {
  const tile_dim& last = t.dims[t.last_out];
  std::int64_t offset = 0;
  const auto add = [&](std::int64_t indices, std::int64_t stride) {
    const std::int64_t next = divided(segment, indices);
    offset += (segment - next * indices) * stride;
    segment = next;
  };
  if (last.tile > t.out_indices()) add(ceil_divided(last.tile, t.out_indices()), t.out_indices() * last.in_stride);
  for (int k = 0; k < t.rank && segment > 0; ++k) {
    const tile_dim& d = t.dims[t.in_order[k]];
    if (d.in_segment && !d.out_segment) add(d.tile, d.in_stride);
  }
  return offset;
}

// What the lanes of a block's first warp read at once: the first unit of the vectors that they assemble. Numbers have
// 16 bits, eight of which hosts compute at a time; padded offsets of 16-byte units may lose their highest bit, on which
// banks do not depend.
struct warp_read {
  static constexpr int most_lanes = 32;
  int lanes;
  // Bytes from an input segment's first vector on; the segment.
  std::uint16_t offset[most_lanes] = {}, segment[most_lanes] = {};

  explicit warp_read(const gather_plan& p) {
    const int units = units_of_vector(p.tile.unit);
    const int vectors = std::min(most_lanes, static_cast<int>(ceil_divided(p.units, units)));
    place_vectors(p.tile, units);
    lanes = vectors;
    // The remaining lanes read the same vectors of the following output segments.
    for (int next = 1; next < p.tile.out_segments && lanes < most_lanes; ++next) {
      const auto from = static_cast<std::uint16_t>(offset_of_segment(p.tile, next));
      for (int v = 0; v < vectors && lanes < most_lanes; ++v, ++lanes) {
        offset[lanes] = static_cast<std::uint16_t>(offset[v] + from);
        segment[lanes] = segment[v];
      }
    }
  }

 private:
  // The vectors of the first output segment. All 32 lanes are computed, also those without a vector (ignored), so that
  // trip counts are fixed. A unit's index is split by successive division, with reciprocals, which is exact: it is at
  // most 31 x 8.
  void place_vectors(const composite_tile& t, int units) {
    std::uint16_t rest[most_lanes], misalignment[most_lanes] = {}, segments = 1;
    for (int lane = 0; lane < most_lanes; ++lane) rest[lane] = static_cast<std::uint16_t>(lane * units);
    for (int i = 0; i < t.rank && t.dims[i].out_segment; ++i) {
      const tile_dim& d = t.dims[i];
      const auto indices = static_cast<std::uint16_t>(i == t.last_out ? t.out_indices() : d.tile);
      if (indices == 1) continue;
      const auto reciprocal = static_cast<std::uint16_t>(65536U / indices + 1);
      const auto in = static_cast<std::uint16_t>(d.in_segment ? d.in_stride : 0),
                 skew = static_cast<std::uint16_t>(d.in_segment ? 0 : d.in_stride & 15),
                 step = d.in_segment ? std::uint16_t{0} : segments;
      for (int lane = 0; lane < most_lanes; ++lane) {
        const auto next = static_cast<std::uint16_t>((std::uint32_t{rest[lane]} * reciprocal) >> 16);
        const auto index = static_cast<std::uint16_t>(rest[lane] - next * indices);
        rest[lane] = next;
        offset[lane] = static_cast<std::uint16_t>(offset[lane] + index * in);
        misalignment[lane] = static_cast<std::uint16_t>(misalignment[lane] + index * skew);
        segment[lane] = static_cast<std::uint16_t>(segment[lane] + index * step);
      }
      if (!d.in_segment) segments = static_cast<std::uint16_t>(segments * indices);
    }
    for (int lane = 0; lane < most_lanes; ++lane) {
      offset[lane] = static_cast<std::uint16_t>(offset[lane] + (misalignment[lane] & 15));
    }
  }
};

// Degree of bank conflict: the most words of one bank. A word shared with the preceding lane counts once, one shared
// with any other lane again: an upper bound.
int conflict_degree(const warp_read& read, int pitch, int pad) {
  std::uint16_t word[warp_read::most_lanes];
  for (int lane = 0; lane < warp_read::most_lanes; ++lane) {
    const auto byte =
        static_cast<std::uint16_t>(read.offset[lane] + read.segment[lane] * static_cast<std::uint16_t>(pitch));
    word[lane] = static_cast<std::uint16_t>(
        static_cast<std::uint16_t>(byte + (byte >> 7) * static_cast<std::uint16_t>(pad)) >> 2);
  }
  std::uint8_t words[32] = {};  // of each bank
  std::uint32_t before = UINT32_MAX;
  int most = 0;
  for (int lane = 0; lane < read.lanes; ++lane) {
    most = std::max<int>(most, words[word[lane] & 31] += word[lane] != before);
    before = word[lane];
  }
  return most;
}

}  // namespace

bool lay_out(gather_plan& p, const device_model& device) {
  const composite_tile& t = p.tile;
  if (t.in_bytes > most_linear_bytes || t.in_segments > most_linear_bytes) return false;
  std::int64_t pitch = std::int64_t{p.vectors} * 16;
  if (t.in_segments > 1) pitch |= 16;  // with the pads, units of segments side by side lie in different banks
  if (t.in_segments * pitch > most_linear_bytes) return false;
  // Pads of a word: loaded vectors are stored without bank conflicts.
  return set_layout(p, pitch, std::max<std::int64_t>(4, t.unit), 1, device);
}

void avoid_bank_conflicts(gather_plan& p, const device_model& device) {
  // Degrees by size of the unit. Loads of 8 and 16 bytes take 2 and 4 wavefronts anyway, and for units larger than 1
  // byte memory is slower than shared memory.
  constexpr int tolerated[5] = {1, 3, 3, 4, 6};
  const int most = tolerated[place_of(p.tile.unit)];
  const std::int64_t blocks = resident_blocks(p.shared_bytes, device);
  const warp_read read(p);
  int least = conflict_degree(read, p.pitch, p.pad);
  const auto try_layout = [&](int pitch, int pad) {
    const bool fits = padded_bytes(p.tile.in_segments * pitch, pad) <= 65536;  // offsets have 16 bits
    if (least <= most || !fits) return;
    const int degree = conflict_degree(read, pitch, pad);
    const std::int64_t least_blocks = 2 * degree <= least ? 1 : blocks;
    if (degree < least && set_layout(p, pitch, pad, least_blocks, device)) least = degree;
  };
  const int pitch = p.pitch, pad = p.pad;
  if (p.tile.in_segments > 1) try_layout(pitch + 16, pad);
  try_layout(pitch, 3 * pad);
  if (least > 3) try_layout(pitch, 2 * pad);  // loaded vectors are stored with bank conflicts
}

}  // namespace twill::detail
