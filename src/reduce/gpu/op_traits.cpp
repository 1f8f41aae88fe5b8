// The traits of each operation: the constants that a shared kernel takes at run time.

#include "dispatch.hpp"
#include "operations.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::reduce_args;
using kernels::combine_op;
using kernels::element_map;
using kernels::epilogue;
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

/// Of `t`, or of the component type of complex `t`.
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

/// The positive quiet NaN of `t`, or of its component type.
std::uint64_t nan_of(type t) {
  const std::uint64_t infinity = infinity_of(t);
  return infinity | (infinity & -infinity) >> 1;
}

/// The identity of addition is -0 (+0 would change -0), but an empty sum is +0.
op_traits traits_of_sum(const reduce_args& a, combine_op rule) {
  op_traits m;
  m.params.combine = rule;
  m.params.is_bfloat16 = a.in_type == type::bf16;
  m.nan = nan_of(a.out_type);
  if (is_signed_integer(a.in_type) && a.in_type != type::i64) m.params.flip = sign_bit(a.in_type);
  if (a.in_type == a.out_type && a.in_type == type::f16) m.epilogue = epilogue::float16;
  if (a.in_type == a.out_type && a.in_type == type::bf16) m.epilogue = epilogue::bfloat16;
  if (rule == combine_op::multiply) {
    m.pad = m.empty = one_of(a.in_type);
  } else if (!is_integer(a.in_type)) {
    m.pad = sign_bit(a.in_type);
  }
  return m;
}

op_traits traits_of_extreme(const reduce_args& a) {
  const bool largest = a.op == reduce_op::max || a.op == reduce_op::argmax;
  const std::uint64_t top = sign_bit(a.in_type), all = top | (top - 1);
  op_traits m;
  m.params.combine = combine_op::minimum;
  m.params.map = element_map::key;
  m.params.flip = largest ? all : 0;
  if (is_integer(a.in_type)) {
    m.epilogue = epilogue::flipped;
    m.params.limit = ~std::uint64_t{0};
    if (is_signed_integer(a.in_type)) m.params.flip ^= top;
    m.pad = all ^ m.params.flip;  // its key is the largest
  } else {
    m.epilogue = epilogue::float_key;
    m.nan = nan_of(a.in_type);
    m.params.is_float = true;
    m.params.limit = infinity_of(a.in_type);
    m.pad = m.params.limit | (largest ? top : 0);
  }
  m.empty = m.pad;
  return m;
}

/// Every bit but the sign of floating point counts: -0 is zero.
op_traits traits_of_logical(const reduce_args& a) {
  op_traits m;
  m.epilogue = a.op == reduce_op::logical_and  ? epilogue::all_nonzero
               : a.op == reduce_op::logical_or ? epilogue::any_nonzero
                                               : epilogue::odd_nonzero;
  m.params.map = element_map::nonzero;
  m.params.combine = a.op == reduce_op::logical_xor ? combine_op::bits_xor : combine_op::bits_or;
  m.params.flip = ~std::uint64_t{0};
  if (!is_integer(a.in_type)) m.params.flip = ~sign_bit(a.in_type);
  if (a.in_type == type::c64) m.params.flip &= ~(sign_bit(a.in_type) << 32);
  if (a.op == reduce_op::logical_and) {
    m.params.limit = 1;
    m.pad = m.empty = one_of(a.in_type);
  }
  return m;
}

op_traits traits_of_bitwise(const reduce_args& a) {
  op_traits m;
  m.epilogue = epilogue::flipped;
  m.params.map = element_map::bits;
  m.params.combine = a.op == reduce_op::bitwise_xor ? combine_op::bits_xor : combine_op::bits_or;
  if (a.op == reduce_op::bitwise_and) m.pad = m.empty = m.params.flip = ~std::uint64_t{0};
  return m;
}

}  // namespace

void reduce(const detail::work_queue& queue, const reduce_args& args) {
  switch (args.op) {
    case reduce_op::sum:
    case reduce_op::product: {
      const auto rule = args.op == reduce_op::sum ? combine_op::add : combine_op::multiply;
      const auto traits = traits_of_sum(args, rule);
      if (is_integer(args.in_type)) return launch_integers(queue, args, traits);
      return is_complex(args.in_type) ? launch_complex(queue, args, traits) : launch_floats(queue, args, traits);
    }
    case reduce_op::min:
    case reduce_op::max:
      return launch_min(queue, args, traits_of_extreme(args));
    case reduce_op::argmin:
    case reduce_op::argmax:
      return launch_argmin(queue, args, traits_of_extreme(args));
    case reduce_op::logical_and:
    case reduce_op::logical_or:
    case reduce_op::logical_xor:
      return launch_integers(queue, args, traits_of_logical(args));
    default:
      return launch_integers(queue, args, traits_of_bitwise(args));
  }
}

}  // namespace twill::TWILL_BACKEND
