// Sums and products of f16, bf16, f32 and f64.

#include "dispatch.hpp"

namespace twill::TWILL_BACKEND {
namespace {

template <class Kind>
void start(const detail::work_queue& queue, const detail::reduce_args& args, const reduce_meaning& meaning) {
  if (by_columns(args)) return start_columns<kernels::vector_columns<Kind>>(queue, args, meaning);
  start_rows<Kind>(queue, args, meaning);
}

template <bool Product>
void start_of(const detail::work_queue& queue, const detail::reduce_args& args, const reduce_meaning& meaning) {
  if (args.in_type == element_type::f64) return start<kernels::numbers<double, Product>>(queue, args, meaning);
  if (args.in_type == element_type::f32) return start<kernels::numbers<float, Product>>(queue, args, meaning);
  start<kernels::halves<Product>>(queue, args, meaning);
}

}  // namespace

void start_numbers(const detail::work_queue& queue, const detail::reduce_args& args, const reduce_meaning& meaning) {
  args.op == reduce_op::sum ? start_of<false>(queue, args, meaning) : start_of<true>(queue, args, meaning);
}

}  // namespace twill::TWILL_BACKEND
