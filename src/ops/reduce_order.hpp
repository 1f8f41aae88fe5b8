#pragma once

// Minimum and maximum: which bits are flipped so that the least key is the element that is asked for.

#include "ops/reduce_start.hpp"

namespace twill::TWILL_BACKEND {

inline reduce_meaning order_of(const detail::reduce_args& a) {
  using type = element_type;
  const bool largest = a.op == reduce_op::max || a.op == reduce_op::argmax;
  const std::uint64_t top = std::uint64_t{1} << (8 * element_bytes(a.in_type) - 1), all = top | (top - 1);
  reduce_meaning m;
  m.terms.flip = largest ? all : 0;
  if (a.in_type >= type::f16) {
    m.end = kernels::reduce_end::float_key;
    m.terms.limit = a.in_type == type::f16    ? 0x7c00
                    : a.in_type == type::bf16 ? 0x7f80
                    : a.in_type == type::f32  ? 0x7f800000
                                              : 0x7ff0000000000000;
    m.pad = m.terms.limit | (largest ? top : 0);
  } else {
    m.end = kernels::reduce_end::integer_key;
    if (a.in_type <= type::i64) m.terms.flip ^= top;
    m.pad = (all ^ m.terms.flip) & all;  // its key is the largest
  }
  m.empty = m.pad;
  return m;
}

}  // namespace twill::TWILL_BACKEND
