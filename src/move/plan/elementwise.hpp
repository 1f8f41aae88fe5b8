#pragma once

// What elementwise costs: one thread per unit, so that stores are coalesced and loads are not.

#include "device_model.hpp"
#include "gather.hpp"
#include "move/args.hpp"
#include "transpose_costs.hpp"

namespace twill::detail {

/// Units that a block stores.
constexpr std::int64_t elementwise_block_units = 256;

/// `untiled`: of `args`, in units of unit_of(args).
cost_of_launch cost_of_elementwise(const permute_args& args, const composite_tile& untiled, const device_model& device);

}  // namespace twill::detail
