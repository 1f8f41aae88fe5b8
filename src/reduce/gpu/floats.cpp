// Sums and products of f16, bf16, f32, f64, c64 and c128.

#include "dispatch.hpp"

namespace twill::TWILL_BACKEND {
namespace {

template <class Kind>
void launch_kind(const detail::work_queue& queue, const detail::reduce_args& args, const op_traits& traits) {
  if (by_columns(args)) return launch_columns<kernels::vector_columns<Kind>>(queue, args, traits);
  launch_rows<Kind>(queue, args, traits);
}

template <bool Product>
void launch_complexes(const detail::work_queue& queue, const detail::reduce_args& args, const op_traits& traits) {
  using namespace kernels;
  if (args.in_type == element_type::c64) return launch_kind<floats<complex_value<float>, Product>>(queue, args, traits);
  launch_kind<floats<complex_value<double>, Product>>(queue, args, traits);
}

template <bool Product>
void launch_reals(const detail::work_queue& queue, const detail::reduce_args& args, const op_traits& traits) {
  if (args.in_type == element_type::f64) return launch_kind<kernels::floats<double, Product>>(queue, args, traits);
  if (args.in_type == element_type::f32) return launch_kind<kernels::floats<float, Product>>(queue, args, traits);
  launch_kind<kernels::halves<Product>>(queue, args, traits);
}

}  // namespace

void launch_complex(const detail::work_queue& queue, const detail::reduce_args& args, const op_traits& traits) {
  args.op == reduce_op::sum ? launch_complexes<false>(queue, args, traits)
                            : launch_complexes<true>(queue, args, traits);
}

void launch_floats(const detail::work_queue& queue, const detail::reduce_args& args, const op_traits& traits) {
  args.op == reduce_op::sum ? launch_reals<false>(queue, args, traits) : launch_reals<true>(queue, args, traits);
}

}  // namespace twill::TWILL_BACKEND
