// What each operation means to the kernels: the constants that tell apart those that share one.

#include "dispatch.hpp"
#include "operations.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::reduce_args;
using kernels::reduce_end;
using kernels::reduce_rule;
using kernels::reduce_view;
using type = element_type;

bool is_signed_integer(type t) {
  return t <= type::i64;
}
bool is_integer(type t) {
  return t <= type::u64;
}
bool is_complex(type t) {
  return t == type::c64 || t == type::c128;
}

/// Of numbers of `t`, or of the parts of complex ones.
std::uint64_t sign_bit(type t) {
  const std::size_t bytes = is_complex(t) ? element_bytes(t) / 2 : element_bytes(t);
  return std::uint64_t{1} << (8 * bytes - 1);
}
std::uint64_t one_of(type t) {
  switch (t) {
    case type::f16:
      return 0x3c00;
    case type::bf16:
      return 0x3f80;
    case type::f32:
    case type::c64:
      return 0x3f800000;
    case type::f64:
    case type::c128:
      return 0x3ff0000000000000;
    default:
      return 1;
  }
}
std::uint64_t infinity_of(type t) {
  switch (t) {
    case type::f16:
      return 0x7c00;
    case type::bf16:
      return 0x7f80;
    case type::f32:
    case type::c64:
      return 0x7f800000;
    default:
      return 0x7ff0000000000000;
  }
}

/// The quiet NaN without a sign, of floating-point numbers or the parts of complex ones.
std::uint64_t nan_of(type t) {
  const std::uint64_t infinity = infinity_of(t);
  return infinity | (infinity & -infinity) >> 1;
}

/// -0 changes no number, not even -0; but a sum of nothing is +0.
reduce_meaning meaning_of_sum(const reduce_args& a, reduce_rule rule) {
  reduce_meaning m;
  m.terms.rule = rule;
  m.terms.is_brain = a.in_type == type::bf16;
  m.nan = nan_of(a.out_type);
  if (is_signed_integer(a.in_type) && a.in_type != type::i64) m.terms.flip = sign_bit(a.in_type);
  if (a.in_type == a.out_type && a.in_type == type::f16) m.end = reduce_end::half;
  if (a.in_type == a.out_type && a.in_type == type::bf16) m.end = reduce_end::brain;
  if (rule == reduce_rule::multiply) {
    m.pad = m.empty = one_of(a.in_type);
  } else if (!is_integer(a.in_type)) {
    m.pad = sign_bit(a.in_type);
  }
  return m;
}

reduce_meaning meaning_of_order(const reduce_args& a) {
  const bool largest = a.op == reduce_op::max || a.op == reduce_op::argmax;
  const std::uint64_t top = sign_bit(a.in_type), all = top | (top - 1);
  reduce_meaning m;
  m.terms.rule = reduce_rule::least;
  m.terms.view = reduce_view::key;
  m.terms.flip = largest ? all : 0;
  if (is_integer(a.in_type)) {
    m.end = reduce_end::flipped;
    m.terms.limit = ~std::uint64_t{0};
    if (is_signed_integer(a.in_type)) m.terms.flip ^= top;
    m.pad = all ^ m.terms.flip;  // its key is the largest
  } else {
    m.end = reduce_end::float_key;
    m.nan = nan_of(a.in_type);
    m.terms.is_float = true;
    m.terms.limit = infinity_of(a.in_type);
    m.pad = m.terms.limit | (largest ? top : 0);
  }
  m.empty = m.pad;
  return m;
}

/// All bits count, but the sign of floating point: -0 is 0.
reduce_meaning meaning_of_logic(const reduce_args& a) {
  reduce_meaning m;
  m.end = a.op == reduce_op::logical_and  ? reduce_end::all_nonzero
          : a.op == reduce_op::logical_or ? reduce_end::any_nonzero
                                          : reduce_end::odd_nonzero;
  m.terms.view = reduce_view::nonzero;
  m.terms.flip = ~std::uint64_t{0};
  if (!is_integer(a.in_type)) m.terms.flip = ~sign_bit(a.in_type);
  if (a.in_type == type::c64) m.terms.flip &= ~(sign_bit(a.in_type) << 32);
  if (a.op == reduce_op::logical_and) {
    m.terms.limit = 1;
    m.pad = m.empty = one_of(a.in_type);
  }
  return m;
}

reduce_meaning meaning_of_bits(const reduce_args& a) {
  reduce_meaning m;
  m.end = reduce_end::flipped;
  m.terms.view = reduce_view::bits;
  m.terms.rule = a.op == reduce_op::bitwise_xor ? reduce_rule::bits_xor : reduce_rule::bits_or;
  if (a.op == reduce_op::bitwise_and) m.pad = m.empty = m.terms.flip = ~std::uint64_t{0};
  return m;
}

}  // namespace

void reduce(const detail::work_queue& queue, const reduce_args& args) {
  switch (args.op) {
    case reduce_op::sum:
    case reduce_op::product: {
      const auto rule = args.op == reduce_op::sum ? reduce_rule::add : reduce_rule::multiply;
      const auto meaning = meaning_of_sum(args, rule);
      if (is_integer(args.in_type)) return start_integers(queue, args, meaning);
      return is_complex(args.in_type) ? start_complex(queue, args, meaning) : start_numbers(queue, args, meaning);
    }
    case reduce_op::min:
    case reduce_op::max:
      return start_least(queue, args, meaning_of_order(args));
    case reduce_op::argmin:
    case reduce_op::argmax:
      return start_places(queue, args, meaning_of_order(args));
    case reduce_op::logical_and:
    case reduce_op::logical_or:
    case reduce_op::logical_xor:
      return start_integers(queue, args, meaning_of_logic(args));
    default:
      return start_integers(queue, args, meaning_of_bits(args));
  }
}

}  // namespace twill::TWILL_BACKEND
