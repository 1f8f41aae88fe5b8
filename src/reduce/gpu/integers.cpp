// Sums of integers, a kernel per element size, and one kernel for products, logical and bitwise operations.

#include "dispatch.hpp"

namespace twill::TWILL_BACKEND {

void launch_integers(const detail::work_queue& queue, const detail::reduce_args& args, const op_traits& traits) {
  using namespace kernels;
  if (by_columns(args)) return launch_integer_columns(queue, args, traits);
  if (args.op != reduce_op::sum) return launch_rows<mapped_elements>(queue, args, traits);
  switch (element_bytes(args.in_type)) {
    case 1:
      return launch_rows<integer_sums<std::uint8_t>>(queue, args, traits);
    case 2:
      return launch_rows<integer_sums<std::uint16_t>>(queue, args, traits);
    case 4:
      return launch_rows<integer_sums<std::uint32_t>>(queue, args, traits);
    default:
      return launch_rows<integer_sums<std::uint64_t>>(queue, args, traits);
  }
}

}  // namespace twill::TWILL_BACKEND
