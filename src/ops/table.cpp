#include "ops/table.hpp"

namespace twill::TWILL_BACKEND {

const detail::operation_table& operations() {
  static const detail::operation_table table{&transpose, &transpose_in_place, &permute, &copy, &reverse, &scan,
                                             &sieve,     &scan_scratch,       &reduce};
  return table;
}

}  // namespace twill::TWILL_BACKEND
