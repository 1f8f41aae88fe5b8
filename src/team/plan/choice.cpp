#include "choice.hpp"

#include <algorithm>

#include "exchange.hpp"

namespace twill::detail {

double seconds_of(const transport_cost& cost, const team_layout& layout) {
  double most = 0;
  for (int rank = 0; rank < layout.size; ++rank) {
    double seconds = cost.start;
    for (const piece& to : pieces_from(layout, rank)) {
      if (to.peer != rank) seconds += cost.each + static_cast<double>(to.bytes) / cost.bandwidth;
    }
    most = std::max(most, seconds);
  }
  return most;
}

}  // namespace twill::detail
