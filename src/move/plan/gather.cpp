#include "gather.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "integers.hpp"

namespace twill::detail {
namespace {

constexpr std::int64_t most_units = 1024;          // of an output segment: entries of its table
constexpr std::int64_t most_linear_bytes = 61440;  // with their pads, offsets are kept in 16 bits
constexpr std::int64_t blocks_threads = 256;
constexpr int most_blocks_at_once = 6;  // the registers of as many fit
constexpr gather_costs costs;

double real(std::int64_t value) {
  return static_cast<double>(value);
}
double square(double value) {
  return value * value;
}

std::int64_t address(const void* pointer) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(pointer));
}

// Whether output segments have ends that are no whole vector.
bool has_edges(const composite_tile& t, std::int64_t lead) {
  const std::int64_t vector = units_of_vector(t.unit) * t.unit, extent = t.dims[t.last_out].extent;
  if (vector == t.unit) return false;
  if (((lead | t.out_bytes) & (vector - 1)) != 0) return true;
  const std::int64_t rest = extent - divided(extent, t.out_indices()) * t.out_indices();
  return rest != 0 && (rest * divided(t.out_bytes, t.out_indices()) & (vector - 1)) != 0;
}

// What the output segments alone determine.
void lay_out_output(gather_plan& p, const permute_args& a) {
  const composite_tile& t = p.tile;
  const std::int64_t units = units_of_vector(t.unit), vector = units * t.unit,
                     lead = lowest_bit(address(a.out) | t.out_bits | 32);
  const std::int64_t sector = std::max<std::int64_t>(1, divided(32, vector));
  const std::int64_t touched = divided(t.out_bytes + 31 - lead + vector, vector);
  p.edges = has_edges(t, lead);
  p.stores = static_cast<int>((touched + sector - 1) & -sector);
  p.units = static_cast<int>(divided(t.out_bytes, t.unit));
  p.table_pitch = static_cast<int>(ceil_divided(p.units, units) + 1);
}

// Shared memory and blocks; false where the tile is too large.
bool lay_out(gather_plan& p, std::int64_t most_shared) {
  const composite_tile& t = p.tile;
  const std::int64_t units = units_of_vector(t.unit);
  if (t.in_bytes > most_linear_bytes || t.in_segments > most_linear_bytes) return false;
  std::int64_t pitch = std::int64_t{p.vectors} * 16;
  if (t.in_segments > 1) pitch |= 16;  // with the pads, units of segments side by side lie in different banks
  if (t.in_segments * pitch > most_linear_bytes) return false;
  p.pitch = static_cast<int>(pitch);
  p.segment_bytes = static_cast<int>((padded_bytes(t.in_segments * pitch, t.unit) + t.unit + 15) & -16);
  p.shared_bytes =
      p.segment_bytes + gather_place_bytes + 16 * (t.in_segments + t.out_segments) + 2 * units * units * p.table_pitch;
  if (p.shared_bytes > most_shared) return false;
  p.blocks = t.blocks();
  return p.blocks <= INT32_MAX;
}

// Clocks for what all output segments take at least: complete vectors of them.
double clocks_of_stores(const gather_plan& p) {
  const int units = units_of_vector(p.tile.unit);
  return p.stores / 32.0 * (costs.store + units * costs.unit) + (p.edges ? 2 * units / 32.0 * costs.edge : 0);
}

// Clocks of a block's instructions.
double clocks_of(const gather_plan& p) {
  const composite_tile& t = p.tile;
  const int units = units_of_vector(t.unit);
  const double in_segments = real(t.in_segments), out_segments = real(t.out_segments);
  return in_segments / 32 * costs.in_segments + out_segments / 32 * costs.out_segments +
         real(p.units) / 32 * costs.units * (1 + units / 8.0) +
         out_segments * p.stores / 32 * (costs.store + units * costs.unit) +
         (p.edges ? out_segments * 2 * units / 32 * costs.edge : 0);
}

// Microseconds of a block that runs alone.
double life_of(const gather_plan& p) {
  return costs.block + costs.load * real(ceil_divided(p.tile.in_segments * p.vectors, 1024)) +
         costs.round * real(ceil_divided(p.tile.out_segments * p.stores, blocks_threads));
}

// Squared microseconds of instructions and of the latency of blocks, which overlap with the memory's in part.
double squared_issue_and_latency(double blocks, double clocks, double life, std::int64_t at_once,
                                 const device_model& device) {
  return square(blocks * clocks / device.clocks_per_us) +
         square(blocks / real(device.multiprocessors * at_once) * life);
}

// The same for vectors that are all complete: no tile takes less.
double least_squared_issue_and_latency(std::int64_t unit, double bytes, const device_model& device) {
  const int units = units_of_vector(unit);
  const double vectors = bytes / real(units * unit);
  const double clocks = vectors / 32 * (costs.store + units * costs.unit);
  const double life = costs.load * bytes / 16 / 1024 + costs.round * vectors / blocks_threads;
  return squared_issue_and_latency(1, clocks, life, most_blocks_at_once, device);
}

std::int64_t bytes_of(const permute_args& a) {
  std::int64_t bytes = a.run_bytes;
  for (int i = 0; i < a.rank; ++i) bytes *= a.dims[i].extent;
  return bytes;
}

constexpr double least_tail = costs.tail * (costs.block + costs.load + costs.round);

constexpr std::int64_t least_tile_bytes = 6 << 10, most_tile_bytes = 48 << 10;  // what is worth a block

// The tiles of a movement, tried one by one. `most`: microseconds without the launch.
class tile_search {
 public:
  tile_search(const permute_args& a, const composite_tile& untiled, const device_model& device, double bytes,
              double most)
      : a_(a), device_(device), bytes_(bytes), copy_(2 * bytes / device.bytes_per_us), least_(most) {
    p_.tile = untiled;
    p_.tile.out_bytes = 0;
  }

  /// All tiles whose output segments have about `wanted` bytes; false where no more are possible.
  bool try_output(std::int64_t wanted) {
    const std::int64_t before = p_.tile.out_bytes;
    if (!choose_out_segments(p_.tile, wanted, most_units)) return false;
    if (p_.tile.out_bytes == before) return true;  // nothing but the same again
    lay_out_output(p_, a_);
    written_ = p_.edges ? costs.sector * 32 / real(p_.tile.out_bytes) : 0;
    const double clocks = bytes_ / real(p_.tile.out_bytes) * (costs.out_segments / 32 + clocks_of_stores(p_));
    if (is_any_ && square(copy_ * (1 + written_ / 2)) + square(clocks / device_.clocks_per_us) >=
                       square(std::max(0.0, least_ - least_tail))) {
      return true;
    }
    std::int64_t tried = 0;
    for (const std::int64_t in_bytes : {128, 256, 512, 1024, 4096, 16384}) {
      if (tried > 0 && p_.tile.in_bytes >= in_bytes) continue;
      if (!choose_in_segments(p_.tile, in_bytes)) return false;
      const std::int64_t tile = p_.tile.bytes();
      if (tile == tried) continue;
      if (tried >= least_tile_bytes && tile > most_tile_bytes) break;
      tried = tile;
      if (is_any_ && tile < least_tile_bytes) continue;
      if (!try_tile()) break;
    }
    return true;
  }

  std::optional<gather_plan> best() const { return best_; }

 private:
  /// False where the tile is too large.
  bool try_tile() {
    const composite_tile& t = p_.tile;
    const std::int64_t aligned = lowest_bit(address(a_.in) | t.in_bits | 64);
    const std::int64_t around = aligned == 64 ? (-t.in_bytes & 63) : 64 - aligned;
    const double read = costs.fetch * real(around) / real(t.in_bytes);
    const double memory = square(copy_ * (1 + (read + written_) / 2));
    p_.vectors = static_cast<int>((t.in_bytes + 31 - std::min<std::int64_t>(16, aligned)) / 16);
    const double clocks = clocks_of(p_), life = life_of(p_), tail = costs.tail * life;
    if (is_any_) {  // as if all blocks were full, and as many at once as possible
      const double rest =
          squared_issue_and_latency(bytes_ / real(t.bytes()), clocks, life, most_blocks_at_once, device_);
      if (memory + rest >= square(std::max(0.0, least_ - tail))) return true;
    }
    if (!lay_out(p_, device_.shared_bytes / 2)) return false;
    is_any_ = true;
    const std::int64_t at_once =
        std::clamp<std::int64_t>(divided(device_.shared_bytes, p_.shared_bytes + 1024), 1, most_blocks_at_once);
    const double all =
        tail + std::sqrt(memory + squared_issue_and_latency(real(p_.blocks), clocks, life, at_once, device_));
    if (all >= least_) return true;
    least_ = all;
    best_ = p_;
    best_->microseconds = costs.launch + all;
    return true;
  }

  const permute_args& a_;
  const device_model& device_;
  const double bytes_, copy_;
  gather_plan p_;
  double written_ = 0;   // sectors that two segments share, for each byte
  bool is_any_ = false;  // some tile fits
  double least_;         // without the launch
  std::optional<gather_plan> best_;
};

}  // namespace

std::optional<gather_plan> plan_gather(const permute_args& a, const composite_tile& untiled, const device_model& device,
                                       double most_us) {
  const double bytes = real(bytes_of(a)), copy = 2 * bytes / device.bytes_per_us, most = most_us - costs.launch;
  const double least_squared = square(copy) + least_squared_issue_and_latency(untiled.unit, bytes, device);
  if (least_tail + std::sqrt(least_squared) >= most) return std::nullopt;
  tile_search tiles(a, untiled, device, bytes, most);
  for (const std::int64_t out_bytes : {1024, 512, 256, 128}) {
    if (!tiles.try_output(out_bytes)) break;
  }
  return tiles.best();
}

}  // namespace twill::detail
