#pragma once

// What a run costs by transports that reach the peers' memory: plain arithmetic on the layout, the same on all ranks.

#include <vector>

#include "layout.hpp"

namespace twill::detail {

/// A run of the rank that sends most takes start + peers * each + bytes / bandwidth.
struct transport_cost {
  double start, each;  ///< seconds: of a run, and for each peer that is sent to
  double bandwidth;    ///< bytes that leave a device, per second, all devices sending
};

/// Measured on 4 H200 (NVLink 4, all to all): docs/global-transpose.md. What matters is their ratio.
constexpr transport_cost direct_cost{12e-6, 0, 355e9};
constexpr transport_cost copy_cost{60e-6, 60e-6, 376e9};

/// Pieces between the ranks of one node count; `nodes` has that of each rank, and is empty where all are on one.
double seconds_of(const transport_cost& cost, const team_layout& layout, const std::vector<int>& nodes = {});

}  // namespace twill::detail
