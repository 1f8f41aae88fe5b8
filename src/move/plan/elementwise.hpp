#pragma once

// What the kernels without a tile cost. Their stores are coalesced, their loads are not: elementwise has one thread per
// unit, elementwise-vectors one per vector of the output.

#include "device_model.hpp"
#include "gather.hpp"
#include "move/args.hpp"
#include "transpose_costs.hpp"

namespace twill::detail {

/// Units that a block stores.
constexpr std::int64_t elementwise_block_units = 256;

/// A lower bound of cost_of_elementwise for these runs. `unit`: unit_of(args).
cost_of_launch least_of_elementwise(const permute_args& args, std::int64_t unit);

/// `untiled`: of `args`, in units of unit_of(args).
cost_of_launch cost_of_elementwise(const permute_args& args, const composite_tile& untiled, const device_model& device);

constexpr int most_vector_dims = 3;  // dimensions that an output run may span

/// The leading dimensions that together are contiguous in the output, and the number of units in them.
struct output_run {
  int dims;
  std::int64_t units;
};
output_run output_run_of(const composite_tile& untiled);

/// Whether elementwise-vectors applies: units of up to 8 bytes, output runs of at least 64 bytes.
bool takes_elementwise_vectors(const composite_tile& untiled);

/// A lower bound of cost_of_elementwise_vectors: launch and instructions.
cost_of_launch least_of_elementwise_vectors(const composite_tile& untiled);

/// `least`: least_of_elementwise_vectors.
cost_of_launch cost_of_elementwise_vectors(const composite_tile& untiled, const cost_of_launch& least,
                                           const device_model& device);

}  // namespace twill::detail
