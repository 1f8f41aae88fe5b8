// Columns of what integers are calculated with: sums, minima and maxima of whole vectors, and one kernel for all other
// operations, and for rows that begin anywhere.

#include "dispatch.hpp"

#include "exact_columns.hpp"

namespace twill::TWILL_BACKEND {
namespace {

template <template <class> class Kind>
void start_vectors(const detail::work_queue& queue, const detail::reduce_args& args, const reduce_meaning& meaning) {
  using kernels::vector_columns;
  switch (element_bytes(args.in_type)) {
    case 1:
      return start_columns<vector_columns<Kind<std::uint8_t>>>(queue, args, meaning);
    case 2:
      return start_columns<vector_columns<Kind<std::uint16_t>>>(queue, args, meaning);
    case 4:
      return start_columns<vector_columns<Kind<std::uint32_t>>>(queue, args, meaning);
    default:
      return start_columns<vector_columns<Kind<std::uint64_t>>>(queue, args, meaning);
  }
}

}  // namespace

void start_integer_columns(const detail::work_queue& queue, const detail::reduce_args& args,
                           const reduce_meaning& meaning) {
  const bool aligned = problem_of(args, meaning).aligned;
  if (aligned && args.op == reduce_op::sum) return start_vectors<kernels::column_sums>(queue, args, meaning);
  const bool least = args.op == reduce_op::min || args.op == reduce_op::max;
  if (aligned && least) return start_vectors<kernels::column_least>(queue, args, meaning);
  start_columns<kernels::viewed_columns>(queue, args, meaning);
}

}  // namespace twill::TWILL_BACKEND
