// The logical operations count elements that are not zero; the bitwise ones are `or`, turned around for `and`, and
// `xor`.

#include "ops/reduce_start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using namespace kernels;
using type = element_type;

void start_logical(const detail::work_queue& queue, const detail::reduce_args& a) {
  reduce_meaning m;
  m.end = a.op == reduce_op::logical_and  ? reduce_end::all_nonzero
          : a.op == reduce_op::logical_or ? reduce_end::any_nonzero
                                          : reduce_end::odd_nonzero;
  // All bits count, but the sign of floating point: -0 is 0.
  m.terms.flip = ~std::uint64_t{0};
  if (a.in_type == type::f16 || a.in_type == type::bf16) m.terms.flip = 0x7fff;
  if (a.in_type == type::f32) m.terms.flip = 0x7fffffff;
  if (a.in_type == type::c64) m.terms.flip = 0x7fffffff7fffffff;
  if (a.in_type == type::f64 || a.in_type == type::c128) m.terms.flip = 0x7fffffffffffffff;
  if (a.op == reduce_op::logical_and) {
    m.terms.limit = 1;
    m.pad = m.empty = ~std::uint64_t{0};
  }
  switch (element_bytes(a.in_type)) {
    case 1:
      return start_reduction<load_nonzero<std::uint8_t>, add<std::uint64_t>>(queue, a, m);
    case 2:
      return start_reduction<load_nonzero<std::uint16_t>, add<std::uint64_t>>(queue, a, m);
    case 4:
      return start_reduction<load_nonzero<std::uint32_t>, add<std::uint64_t>>(queue, a, m);
    case 8:
      return start_reduction<load_nonzero<std::uint64_t>, add<std::uint64_t>>(queue, a, m);
    default:
      return start_reduction<load_nonzero<complex_value<double>>, add<std::uint64_t>>(queue, a, m);
  }
}

template <class Op>
void start_words(const detail::work_queue& queue, const detail::reduce_args& a, const reduce_meaning& m) {
  switch (element_bytes(a.in_type)) {
    case 1:
      return start_reduction<load_bits<std::uint8_t, Op>, Op>(queue, a, m);
    case 2:
      return start_reduction<load_bits<std::uint16_t, Op>, Op>(queue, a, m);
    case 4:
      return start_reduction<load_bits<std::uint32_t, Op>, Op>(queue, a, m);
    default:
      return start_reduction<load_bits<std::uint64_t, Op>, Op>(queue, a, m);
  }
}

}  // namespace

void start_bits(const detail::work_queue& queue, const detail::reduce_args& a) {
  if (a.op <= reduce_op::logical_xor) return start_logical(queue, a);
  reduce_meaning m;
  m.end = a.op == reduce_op::bitwise_xor ? reduce_end::fold_xor : reduce_end::fold_or;
  if (a.op == reduce_op::bitwise_and) m.pad = m.empty = m.terms.flip = ~std::uint64_t{0};
  if (a.op == reduce_op::bitwise_xor) return start_words<bits_xor>(queue, a, m);
  start_words<bits_or>(queue, a, m);
}

}  // namespace twill::TWILL_BACKEND
