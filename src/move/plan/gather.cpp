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

double real(std::int64_t value) {
  return static_cast<double>(value);
}
double square(double value) {
  return value * value;
}

// Microseconds of the memory traffic, squared. `edges`: output segments have ends that are no whole vector.
double squared_memory(const composite_tile& t, double copy, const alignments& aligned, bool edges) {
  const std::int64_t fill = std::min<std::int64_t>(64, aligned.in);
  const std::int64_t around = fill >= 64 ? (-t.in_bytes & 63) : 64 - fill;
  const double read = costs.fetch * real(around) / real(t.in_bytes);
  const double written = edges ? costs.sector * 32 / real(t.out_bytes) : 0;
  return square(copy * (1 + (read + written) / 2));
}

// Of a block that runs alone.
double life_of(const gather_plan& p) {
  return costs.block + costs.load * real(ceil_divided(p.tile.in_segments * p.vectors, 1024)) +
         costs.round * real(ceil_divided(p.tile.out_segments * p.stores, blocks_threads));
}

// The same of instructions and of the latency of blocks: all three overlap in part.
double squared_issue_and_latency(const gather_plan& p, double life, const device_model& device) {
  const composite_tile& t = p.tile;
  const int units = units_of_vector(t.unit);
  const double in_segments = real(t.in_segments), out_segments = real(t.out_segments), blocks = real(p.blocks);
  const double clocks = in_segments / 32 * costs.in_segments + out_segments / 32 * costs.out_segments +
                        real(divided(t.out_bytes, t.unit)) / 32 * costs.units * (1 + units / 8.0) +
                        out_segments * p.stores / 32 * (costs.store + units * costs.unit) +
                        (p.edges ? out_segments * 2 * units / 32 * costs.edge : 0);
  const std::int64_t at_once =
      std::clamp<std::int64_t>(divided(device.shared_bytes, p.shared_bytes + 1024), 1, most_blocks_at_once);
  return square(blocks * clocks / device.clocks_per_us) +
         square(blocks / real(device.multiprocessors * at_once) * life);
}

// What no tile's instructions and latency fall below: those for vectors, were they all complete.
double least_squared_issue_and_latency(std::int64_t unit, double bytes, const device_model& device) {
  const int units = units_of_vector(unit);
  const double vectors = bytes / real(units * unit);
  const double clocks = vectors / 32 * (costs.store + units * costs.unit);
  const double life = costs.load * bytes / 16 / 1024 + costs.round * vectors / blocks_threads;
  return square(clocks / device.clocks_per_us) + square(life / real(device.multiprocessors * most_blocks_at_once));
}

// Whether output segments have ends that are no whole vector.
bool has_edges(const composite_tile& t, std::int64_t lead) {
  const std::int64_t vector = units_of_vector(t.unit) * t.unit, extent = t.dims[t.last_out].extent;
  if (vector == t.unit) return false;
  if (((lead | t.out_bytes) & (vector - 1)) != 0) return true;
  const std::int64_t rest = extent - divided(extent, t.out_indices()) * t.out_indices();
  return rest != 0 && (rest * divided(t.out_bytes, t.out_indices()) & (vector - 1)) != 0;
}

// Shared memory and counts of the chosen tile; false where it is too large.
bool lay_out(gather_plan& p, const alignments& aligned, std::int64_t most_shared) {
  const composite_tile& t = p.tile;
  const std::int64_t units = units_of_vector(t.unit), vector = units * t.unit,
                     lead = std::min<std::int64_t>(32, aligned.out);
  if (t.in_bytes > most_linear_bytes || t.in_segments > most_linear_bytes) return false;
  p.vectors = static_cast<int>((t.in_bytes + 31 - std::min<std::int64_t>(16, aligned.in)) / 16);
  std::int64_t pitch = std::int64_t{p.vectors} * 16;
  if (t.in_segments > 1) pitch |= 16;  // with the pads, units of segments side by side lie in different banks
  if (t.in_segments * pitch > most_linear_bytes) return false;
  p.pitch = static_cast<int>(pitch);
  const std::int64_t sector = std::max<std::int64_t>(1, divided(32, vector));
  const std::int64_t touched = divided(t.out_bytes + 31 - lead + vector, vector);
  p.stores = static_cast<int>((touched + sector - 1) & -sector);
  p.segment_bytes = static_cast<int>((padded_bytes(t.in_segments * pitch, t.unit) + t.unit + 15) & -16);
  p.table_pitch = static_cast<int>(ceil_divided(divided(t.out_bytes, t.unit), units) + 1);
  p.shared_bytes = p.segment_bytes + 16 * (t.in_segments + t.out_segments) + 2 * units * units * p.table_pitch;
  if (p.shared_bytes > most_shared) return false;
  p.blocks = t.blocks();
  return p.blocks <= INT32_MAX;
}

std::int64_t bytes_of(const permute_args& a) {
  std::int64_t bytes = a.run_bytes;
  for (int i = 0; i < a.rank; ++i) bytes *= a.dims[i].extent;
  return bytes;
}

constexpr double least_tail = costs.tail * (costs.block + costs.load + costs.round);

constexpr std::int64_t least_tile_bytes = 6 << 10, most_tile_bytes = 48 << 10;  // what is worth a block

}  // namespace

double least_gather_us(const permute_args& a, std::int64_t unit, const device_model& device) {
  const double bytes = real(bytes_of(a)), copy = 2 * bytes / device.bytes_per_us;
  return costs.launch + least_tail + std::sqrt(square(copy) + least_squared_issue_and_latency(unit, bytes, device));
}

std::optional<gather_plan> plan_gather(const permute_args& a, const composite_tile& untiled,
                                       const device_model& device) {
  const double bytes = real(bytes_of(a)), copy = 2 * bytes / device.bytes_per_us;
  const double rest = least_squared_issue_and_latency(untiled.unit, bytes, device);
  std::optional<gather_plan> best;
  double least = 0;  // without the launch
  gather_plan p{};
  p.tile = untiled;
  const auto finished = [&] {
    if (best) best->microseconds = costs.launch + least;
    return best;
  };
  std::int64_t out_before = 0;
  for (const std::int64_t out_bytes : {1024, 512, 256, 128}) {
    if (!choose_out_segments(p.tile, out_bytes, most_units)) return finished();
    if (p.tile.out_bytes == out_before) continue;  // nothing but the same again
    out_before = p.tile.out_bytes;
    std::int64_t before = 0;
    for (const std::int64_t in_bytes : {128, 256, 512, 1024, 4096, 16384}) {
      if (before > 0 && p.tile.in_bytes >= in_bytes) continue;
      if (!choose_in_segments(p.tile, in_bytes)) return finished();
      const std::int64_t tile = p.tile.bytes();
      if (tile == before) continue;
      if (before >= least_tile_bytes && tile > most_tile_bytes) break;
      before = tile;
      if (best && tile < least_tile_bytes) continue;
      const alignments aligned = alignments_of(a, p.tile);
      p.edges = has_edges(p.tile, std::min<std::int64_t>(32, aligned.out));
      const double memory = squared_memory(p.tile, copy, aligned, p.edges);
      if (best && memory + rest >= square(least - least_tail)) continue;
      if (!lay_out(p, aligned, device.shared_bytes / 2)) break;
      const double life = life_of(p);
      const double all = costs.tail * life + std::sqrt(memory + squared_issue_and_latency(p, life, device));
      if (best && all >= least) continue;
      best = p;
      least = all;
    }
  }
  return finished();
}

}  // namespace twill::detail
