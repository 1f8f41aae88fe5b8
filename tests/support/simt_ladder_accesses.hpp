#pragma once

// The accesses of the transpose ladder's kernels on a square of whole tiles, written out as loops: what a recorder
// would report, without one.

#include <cstdint>
#include <string>

#include "backends/simt/warp_access.hpp"

namespace support {

struct ladder_launch {
  std::string rung;
  std::int64_t extent = 0;  ///< rows and columns
  int element_bytes = 4;
  int block_x = 32, block_y = 8;
  int repeats = 1;
  int warp_lanes = 32;

  int tile() const { return block_x; }
  std::int64_t tiles() const { return extent / tile(); }
  std::int64_t blocks() const { return tiles() * tiles(); }
  int threads() const { return block_x * block_y; }
};

/// Emits the accesses of one block, in the order of the program of each warp.
template <class Emit>
class ladder_block {
 public:
  ladder_block(const ladder_launch& launch, std::uint64_t block, Emit& emit) : l_(launch), block_(block), emit_(emit) {
    const auto tiles = static_cast<std::uint64_t>(l_.tiles());
    const bool diagonal = l_.rung == "diagonal";
    tile_row_ = static_cast<std::int64_t>(diagonal ? block % tiles : block / tiles) * l_.tile();
    const std::uint64_t x = diagonal ? (block / tiles + block % tiles) % tiles : block % tiles;
    tile_col_ = static_cast<std::int64_t>(x) * l_.tile();
  }

  void run() {
    const int warps = (l_.threads() + l_.warp_lanes - 1) / l_.warp_lanes;
    for (int warp = 0; warp < warps; ++warp) {
      interval_ = 0;
      for (int repeat = 0; repeat < l_.repeats; ++repeat) run_warp(warp, repeat);
    }
  }

 private:
  static constexpr std::uint64_t in_base = std::uint64_t{1} << 36, out_base = std::uint64_t{1} << 37;

  template <class Address>
  void each_lane(int warp, twill::simt::memory_space space, bool store, unsigned site, Address address) {
    twill::simt::warp_access access;
    access.space = space;
    access.store = store;
    access.bytes = static_cast<std::uint8_t>(l_.element_bytes);
    access.site = site;
    access.warp = static_cast<std::uint32_t>(warp);
    access.interval = interval_;
    access.block = block_;
    for (int lane = 0; lane < l_.warp_lanes; ++lane) {
      const int thread = warp * l_.warp_lanes + lane;
      if (thread >= l_.threads()) continue;
      access.active |= std::uint64_t{1} << lane;
      access.address[lane] = address(thread % l_.block_x, thread / l_.block_x);
    }
    emit_(access);
  }
  std::uint64_t element(std::uint64_t base, std::int64_t row, std::int64_t col) const {
    return base + static_cast<std::uint64_t>((row * l_.extent + col) * l_.element_bytes);
  }
  std::uint64_t shared(std::int64_t row, std::int64_t col) const {
    const int pad = l_.rung == "coalesced" || l_.rung == "copy-shared" ? 0 : 1;
    return twill::simt::warp_access::static_shared +
           static_cast<std::uint64_t>((row * (l_.tile() + pad) + col) * l_.element_bytes);
  }

  void run_warp(int warp, int repeat) {
    const int steps = l_.tile() / l_.block_y;
    if (l_.rung == "naive-row" || l_.rung == "naive-col") {
      for (int i = 0; i < steps; ++i) {
        load(warp, i);
        store(warp, i);
      }
      return;
    }
    if (l_.rung != "copy" && repeat > 0) ++interval_;
    for (int i = 0; i < steps; ++i) load(warp, i);
    if (l_.rung != "copy") {
      for (int i = 0; i < steps; ++i) store_tile(warp, i);
      ++interval_;
    }
    if (l_.rung == "unrolled") {
      for (int i = 0; i < steps; ++i) load_tile(warp, i);
      for (int i = 0; i < steps; ++i) store(warp, i);
      return;
    }
    for (int i = 0; i < steps; ++i) {
      if (l_.rung != "copy") load_tile(warp, i);
      store(warp, i);
    }
  }
  void load(int warp, int i) {
    const bool by_columns = l_.rung == "naive-col";
    each_lane(warp, twill::simt::memory_space::global, false, 1, [&](int x, int y) {
      y += i * l_.block_y;
      return by_columns ? element(in_base, tile_row_ + x, tile_col_ + y)
                        : element(in_base, tile_row_ + y, tile_col_ + x);
    });
  }
  void store_tile(int warp, int i) {
    each_lane(warp, twill::simt::memory_space::shared, true, 2,
              [&](int x, int y) { return shared(y + i * l_.block_y, x); });
  }
  void load_tile(int warp, int i) {
    const bool straight = l_.rung == "copy-shared" || l_.rung == "coarse-grained";
    each_lane(warp, twill::simt::memory_space::shared, false, 3, [&](int x, int y) {
      y += i * l_.block_y;
      return straight ? shared(y, x) : shared(x, y);
    });
  }
  void store(int warp, int i) {
    const bool in_place = l_.rung == "copy" || l_.rung == "copy-shared" || l_.rung == "fine-grained";
    each_lane(warp, twill::simt::memory_space::global, true, 4, [&](int x, int y) {
      y += i * l_.block_y;
      if (in_place) return element(out_base, tile_row_ + y, tile_col_ + x);
      if (l_.rung == "naive-row") return element(out_base, tile_col_ + x, tile_row_ + y);
      return element(out_base, tile_col_ + y, tile_row_ + x);
    });
  }

  const ladder_launch& l_;
  std::uint64_t block_;
  Emit& emit_;
  std::int64_t tile_row_, tile_col_;
  std::uint32_t interval_ = 0;
};

/// Calls emit(const warp_access&) for the blocks `first` to `last - 1` of a launch.
template <class Emit>
void emit_ladder(const ladder_launch& launch, std::uint64_t first, std::uint64_t last, Emit&& emit) {
  for (std::uint64_t block = first; block < last; ++block) ladder_block<Emit>(launch, block, emit).run();
}

}  // namespace support
