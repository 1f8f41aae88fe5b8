#include "table.hpp"

namespace twill::cpu {

const detail::ladder_table& ladders() {
  static const detail::ladder_table table{transpose_ladder(), reduce_ladder(), array_ladder(), {}};
  return table;
}

}  // namespace twill::cpu
