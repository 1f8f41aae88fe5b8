#pragma once

// What the kernels without a tile cost. Their stores are coalesced, their loads are not: elementwise has one thread per
// unit, elementwise-vectors one per vector of the output.

#include "device_model.hpp"
#include "gather.hpp"
#include "move/args.hpp"

namespace twill::detail {

/// Units that a block stores.
constexpr std::int64_t elementwise_block_units = 256;

constexpr int most_vector_dims = 3;  // dimensions that an output run may span

/// The leading dimensions that together are contiguous in the output, and the number of units in them.
struct output_run {
  int dims;
  std::int64_t units;
};
output_run output_run_of(const composite_tile& untiled);

/// Lower bounds of the costs: launch and instructions. `unit`: unit_of(args); `untiled`: in these units.
cost_of_launch least_of_elementwise(const permute_args& args, std::int64_t unit);
cost_of_launch least_of_elementwise_vectors(const composite_tile& untiled);

}  // namespace twill::detail
