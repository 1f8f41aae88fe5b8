// The places of minima and maxima.

#include "ops/reduce_start.hpp"

namespace twill::TWILL_BACKEND {

void start_places(const detail::work_queue& queue, const detail::reduce_args& args, const reduce_meaning& meaning) {
  using namespace kernels;
  if (by_columns(args)) return start_columns<place_columns>(queue, args, meaning);
  switch (element_bytes(args.in_type)) {
    case 1:
      return start_rows<first_places<std::uint8_t>>(queue, args, meaning);
    case 2:
      return start_rows<first_places<std::uint16_t>>(queue, args, meaning);
    case 4:
      return start_rows<first_places<std::uint32_t>>(queue, args, meaning);
    default:
      return start_rows<first_places<std::uint64_t>>(queue, args, meaning);
  }
}

}  // namespace twill::TWILL_BACKEND
