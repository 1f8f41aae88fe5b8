#include "gather.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "integers.hpp"

namespace twill::detail {
namespace {

constexpr std::int64_t most_units = 1024;  // of an output segment: entries of its table
constexpr std::int64_t blocks_threads = 256;
constexpr gather_costs costs;

double real(std::int64_t value) {
  return static_cast<double>(value);
}
double ceil_of(double value) {  // not negative, below 2^63
  const auto floor = static_cast<std::int64_t>(value);
  return real(floor) + (real(floor) < value ? 1 : 0);
}

// A segment is long enough at this share of the bytes wanted: another dimension would make it far longer.
bool is_enough(std::int64_t bytes, std::int64_t wanted) {
  return bytes * 8 >= wanted * 5;
}

// About `wanted` indices, in multiples of `step`, such that all tiles are nearly equal; a last tile of up to `rest`
// indices is merged into the others.
std::int64_t even_tile(std::int64_t extent, std::int64_t wanted, std::int64_t step, std::int64_t rest = 0) {
  if (wanted >= extent) return extent;
  std::int64_t tiles = ceil_divided(extent, wanted);
  if (extent - (tiles - 1) * wanted <= rest) --tiles;
  const std::int64_t even = ceil_divided(extent, tiles);
  return step == 1 ? even : std::min(extent, ceil_divided(even, step) * step);
}

// At least `step`.
std::int64_t rounded_down(std::int64_t value, std::int64_t step) {
  return step == 1 ? value : std::max(step, divided(value, step) * step);
}

// Indices after which a segment of `bytes` for each ends at a sector of 32 bytes.
std::int64_t sector_step(std::int64_t bytes) {
  return bytes < 32 ? divided(32, bytes) : 1;
}

// Chooses what the segments of a tile hold.
class segment_choice {
 public:
  explicit segment_choice(composite_tile& t) : t_(t) {
    in_bits_[t.rank] = out_bits_[t.rank] = 0;
    segments_[t.rank] = 1;
    for (int k = t.rank; k-- > 0;) {
      in_bits_[k] = in_bits_[k + 1] | t.dims[t.in_order[k]].in_stride;
      out_bits_[k] = out_bits_[k + 1] | t.dims[k].out_stride;
    }
  }

  /// Output segments of about `out_bytes`, at most `most_units`; then input segments, as long as all of them together
  /// take about `vectors` vectors of 16 bytes. False where no units are contiguous.
  bool choose(std::int64_t out_bytes, std::int64_t vectors) { return choose_out(out_bytes) && choose_in(vectors); }

 private:
  bool choose_out(std::int64_t wanted) {
    std::int64_t bytes = t_.unit, partial = 0;  // distance of segments that do not hold all of their last dimension
    int i = 0;
    for (; i < t_.rank && partial == 0; ++i) {
      tile_dim& d = t_.dims[i];
      if (d.out_stride != bytes || (i > 0 && is_enough(bytes, wanted))) break;
      d.tile = d.out_tile = indices_of_output(d, bytes, wanted);
      d.out_segment = true;
      t_.last_out = i;
      bytes *= d.out_tile;
      if (d.out_tile < d.extent) partial = d.out_tile * d.out_stride;
    }
    t_.out_bytes = bytes;
    t_.out_bits = out_bits_[i] | partial;
    for (int k = i; k < t_.rank; ++k) {
      t_.dims[k].tile = t_.dims[k].out_tile = 1;
      t_.dims[k].out_segment = false;
    }
    return i > 0;
  }

  std::int64_t indices_of_output(const tile_dim& d, std::int64_t bytes, std::int64_t wanted) const {
    const std::int64_t step = sector_step(bytes), most = most_units * t_.unit;
    const std::int64_t indices = even_tile(d.extent, ceil_divided(wanted, bytes), step);
    if (indices * bytes <= most) return indices;
    return std::max<std::int64_t>(1, divided(divided(most, bytes), step) * step);
  }

  // Dimensions that the output's segments hold completely are passed; the one that ends them grows by whole segments.
  bool choose_in(std::int64_t vectors) {
    for (int k = t_.rank; k-- > 0;) {
      tile_dim& d = t_.dims[t_.in_order[k]];
      d.in_segment = false;
      segments_[k] = segments_[k + 1] * d.out_tile;
    }
    std::int64_t bytes = t_.unit, partial = 0;
    int k = 0;
    t_.out_segments = 1;
    for (; k < t_.rank && partial == 0; ++k) {
      tile_dim& d = t_.dims[t_.in_order[k]];
      if (d.in_stride != bytes) break;
      const std::int64_t most = most_bytes(vectors, k);
      if (k > 0 && is_enough(bytes, most)) break;
      d.in_segment = true;
      t_.last_in = t_.in_order[k];
      if (d.tile < d.extent) t_.out_segments *= extend(d, bytes, std::max<std::int64_t>(1, divided(most, bytes)));
      bytes *= d.tile;
      if (d.tile < d.extent) partial = d.tile * d.in_stride;
    }
    t_.in_bytes = bytes;
    t_.in_bits = in_bits_[k] | partial;
    t_.in_segments = segments_[k];
    return k > 0;
  }

  // Bytes of an input segment that ends with the dimension at place `k`, at most.
  std::int64_t most_bytes(std::int64_t vectors, int k) const {
    const std::int64_t unaligned = 16 - lowest_bit(in_bits_[k + 1] | 16);  // take a vector more
    return std::max<std::int64_t>(0, divided(vectors, segments_[k + 1]) * 16 - unaligned);
  }

  // Puts about `indices` of a dimension into the tile, which holds fewer; returns how many output segments they are.
  static std::int64_t extend(tile_dim& d, std::int64_t bytes, std::int64_t indices) {
    if (!d.out_segment) {
      const std::int64_t step = indices < sector_step(bytes) ? 1 : sector_step(bytes);
      const std::int64_t wanted = rounded_down(indices, step);
      d.tile = even_tile(d.extent, wanted, step, wanted / 4);
      return d.tile;
    }
    const std::int64_t wanted = std::max<std::int64_t>(1, divided(indices, d.out_tile));
    const std::int64_t segments = even_tile(ceil_divided(d.extent, d.out_tile), wanted, 1, wanted / 4);
    d.tile = std::min(d.extent, segments * d.out_tile);
    return segments;
  }

  composite_tile& t_;
  // Of the dimensions from each place on, ORed: strides in the input, in its order, and in the output.
  std::int64_t in_bits_[max_tile_dims + 1], out_bits_[max_tile_dims + 1];
  std::int64_t segments_[max_tile_dims + 1];  // of the input, where these dimensions are not part of them
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
  const int unit_log2 = place_of(t.unit), vector_log2 = t.unit == 1 ? 3 : 4;  // units_of_vector
  const std::int64_t lead = lowest_bit(address_of(a.out) | t.out_bits | 32);
  const std::int64_t touched = ((t.out_bytes + 31 - lead) >> vector_log2) + 1, sector = 32 >> vector_log2;
  p.edges = has_edges(t, lead);
  p.unaligned_ends_x32 = static_cast<int>(32 - lowest_bit(lead | t.out_bytes));
  p.stores = static_cast<int>((touched + sector - 1) & -sector);
  p.units = static_cast<int>(t.out_bytes >> unit_log2);
  // Odd: eight lanes that fill entries of as many tables write to different banks.
  p.table_pitch = static_cast<int>((((t.out_bytes - 1) >> vector_log2) + 2) | 1);
}

// Clocks of a block's instructions if output segments were `scale` times as long (`stores` vectors each), and input
// segments as much shorter.
double clocks_of(const gather_plan& p, double stores, double scale = 1) {
  const composite_tile& t = p.tile;
  const int units = units_of_vector(t.unit);
  const double in_segments = scale * real(t.in_segments), out_segments = real(t.out_segments) / scale;
  return in_segments / 32 * costs.in_segments + out_segments / 32 * costs.out_segments +
         scale * real(p.units) / 32 * costs.units * (1 + units / 8.0) +
         out_segments * stores / 32 * (costs.store + units * costs.unit) +
         (p.edges ? out_segments * 2 * units / 32 * costs.edge : 0);
}

// Microseconds of a block that runs alone.
double life_of(const gather_plan& p) {
  return costs.block + costs.load * real(ceil_divided(p.tile.in_segments * p.vectors, 1024)) +
         costs.round * real(ceil_divided(p.tile.out_segments * p.stores, blocks_threads));
}

// Microseconds of instructions, of all multiprocessors together.
double issue_of(double clocks, const device_model& device) {
  return clocks / device.clocks_per_us;
}

// The same for vectors that are all complete: no tile takes less.
double least_issue(std::int64_t unit, double bytes, const device_model& device) {
  const int units = units_of_vector(unit);
  return issue_of(bytes / real(units * unit) / 32 * (costs.store + units * costs.unit), device);
}

// Microseconds of reading and writing so many bytes.
double copy_of(std::int64_t unit, double bytes, const device_model& device) {
  return costs.copy[place_of(unit)] * 2 * bytes / device.bytes_per_us;
}

constexpr double least_tail = costs.tail * (costs.block + costs.load + costs.round);

constexpr double least_balance_squared = 0.488;  // of an H100: the least that costs were measured at

// Vectors of a tile at first: what a block loads at once, fewer where as many blocks as registers allow would not fit
// in shared memory, each with 20 bytes a vector (with tables).
std::int64_t first_vectors(const device_model& device) {
  constexpr std::int64_t loaded_at_once = 1024, bytes = 20;
  return std::clamp<std::int64_t>(device.shared_bytes / (max_resident_blocks * bytes), 1, loaded_at_once);
}

bool is_same_tile(const composite_tile& a, const composite_tile& b) {  // without branches
  return ((a.in_bytes ^ b.in_bytes) | (a.in_segments ^ b.in_segments) | (a.out_bytes ^ b.out_bytes) |
          (a.out_segments ^ b.out_segments)) == 0;
}

// The tiles of a movement, tried one by one.
class tile_search {
 public:
  tile_search(const permute_args& a, const composite_tile& untiled, const device_model& device, double bytes,
              std::optional<gather_plan>& best)
      : a_(a),
        device_(device),
        bytes_(bytes),
        copy_(copy_of(untiled.unit, bytes, device)),
        balance_squared_(std::max(least_balance_squared, device.balance_squared())),
        p_{untiled, 0, 0, 0, 0, 0, 0, 0, false, 0, 0, 0, 0},
        segments_(p_.tile),
        best_(best) {}

  /// First a tile whose output segments are about as long as those of the input, or up to four times as long; the same
  /// size with longer or shorter ones; then a larger tile, or smaller ones where blocks would not fill the device.
  /// Goes on from the first tile only where that could lead to less than `most_us`.
  void search(double most_us) {
    std::int64_t out_bytes = 512, vectors = first_vectors(device_);
    while (out_bytes * out_bytes > 64 * vectors * p_.tile.unit) out_bytes /= 2;
    try_tile(out_bytes, vectors);
    while (!best_ && out_bytes > 32) try_tile(out_bytes /= 2, vectors /= 2);  // where there is little shared memory
    if (!best_ || is_hopeless(most_us)) return;
    out_bytes = try_lengths(out_bytes, vectors);
    if (best_->blocks < std::int64_t{max_resident_blocks} * device_.multiprocessors) {
      shrink(out_bytes, vectors);
    } else {
      enlarge(out_bytes, vectors);
    }
  }

 private:
  /// The first tile takes far longer than another kernel. Small ones, whose segments could not grow as wanted, can be
  /// improved by more.
  bool is_hopeless(double most_us) const { return least_ > (best_->tile.bytes() < 4096 ? 3 : 1.25) * most_us; }

  /// Output segments twice as long, and twice again, or else half as long; returns the length. Where the first tile is
  /// nearly as fast as a copy, only those that are expected to pay.
  std::int64_t try_lengths(std::int64_t out_bytes, std::int64_t vectors) {
    constexpr double near_copy = 1.3, slack = 1.03;  // copies; cubed: 1 % more time
    const bool is_near = least_ < near_copy * copy_;
    const auto may_pay = [&](double scale) { return !is_near || estimated(scale) < slack * estimated(1); };
    if (may_pay(2) && try_tile(2 * out_bytes, vectors)) {
      return (may_pay(2) && try_tile(4 * out_bytes, vectors) ? 4 : 2) * out_bytes;
    }
    return may_pay(0.5) && try_tile(out_bytes / 2, vectors) ? out_bytes / 2 : out_bytes;
  }

  /// About what memory and instructions of the best tile would take, in cubed microseconds, if output segments were
  /// `scale` times as long, and input segments as much shorter.
  double estimated(double scale) const {
    const composite_tile& t = best_->tile;
    const double stores = scale * real(t.out_bytes) / real(units_of_vector(t.unit) * t.unit) + 1;
    const double clocks = bytes_ / real(t.bytes()) * clocks_of(*best_, stores, scale);
    return cubed_memory(memory_of(*best_, scale)) + cube(issue_of(clocks, device_));
  }

  void shrink(std::int64_t out_bytes, std::int64_t vectors) {
    for (int i = 0; i < 3 && try_tile(out_bytes * 2 / 3, vectors * 2 / 3); ++i) {
      out_bytes = out_bytes * 2 / 3;
      vectors = vectors * 2 / 3;
    }
  }

  /// Of units of 1 and 2 bytes, far longer input segments may pay too.
  void enlarge(std::int64_t out_bytes, std::int64_t vectors) {
    try_tile(out_bytes * 3 / 2, vectors * 3 / 2);
    const tile_dim& last = best_->tile.dims[best_->tile.last_in];
    if (p_.tile.unit <= 2 && last.tile < last.extent) try_tile(out_bytes, vectors * 5 / 2);
  }

  /// Whether the tile is the best so far, or the same as the best: the search goes on from it.
  bool try_tile(std::int64_t out_bytes, std::int64_t vectors) {
    const composite_tile& t = p_.tile;
    if (!segments_.choose(out_bytes, vectors)) return false;
    if (best_ && is_same_tile(t, best_->tile)) return true;
    lay_out_output(p_, a_);
    p_.vectors = static_cast<int>((t.in_bytes + 31 - std::min<std::int64_t>(16, in_alignment(t))) / 16);
    const double memory = memory_of(p_), clocks = clocks_of(p_, p_.stores), life = life_of(p_),
                 tail = costs.tail * life;
    if (!lay_out(p_, device_)) return false;
    p_.blocks = t.blocks();
    if (p_.blocks > INT32_MAX) return false;
    const double all_cubed = cubed(memory, clocks, life);
    if (all_cubed >= cube(std::max(0.0, least_ - tail))) return false;
    least_ = p_.microseconds = tail + cube_root(all_cubed);
    best_.emplace(p_);
    return true;
  }

  /// That of the ends of input segments, in bytes, at most 64.
  std::int64_t in_alignment(const composite_tile& t) const { return lowest_bit(address_of(a_.in) | t.in_bits | 64); }

  /// Memory traffic, in copies: one, and half of the bytes read around input segments and of the sectors that two
  /// output segments share, each relative to the segment's bytes. `scale`: as in clocks_of.
  double memory_of(const gather_plan& p, double scale = 1) const {
    const composite_tile& t = p.tile;
    const std::int64_t aligned = in_alignment(t), around = aligned == 64 ? (-t.in_bytes & 63) : 64 - aligned;
    const double read = scale * costs.fetch * real(around) / real(t.in_bytes);
    return 1 + (read + costs.sector * p.unaligned_ends_x32 / (scale * real(t.out_bytes))) / 2;
  }

  /// Cubed microseconds of memory traffic that takes `factor` copies on the device of the fit. On others, the excess
  /// over a copy is scaled as in candidates::corrected_us: empirical (docs/planner.md).
  double cubed_memory(double factor) const {
    const double squared = copy_ * copy_ * (1 + (factor * factor - 1) * balance_squared_);
    return squared * std::sqrt(squared);
  }

  /// Cubed microseconds of memory (copies), instructions and the latency of blocks together, but for the tail: they
  /// overlap in part. Tiles leave little of the cache that shared memory is a part of; the last wave and the
  /// multiprocessors are not all full.
  double cubed(double memory, double clocks, double life) const {
    const std::int64_t bytes = p_.shared_bytes + reserved_shared_bytes;
    const std::int64_t at_once = resident_blocks(p_.shared_bytes, device_);
    const double each = real(p_.blocks) / device_.multiprocessors, waves = each / real(at_once);
    const double taken = std::min(each, real(at_once)) * real(bytes) / real(device_.shared_bytes);
    const double slowed =
        memory * (1 + costs.shared * std::max(0.0, taken - costs.free)) * (1 + costs.unfilled * unfilled(waves));
    const double issued = (each + costs.uneven * (ceil_of(each) - each)) * device_.multiprocessors;
    const double counted = waves > 1 ? waves + costs.wave * (ceil_of(waves) - waves) : 0;  // one wave: only the tail
    return cubed_memory(slowed) + cube(issue_of(issued * clocks, device_)) + cube(counted * life);
  }

  /// The share of the first wave that is missing, where the next launch's blocks do not take its place.
  double unfilled(double waves) const { return waves >= 1 || (device_.overlaps && waves <= 0.5) ? 0 : 1 - waves; }

  const permute_args& a_;
  const device_model& device_;
  const double bytes_, copy_, balance_squared_;
  gather_plan p_;
  segment_choice segments_;
  double least_ = HUGE_VAL;  // microseconds
  std::optional<gather_plan>& best_;
};

}  // namespace

void plan_gather(const permute_args& a, const composite_tile& untiled, const device_model& device, std::int64_t bytes,
                 double most_us, std::optional<gather_plan>& best) {
  const double moved = real(bytes), copy = copy_of(untiled.unit, moved, device);
  const double least_cubed = cube(copy) + cube(least_issue(untiled.unit, moved, device));
  if (least_cubed >= cube(std::max(0.0, most_us - least_tail))) return;
  tile_search(a, untiled, device, moved, best).search(most_us);
  if (best && best->microseconds >= most_us) best.reset();
  if (best) avoid_bank_conflicts(*best, device);
}

}  // namespace twill::detail
