// Column reductions of integers and logical operations, a kernel per operation and element size; one for 16 bytes.

#include "dispatch.hpp"

#include "exact_columns.hpp"

namespace twill::TWILL_BACKEND {
namespace {

template <template <class> class Kind>
void launch_vectors(const detail::work_queue& queue, const detail::reduce_args& args, const op_traits& traits) {
  using kernels::vector_columns;
  switch (element_bytes(args.in_type)) {
    case 1:
      return launch_columns<vector_columns<Kind<std::uint8_t>>>(queue, args, traits);
    case 2:
      return launch_columns<vector_columns<Kind<std::uint16_t>>>(queue, args, traits);
    case 4:
      return launch_columns<vector_columns<Kind<std::uint32_t>>>(queue, args, traits);
    default:
      return launch_columns<vector_columns<Kind<std::uint64_t>>>(queue, args, traits);
  }
}

}  // namespace

void launch_integer_columns(const detail::work_queue& queue, const detail::reduce_args& args, const op_traits& traits) {
  if (element_bytes(args.in_type) > 8) {
    return launch_columns<kernels::vector_columns<kernels::mapped_elements>>(queue, args, traits);
  }
  switch (args.op) {
    case reduce_op::sum:
      return launch_vectors<kernels::column_sums>(queue, args, traits);
    case reduce_op::product:
      return launch_vectors<kernels::column_products>(queue, args, traits);
    case reduce_op::min:
    case reduce_op::max:
      return launch_vectors<kernels::column_min>(queue, args, traits);
    default:
      return launch_vectors<kernels::column_bits>(queue, args, traits);
  }
}

}  // namespace twill::TWILL_BACKEND
