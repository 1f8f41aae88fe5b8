// Minimum and maximum of all types: integer kernels on keys that order like the elements.

#include "dispatch.hpp"

#include "exact_rows.hpp"

namespace twill::TWILL_BACKEND {

void launch_min(const detail::work_queue& queue, const detail::reduce_args& args, const op_traits& traits) {
  using namespace kernels;
  if (by_columns(args)) return launch_integer_columns(queue, args, traits);
  switch (element_bytes(args.in_type)) {
    case 1:
      return launch_rows<min_keys<std::uint8_t>>(queue, args, traits);
    case 2:
      return launch_rows<min_keys<std::uint16_t>>(queue, args, traits);
    case 4:
      return launch_rows<min_keys<std::uint32_t>>(queue, args, traits);
    default:
      return launch_rows<min_keys<std::uint64_t>>(queue, args, traits);
  }
}

}  // namespace twill::TWILL_BACKEND
