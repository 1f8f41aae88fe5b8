#include "ops/reduce_start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using namespace kernels;
using type = element_type;

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

reduce_end end_of(type in, type out) {
  if (in != out) return reduce_end::plain;
  return in == type::f16 ? reduce_end::half : in == type::bf16 ? reduce_end::brain : reduce_end::plain;
}

}  // namespace

void start_product(const detail::work_queue& queue, const detail::reduce_args& a) {
  reduce_meaning m;
  m.end = end_of(a.in_type, a.out_type);
  m.pad = m.empty = one_of(a.in_type);
  if (a.in_type < type::i64) m.terms.flip = std::uint64_t{1} << (8 * element_bytes(a.in_type) - 1);
  switch (a.in_type) {
    case type::i8:
    case type::u8:
      return start_reduction<load_integer_product<std::uint8_t>, multiply<std::uint64_t>>(queue, a, m);
    case type::i16:
    case type::u16:
      return start_reduction<load_integer_product<std::uint16_t>, multiply<std::uint64_t>>(queue, a, m);
    case type::i32:
    case type::u32:
      return start_reduction<load_integer_product<std::uint32_t>, multiply<std::uint64_t>>(queue, a, m);
    case type::i64:
    case type::u64:
      return start_reduction<load_integer_product<std::uint64_t>, multiply<std::uint64_t>>(queue, a, m);
    case type::f16:
      return start_reduction<load_f16, multiply<float>>(queue, a, m);
    case type::bf16:
      return start_reduction<load_bf16, multiply<float>>(queue, a, m);
    case type::f32:
      return start_reduction<load_plain<float>, multiply<float>>(queue, a, m);
    case type::f64:
      return start_reduction<load_plain<double>, multiply<double>>(queue, a, m);
    case type::c64:
      return start_reduction<load_plain<complex_value<float>>, multiply<complex_value<float>>>(queue, a, m);
    default:
      return start_reduction<load_plain<complex_value<double>>, multiply<complex_value<double>>>(queue, a, m);
  }
}

}  // namespace twill::TWILL_BACKEND
