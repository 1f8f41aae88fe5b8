// Column reductions of integers: vectorised sums, minima and maxima of aligned rows, and one kernel for all other
// operations and for misaligned rows.

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
  const bool aligned = problem_of(args, traits).aligned;
  if (aligned && args.op == reduce_op::sum) return launch_vectors<kernels::column_sums>(queue, args, traits);
  const bool least = args.op == reduce_op::min || args.op == reduce_op::max;
  if (aligned && least) return launch_vectors<kernels::column_min>(queue, args, traits);
  launch_columns<kernels::mapped_columns>(queue, args, traits);
}

}  // namespace twill::TWILL_BACKEND
