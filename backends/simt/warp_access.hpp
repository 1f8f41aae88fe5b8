#pragma once

// What the recorder hands to the models: one memory instruction of one warp, as the hardware would see it.

#include <cstdint>

namespace twill::simt {

enum class memory_space : std::uint8_t { global, shared };

struct warp_access {
  static constexpr unsigned max_lanes = 64;
  /// Where the addresses of __shared__ variables begin; those of dynamic shared memory begin at 0.
  static constexpr std::uint64_t static_shared = std::uint64_t{1} << 40;

  memory_space space = memory_space::global;
  bool store = false;
  bool atomic = false;               ///< reads and writes at once; `store` too then
  std::uint8_t bytes = 4;            ///< of each lane: 1, 2, 4, 8 or 16
  std::uint32_t site = 0;            ///< which access of the source: the recorder's number for its line
  std::uint32_t warp = 0;            ///< of the block; a warp has as many lanes as the device's warps
  std::uint32_t interval = 0;        ///< barriers that the block has passed before
  std::uint64_t block = 0;           ///< of the grid, x fastest
  std::uint64_t active = 0;          ///< bit k: lane k takes part
  std::uint64_t address[max_lanes];  ///< of each active lane: of device memory, or of shared memory
};

}  // namespace twill::simt
