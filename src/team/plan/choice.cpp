#include "choice.hpp"

#include <algorithm>

#include "exchange.hpp"

namespace twill::detail {

double seconds_of(const transport_cost& cost, const team_layout& layout, const std::vector<int>& nodes) {
  double most = 0;
  for (int rank = 0; rank < layout.size; ++rank) {
    double seconds = cost.start;
    for (const piece& to : pieces_from(layout, rank)) {
      const auto a = static_cast<std::size_t>(rank), b = static_cast<std::size_t>(to.peer);
      if (to.peer != rank && (nodes.empty() || nodes[a] == nodes[b]))
        seconds += cost.each + static_cast<double>(to.bytes) / cost.bandwidth;
    }
    most = std::max(most, seconds);
  }
  return most;
}

}  // namespace twill::detail
