#include "gather.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "integers.hpp"

namespace twill::detail {
namespace {

constexpr std::int64_t most_units = 1024;          // of an output segment: entries of its table
constexpr std::int64_t most_linear_bytes = 65024;  // offsets are kept in 16 bits
constexpr std::int64_t blocks_threads = 256;
constexpr int most_blocks_at_once = 8;
constexpr gather_costs costs;

std::int64_t lowest_bit(std::int64_t bits) {
  return bits & -bits;
}

// The largest power of two up to 128 at whose multiples all segments begin.
struct alignments {
  std::int64_t in, out;
};

alignments alignments_of(const permute_args& a, const composite_tile& t) {
  auto in = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.in)) | 128;
  auto out = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.out)) | 128;
  for (int i = 0; i < t.rank; ++i) {
    const tile_dim& d = t.dims[i];
    if (!d.in_segment || d.tile < d.extent) in |= d.in_segment ? d.tile * d.in_stride : d.in_stride;
    const std::int64_t indices = i == t.last_out ? t.out_indices() : d.tile;
    if (!d.out_segment || indices < d.extent) out |= d.out_segment ? indices * d.out_stride : d.out_stride;
  }
  return {lowest_bit(in), lowest_bit(out)};
}

// Microseconds: memory traffic, instructions and the latency of blocks overlap in part.
double cost_of(const gather_plan& p, const device_model& device, double bytes, std::int64_t in_alignment) {
  const composite_tile& t = p.tile;
  const double segment = static_cast<double>(t.in_bytes),
               fill = std::min<double>(64, static_cast<double>(in_alignment));
  const double around = fill >= 64 ? std::ceil(segment / 64) * 64 - segment : 64 - fill;
  const double read = 1 + costs.fetch * around / segment;
  const double written = 1 + (p.edges ? costs.sector * 32 / static_cast<double>(t.out_bytes) : 0);
  const double memory = bytes * (read + written) / device.bytes_per_us;

  const int units = units_of_vector(t.unit);
  const std::int64_t segment_units = t.out_bytes / t.unit;
  const auto in_segments = static_cast<double>(t.in_segments), out_segments = static_cast<double>(t.out_segments);
  const double clocks = in_segments / 32 * costs.in_segments + out_segments / 32 * costs.out_segments +
                        static_cast<double>(segment_units) / 32 * costs.units * (1 + units / 8.0) +
                        out_segments * p.stores / 32 * (costs.store + units * costs.unit) +
                        (p.edges ? out_segments * 2 * units / 32 * costs.edge : 0);
  const auto blocks = static_cast<double>(p.blocks);
  const double issue = blocks * clocks / device.clocks_per_us;

  const double at_once = std::min<double>(
      most_blocks_at_once, static_cast<double>(device.shared_bytes) / static_cast<double>(p.shared_bytes + 1024));
  const double life = costs.block + costs.load * std::ceil(in_segments * p.vectors / 1024) +
                      costs.round * std::ceil(out_segments * p.stores / blocks_threads);
  const double latency = blocks / (device.multiprocessors * std::max(1.0, std::floor(at_once))) * life;
  return costs.launch + std::sqrt(memory * memory + issue * issue + latency * latency);
}

// Shared memory and counts of the chosen tile; false where it is too large.
bool lay_out(gather_plan& p, const alignments& aligned, std::int64_t most_shared) {
  const composite_tile& t = p.tile;
  const std::int64_t units = units_of_vector(t.unit), vector = units * t.unit,
                     lead = std::min<std::int64_t>(32, aligned.out);
  if (t.in_bytes > most_linear_bytes || t.in_segments > divided(most_linear_bytes, t.in_bytes)) return false;
  std::int64_t pitch = ceil_divided(t.in_bytes + 16 - std::min<std::int64_t>(16, aligned.in), 16) * 16;
  if (t.in_segments > 1) pitch |= 16;  // with the pads, units of segments side by side lie in different banks
  if (t.in_segments * pitch > most_linear_bytes) return false;
  p.pitch = static_cast<int>(pitch);
  p.vectors = static_cast<int>(ceil_divided(t.in_bytes + 16 - std::min<std::int64_t>(16, aligned.in), 16));
  const std::int64_t sector = std::max<std::int64_t>(1, 32 / vector);
  p.stores = static_cast<int>(ceil_divided(ceil_divided(t.out_bytes + 32 - lead, vector), sector) * sector);
  const std::int64_t rest =
      (t.dims[t.last_out].extent - divided(t.dims[t.last_out].extent, t.out_indices()) * t.out_indices()) *
      divided(t.out_bytes, t.out_indices());
  p.edges =
      units > 1 && ((lead & (vector - 1)) != 0 || (t.out_bytes & (vector - 1)) != 0 || (rest & (vector - 1)) != 0);
  p.segment_bytes = static_cast<int>(ceil_divided(padded_bytes(t.in_segments * pitch, t.unit) + t.unit, 16) * 16);
  p.table_pitch = static_cast<int>(ceil_divided(t.out_bytes / t.unit, units) + 1);
  p.shared_bytes = p.segment_bytes + 16 * (t.in_segments + t.out_segments) + 2 * units * units * p.table_pitch;
  p.blocks = t.blocks();
  return p.shared_bytes <= most_shared && p.blocks <= INT32_MAX;
}

std::int64_t bytes_of(const permute_args& a) {
  std::int64_t bytes = a.run_bytes;
  for (int i = 0; i < a.rank; ++i) bytes *= a.dims[i].extent;
  return bytes;
}

constexpr std::int64_t least_tile_bytes = 6 << 10, most_tile_bytes = 48 << 10;  // what is worth a block

}  // namespace

std::optional<gather_plan> plan_gather(const permute_args& a, const composite_tile& untiled,
                                       const device_model& device) {
  const double bytes = static_cast<double>(bytes_of(a));
  std::optional<gather_plan> best;
  gather_plan p{};
  p.tile = untiled;
  for (const std::int64_t out_bytes : {1024, 512, 256, 128}) {
    if (!choose_out_segments(p.tile, out_bytes, most_units)) return best;
    std::int64_t before = 0;
    for (const std::int64_t in_bytes : {128, 256, 512, 1024, 4096, 16384}) {
      if (!choose_in_segments(p.tile, in_bytes)) return best;
      const std::int64_t tile = p.tile.bytes();
      if (tile == before) continue;
      if (before >= least_tile_bytes && tile > most_tile_bytes) break;
      before = tile;
      if (best && tile < least_tile_bytes) continue;
      const alignments aligned = alignments_of(a, p.tile);
      if (!lay_out(p, aligned, device.shared_bytes / 2)) break;
      p.microseconds = cost_of(p, device, bytes, aligned.in);
      if (!best || p.microseconds < best->microseconds) best = p;
    }
  }
  return best;
}

}  // namespace twill::detail
