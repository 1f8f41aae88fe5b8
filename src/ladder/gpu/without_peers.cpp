// The ladders where no vendor has a library of its own: on simulated devices.

#include "table.hpp"

namespace twill::TWILL_BACKEND {

const detail::ladder_table& ladders() {
  return kernel_ladders();
}

}  // namespace twill::TWILL_BACKEND
