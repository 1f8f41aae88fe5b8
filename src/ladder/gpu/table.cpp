#include "table.hpp"

namespace twill::TWILL_BACKEND {

const detail::ladder_table& kernel_ladders() {
  static const detail::ladder_table table{transpose_ladder(), reduce_ladder(), array_ladder(), {}};
  return table;
}

}  // namespace twill::TWILL_BACKEND
