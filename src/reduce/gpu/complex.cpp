// Sums and products of c64 and c128.

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
  using namespace kernels;
  if (args.in_type == element_type::c64) return start<numbers<complex_value<float>, Product>>(queue, args, meaning);
  start<numbers<complex_value<double>, Product>>(queue, args, meaning);
}

}  // namespace

void start_complex(const detail::work_queue& queue, const detail::reduce_args& args, const reduce_meaning& meaning) {
  args.op == reduce_op::sum ? start_of<false>(queue, args, meaning) : start_of<true>(queue, args, meaning);
}

}  // namespace twill::TWILL_BACKEND
