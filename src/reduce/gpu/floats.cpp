// Sums and products of f16, bf16, f32 and f64.

#include "dispatch.hpp"

namespace twill::TWILL_BACKEND {
namespace {

template <class Kind>
void launch_kind(const detail::work_queue& queue, const detail::reduce_args& args, const op_traits& traits) {
  if (by_columns(args)) return launch_columns<kernels::vector_columns<Kind>>(queue, args, traits);
  launch_rows<Kind>(queue, args, traits);
}

template <bool Product>
void launch_op(const detail::work_queue& queue, const detail::reduce_args& args, const op_traits& traits) {
  if (args.in_type == element_type::f64) return launch_kind<kernels::floats<double, Product>>(queue, args, traits);
  if (args.in_type == element_type::f32) return launch_kind<kernels::floats<float, Product>>(queue, args, traits);
  launch_kind<kernels::halves<Product>>(queue, args, traits);
}

}  // namespace

void launch_floats(const detail::work_queue& queue, const detail::reduce_args& args, const op_traits& traits) {
  args.op == reduce_op::sum ? launch_op<false>(queue, args, traits) : launch_op<true>(queue, args, traits);
}

}  // namespace twill::TWILL_BACKEND
