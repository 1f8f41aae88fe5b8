// Sums of integers, each size with a kernel of its own, and one kernel for what is asked for less often: products,
// logical and bitwise operations.

#include "dispatch.hpp"

namespace twill::TWILL_BACKEND {

void start_integers(const detail::work_queue& queue, const detail::reduce_args& args, const reduce_meaning& meaning) {
  using namespace kernels;
  if (by_columns(args)) return start_integer_columns(queue, args, meaning);
  if (args.op != reduce_op::sum) return start_rows<viewed_elements>(queue, args, meaning);
  switch (element_bytes(args.in_type)) {
    case 1:
      return start_rows<integer_sums<std::uint8_t>>(queue, args, meaning);
    case 2:
      return start_rows<integer_sums<std::uint16_t>>(queue, args, meaning);
    case 4:
      return start_rows<integer_sums<std::uint32_t>>(queue, args, meaning);
    default:
      return start_rows<integer_sums<std::uint64_t>>(queue, args, meaning);
  }
}

}  // namespace twill::TWILL_BACKEND
