#include "ops/reduce_start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using namespace kernels;
using type = element_type;

std::uint64_t sign_bit(type t) {
  return std::uint64_t{1} << (8 * element_bytes(t) - 1);
}

// The bits of -0: it changes no number, not even -0. A sum of nothing is +0.
std::uint64_t minus_zero(type t) {
  if (t == type::c64) return std::uint64_t{1} << 31;
  return t == type::c128 ? std::uint64_t{1} << 63 : sign_bit(t);
}

reduce_end end_of(type in, type out) {
  if (in != out) return reduce_end::plain;
  return in == type::f16 ? reduce_end::half : in == type::bf16 ? reduce_end::brain : reduce_end::plain;
}

template <class Unit>
void integers(const detail::work_queue& queue, const detail::reduce_args& a) {
  reduce_meaning m;
  m.terms.flip = a.in_type <= type::i64 && sizeof(Unit) < 8 ? sign_bit(a.in_type) : 0;
  start_reduction<load_integer_sum<Unit>, add<std::uint64_t>>(queue, a, m);
}

}  // namespace

void start_sum(const detail::work_queue& queue, const detail::reduce_args& a) {
  reduce_meaning m;
  m.end = end_of(a.in_type, a.out_type);
  m.pad = a.in_type >= type::f16 ? minus_zero(a.in_type) : 0;
  switch (a.in_type) {
    case type::i8:
    case type::u8:
      return integers<std::uint8_t>(queue, a);
    case type::i16:
    case type::u16:
      return integers<std::uint16_t>(queue, a);
    case type::i32:
    case type::u32:
      return integers<std::uint32_t>(queue, a);
    case type::i64:
    case type::u64:
      return integers<std::uint64_t>(queue, a);
    case type::f16:
      return start_reduction<load_f16, add<float>>(queue, a, m);
    case type::bf16:
      return start_reduction<load_bf16, add<float>>(queue, a, m);
    case type::f32:
      return start_reduction<load_plain<float>, add<float>>(queue, a, m);
    case type::f64:
      return start_reduction<load_plain<double>, add<double>>(queue, a, m);
    case type::c64:
      return start_reduction<load_plain<complex_value<float>>, add<complex_value<float>>>(queue, a, m);
    default:
      return start_reduction<load_plain<complex_value<double>>, add<complex_value<double>>>(queue, a, m);
  }
}

}  // namespace twill::TWILL_BACKEND
