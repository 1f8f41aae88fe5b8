#include "gather.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "gather_layout.hpp"
#include "integers.hpp"

namespace twill::detail {
namespace {

constexpr std::int64_t most_units = 1024;  // of an output segment: entries of its table
constexpr std::int64_t blocks_threads = 256;
constexpr gather_costs costs;

double real(std::int64_t value) {
  return static_cast<double>(value);
}
double cube(double value) {
  return value * value * value;
}

double ceil_of(double value) {  // not negative, below 2^63
  const auto floor = static_cast<std::int64_t>(value);
  return real(floor) + (real(floor) < value ? 1 : 0);
}

// A segment is long enough at this share of the bytes wanted: another dimension would make it far longer.
bool is_enough(std::int64_t bytes, std::int64_t wanted) {
  return bytes * 8 >= wanted * 5;
}

// About `wanted` indices, in multiples of `step`, such that all tiles are nearly equal.
std::int64_t even_tile(std::int64_t extent, std::int64_t wanted, std::int64_t step) {
  if (wanted >= extent) return extent;
  const std::int64_t even = ceil_divided(extent, ceil_divided(extent, wanted));
  return std::min(extent, ceil_divided(even, step) * step);
}

// Indices after which a segment of `bytes` for each ends at a sector of 32 bytes.
std::int64_t sector_step(std::int64_t bytes) {
  return bytes < 32 ? divided(32, bytes) : 1;
}

// Chooses what an output segment holds: about `wanted` bytes, at most `most_units`. False where no units are
// contiguous.
bool choose_out_segments(composite_tile& t, std::int64_t wanted, std::int64_t most_units) {
  std::int64_t bytes = t.unit;
  t.last_out = -1;
  t.out_bits = 0;
  bool goes_on = true;
  for (int i = 0; i < t.rank; ++i) {
    tile_dim& d = t.dims[i];
    d.tile = d.out_tile = 1;
    d.out_segment = goes_on && d.out_stride == bytes && (i == 0 || !is_enough(bytes, wanted));
    goes_on = d.out_segment;
    if (!goes_on) {
      t.out_bits |= d.out_stride;
      continue;
    }
    const std::int64_t step = sector_step(bytes), most = std::max<std::int64_t>(1, divided(most_units * t.unit, bytes));
    d.out_tile = even_tile(d.extent, ceil_divided(wanted, bytes), step);
    if (d.out_tile > most) d.out_tile = std::max<std::int64_t>(1, divided(most, step) * step);
    t.last_out = i;
    bytes *= d.out_tile;
    goes_on = d.out_tile == d.extent;
    if (!goes_on) t.out_bits |= d.out_tile * d.out_stride;
  }
  t.out_bytes = bytes;
  return t.last_out >= 0;
}

// Then what input segments hold, about `wanted` bytes, growing on each call; counts the segments. Dimensions
// that the output's segments hold completely are passed; the one that ends them grows by whole segments.
class in_segment_growth {
 public:
  /// For the output segments that `t` has.
  void begin(composite_tile& t) {
    bits_[t.rank] = 0;
    segments_[t.rank] = 1;
    for (int k = t.rank; k-- > 0;) {
      tile_dim& d = t.dims[t.in_order[k]];
      d.tile = d.out_tile;
      d.in_segment = false;
      bits_[k] = bits_[k + 1] | d.in_stride;
      segments_[k] = segments_[k + 1] * (d.out_segment ? d.out_tile : 1);
    }
    last_ = {0, t.unit, 1};
    t.in_bytes = 0;
    t.in_segments = segments_[0];
  }

  /// `wanted` must not decrease between calls. False where no units are contiguous.
  bool grow(composite_tile& t, std::int64_t wanted) {
    prefix p = last_;  // all before its dimension are complete, and stay so
    std::int64_t bits = 0;
    while (p.dims < t.rank && bits == 0) {
      const int i = t.in_order[p.dims];
      tile_dim& d = t.dims[i];
      if (d.in_stride != p.bytes || (p.dims > 0 && is_enough(p.bytes, wanted))) break;
      last_ = p;
      d.in_segment = true;
      t.last_in = i;
      p.out_segments *= tile_of(d, i == t.last_out, p.bytes, wanted);
      p.bytes *= d.tile;
      ++p.dims;
      if (d.tile < d.extent) bits = d.tile * d.in_stride;
    }
    t.in_bytes = p.bytes;
    t.in_bits = bits | bits_[p.dims];
    t.in_segments = segments_[p.dims];
    t.out_segments = p.out_segments;
    return p.dims > 0;
  }

 private:
  struct prefix {
    int dims;  // in the input's order
    std::int64_t bytes, out_segments;
  };

  // Sets the indices of a dimension in the tile; returns how many output segments they are.
  static std::int64_t tile_of(tile_dim& d, bool ends_output, std::int64_t bytes, std::int64_t wanted) {
    d.tile = d.out_tile;
    std::int64_t segments = 1;
    if (d.tile < d.extent) {
      const std::int64_t indices = ceil_divided(wanted, bytes);
      if (ends_output) {
        segments = ceil_divided(even_tile(d.extent, std::max(indices, d.out_tile), 1), d.out_tile);
        d.tile = std::min(d.extent, segments * d.out_tile);
      } else {
        d.tile = std::max(d.tile, even_tile(d.extent, indices, sector_step(bytes)));
      }
    }
    return d.out_segment ? segments : d.tile;
  }

  prefix last_;  // before the last dimension of the segments
  // Of the dimensions from k on, if they are not in the segments: strides ORed, and input segments.
  std::int64_t bits_[max_tile_dims + 1], segments_[max_tile_dims + 1];
};

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
                     lead = lowest_bit(address_of(a.out) | t.out_bits | 32);
  const std::int64_t sector = std::max<std::int64_t>(1, divided(32, vector));
  const std::int64_t touched = divided(t.out_bytes + 31 - lead + vector, vector);
  p.edges = has_edges(t, lead);
  p.unaligned_ends_x32 = static_cast<int>(32 - lowest_bit(lead | t.out_bytes));
  p.stores = static_cast<int>((touched + sector - 1) & -sector);
  p.units = static_cast<int>(divided(t.out_bytes, t.unit));
  // Odd: eight lanes that fill entries of as many tables write to different banks.
  p.table_pitch = static_cast<int>((ceil_divided(p.units, units) + 1) | 1);
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

// Cubed microseconds of instructions and of the latency of blocks, which overlap with the memory's in part: of
// `issued` blocks on all multiprocessors together, in so many waves.
double cubed_issue_and_latency(double issued, double clocks, double waves, double life, const device_model& device) {
  return cube(issued * clocks / device.clocks_per_us) + cube(waves * life);
}

// The same for vectors that are all complete: no tile takes less.
double least_cubed_issue_and_latency(std::int64_t unit, double bytes, const device_model& device) {
  const int units = units_of_vector(unit);
  const double vectors = bytes / real(units * unit);
  const double clocks = vectors / 32 * (costs.store + units * costs.unit);
  const double life = costs.load * bytes / 16 / 1024 + costs.round * vectors / blocks_threads;
  return cubed_issue_and_latency(1, clocks, 1 / real(device.multiprocessors * max_resident_blocks), life, device);
}

// Microseconds of reading and writing so many bytes.
double copy_of(std::int64_t unit, double bytes, const device_model& device) {
  return costs.copy[place_of(unit)] * 2 * bytes / device.bytes_per_us;
}

constexpr double least_tail = costs.tail * (costs.block + costs.load + costs.round);

constexpr double least_balance_squared = 0.488;  // of an H100: the least that costs were measured at

constexpr std::int64_t least_tile_bytes = 3 << 10, most_tile_bytes = 48 << 10;  // what is worth a block

// The tiles of a movement, tried one by one. `most`: microseconds that tiles must stay below.
class tile_search {
 public:
  tile_search(const permute_args& a, const composite_tile& untiled, const device_model& device, double bytes,
              double most, std::optional<gather_plan>& best)
      : a_(a),
        device_(device),
        bytes_(bytes),
        copy_(copy_of(untiled.unit, bytes, device)),
        balance_squared_(std::max(least_balance_squared, device.balance_squared())),
        least_(most),
        best_(best) {
    p_.tile = untiled;
    p_.tile.out_bytes = 0;
  }

  /// All lengths of output segments that are worth trying.
  void try_all() {
    if (!try_output(512) || !try_output(second_output())) return;
    for (const std::int64_t shorter : {128, 64}) {  // where there is little shared memory
      if (fits_ || !try_output(shorter)) return;
    }
  }

 private:
  /// All tiles whose output segments have about `wanted` bytes; false where no more are possible.
  bool try_output(std::int64_t wanted) {
    const std::int64_t before = p_.tile.out_bytes;
    if (!choose_out_segments(p_.tile, wanted, most_units)) return false;
    if (p_.tile.out_bytes == before) return true;  // the same again
    lay_out_output(p_, a_);
    written_ = costs.sector * p_.unaligned_ends_x32 / real(p_.tile.out_bytes);
    if (fits_ && least_of_output() >= cube(std::max(0.0, least_ - least_tail))) return true;
    std::int64_t tried = 0;
    in_segments_.begin(p_.tile);
    for (const std::int64_t in_bytes : {128, 256, 1024, 2048, 8192, 16384}) {
      // The tile will have at most about in_bytes x in_segments bytes: segments become fewer as they grow.
      if (p_.tile.in_bytes >= in_bytes || (fits_ && in_bytes * p_.tile.in_segments < least_tile_bytes)) continue;
      if (!in_segments_.grow(p_.tile, in_bytes)) return false;
      const std::int64_t tile = p_.tile.bytes();
      if (smallest_ == 0) smallest_ = tile;
      largest_ = tile;
      if (tile == tried) continue;
      if (tried >= least_tile_bytes && tile > most_tile_bytes) break;
      tried = tile;
      if (fits_ && tile < least_tile_bytes) continue;
      if (!try_tile()) break;
    }
    return true;
  }

  /// The length of output segments after the first: shorter where tiles are large although input segments are short,
  /// longer where all are small, since what is contiguous in the input is short.
  std::int64_t second_output() const {
    constexpr std::int64_t small = 6 << 10, large = 20 << 10;
    return smallest_ >= large ? 128 : largest_ < small ? 2048 : 256;
  }

  /// Cubed microseconds, but for the tail, that no tile with these output segments stays below.
  double least_of_output() const {
    const double segments = bytes_ / real(p_.tile.out_bytes);
    const double clocks = segments * (costs.out_segments / 32 + clocks_of_stores(p_));
    const double life = bytes_ * (costs.load / 16384 + costs.block / most_linear_bytes) +
                        segments * p_.stores * costs.round / blocks_threads;
    return cubed_memory(1 + written_ / 2) +
           cubed_issue_and_latency(1, clocks, 1 / real(device_.multiprocessors * max_resident_blocks), life, device_);
  }

  /// False where the tile is too large.
  bool try_tile() {
    const composite_tile& t = p_.tile;
    const std::int64_t aligned = lowest_bit(address_of(a_.in) | t.in_bits | 64);
    const std::int64_t around = aligned == 64 ? (-t.in_bytes & 63) : 64 - aligned;
    const double read = costs.fetch * real(around) / real(t.in_bytes);
    const double memory = 1 + (read + written_) / 2;
    p_.vectors = static_cast<int>((t.in_bytes + 31 - std::min<std::int64_t>(16, aligned)) / 16);
    const double clocks = clocks_of(p_), life = life_of(p_), tail = costs.tail * life;
    const double blocks = bytes_ / real(t.bytes()), most = cube(std::max(0.0, least_ - tail));
    // As if all blocks were full, and as many at once as possible: what costs more then need not be laid out.
    const double waves = blocks / real(device_.multiprocessors * max_resident_blocks);
    const bool could_pay = cubed_memory(memory) + cubed_issue_and_latency(blocks, clocks, waves, life, device_) < most;
    if ((could_pay || !fits_) && !lay_out(p_, device_)) return false;
    fits_ = true;
    if (!could_pay) return true;
    p_.blocks = t.blocks();
    if (p_.blocks > INT32_MAX) return false;
    const double all_cubed = cubed(memory, clocks, life);
    if (all_cubed >= most) return true;
    least_ = p_.microseconds = tail + std::cbrt(all_cubed);
    best_ = p_;
    return true;
  }

  /// Cubed microseconds of memory traffic that takes `factor` copies on the device of the fit. On others, the excess
  /// over a copy is scaled as in candidates::on_device: empirical (docs/planner.md).
  double cubed_memory(double factor) const {
    const double squared = copy_ * copy_ * (1 + (factor * factor - 1) * balance_squared_);
    return squared * std::sqrt(squared);
  }

  /// Cubed microseconds of memory (copies), instructions and latency together, but for the tail. Tiles leave little of
  /// the cache that shared memory is a part of; the last wave and the multiprocessors are not all full.
  double cubed(double memory, double clocks, double life) const {
    const std::int64_t bytes = p_.shared_bytes + reserved_shared_bytes;
    const std::int64_t at_once = resident_blocks(p_.shared_bytes, device_);
    const double each = real(p_.blocks) / device_.multiprocessors, waves = each / real(at_once);
    const double taken = std::min(each, real(at_once)) * real(bytes) / real(device_.shared_bytes);
    const double slowed = memory * (1 + costs.shared * std::max(0.0, taken - costs.free));
    const double issued = (each + costs.uneven * (ceil_of(each) - each)) * device_.multiprocessors;
    return cubed_memory(slowed) +
           cubed_issue_and_latency(issued, clocks, waves + costs.wave * (ceil_of(waves) - waves), life, device_);
  }

  const permute_args& a_;
  const device_model& device_;
  const double bytes_, copy_, balance_squared_;
  gather_plan p_;
  in_segment_growth in_segments_;
  double written_ = 0;                       // sectors that two segments share, for each byte
  bool fits_ = false;                        // some tile does
  std::int64_t smallest_ = 0, largest_ = 0;  // bytes of a tile, whether it fits or not
  double least_;                             // microseconds
  std::optional<gather_plan>& best_;
};

}  // namespace

void plan_gather(const permute_args& a, const composite_tile& untiled, const device_model& device, double most_us,
                 std::optional<gather_plan>& best) {
  const double bytes = real(a.bytes()), copy = copy_of(untiled.unit, bytes, device);
  const double least_cubed = cube(copy) + least_cubed_issue_and_latency(untiled.unit, bytes, device);
  if (least_cubed >= cube(std::max(0.0, most_us - least_tail))) return;
  tile_search(a, untiled, device, bytes, most_us, best).try_all();
  if (best) avoid_bank_conflicts(*best, device);
}

}  // namespace twill::detail
