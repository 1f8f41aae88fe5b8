#pragma once

#include <cstdint>

#include <twill/device.hpp>

namespace twill {

/// The order in which a simulated device runs what real devices run at once: the threads of a block from one barrier
/// to the next, and the blocks of a grid.
enum class interleaving {
  forward,   ///< ascending, as a loop would
  reverse,   ///< descending
  shuffled,  ///< in an order drawn from a seed, another one for each block and barrier interval
};

/// Chooses the order for launches on a simulated device from now on; a kernel with a race gives other results under
/// another order. `seed` is for `shuffled`: the same seed gives every block the same orders again, whatever the number
/// of OS threads. (Which blocks run at the same time, and so what they race for, is up to the OS.)
/// The environment variable TWILL_SIMT_ORDER ("forward", "reverse", "shuffled", "shuffled:SEED") sets the order that a
/// device starts with; without it that is `forward`.
/// Throws: unsupported when `on` is not a simulated device.
void set_interleaving(const device& on, interleaving order, std::uint64_t seed = 0);

}  // namespace twill
