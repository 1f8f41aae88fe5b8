#pragma once

// Candidates of the kernels that transpose matrices: all that apply to a shape, each with its cost.

#include <cstdint>

#include "device_model.hpp"
#include "family.hpp"
#include "move/args.hpp"

namespace twill::detail {

struct transpose_candidates {
  int count = 0;
  struct {
    family kind;
    double launch;  // us
    double factor;  // of the time of a copy
  } list[12];
};

transpose_candidates plan_transposes(const transpose_args& args, const device_model& device);

/// Whether the kernel of small packed matrices applies: 1, 2, 4, 8 or 16 bytes, from and to multiples of 16.
bool is_staged(const transpose_args& args, std::int64_t shared_bytes);

/// The widest word, of 1 to 16 bytes, in which all elements are aligned and whole.
std::int64_t transpose_unit(const transpose_args& args);

constexpr std::int64_t most_tiny_units = 128;  // elementwise_batch: of a matrix

// Shared memory of blocks, which the kernels check against their own sizes.
constexpr std::int64_t tile_bytes_4byte = 8320;                               // tiled_4byte, of 1 byte
constexpr std::int64_t tile_bytes_misaligned[4] = {18448, 9232, 8720, 8720};  // of 1, 2, 4 and 8 bytes
constexpr std::int64_t short_window = 4096, long_window = 16384;              // staged
constexpr std::int64_t band_pitch = 32 * 16 + 4, band_bytes = 31 * 16;        // staged_cols

}  // namespace twill::detail
