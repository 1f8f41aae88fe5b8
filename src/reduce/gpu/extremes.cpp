// Minima and maxima. The kernels are those of integers: keys order as unsigned numbers, whatever they stand for.

#include "dispatch.hpp"

namespace twill::TWILL_BACKEND {

void start_least(const detail::work_queue& queue, const detail::reduce_args& args, const reduce_meaning& meaning) {
  using namespace kernels;
  if (by_columns(args)) return start_integer_columns(queue, args, meaning);
  switch (element_bytes(args.in_type)) {
    case 1:
      return start_rows<least_keys<std::uint8_t>>(queue, args, meaning);
    case 2:
      return start_rows<least_keys<std::uint16_t>>(queue, args, meaning);
    case 4:
      return start_rows<least_keys<std::uint32_t>>(queue, args, meaning);
    default:
      return start_rows<least_keys<std::uint64_t>>(queue, args, meaning);
  }
}

}  // namespace twill::TWILL_BACKEND
