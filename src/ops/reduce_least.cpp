#include "ops/reduce_order.hpp"

namespace twill::TWILL_BACKEND {

void start_least(const detail::work_queue& queue, const detail::reduce_args& a) {
  using namespace kernels;
  using type = element_type;
  const auto m = order_of(a);
  switch (a.in_type) {
    case type::i8:
    case type::u8:
      return start_reduction<load_least<std::uint8_t, integer_key>, least<std::uint32_t>>(queue, a, m);
    case type::i16:
    case type::u16:
      return start_reduction<load_least<std::uint16_t, integer_key>, least<std::uint32_t>>(queue, a, m);
    case type::i32:
    case type::u32:
      return start_reduction<load_least<std::uint32_t, integer_key>, least<std::uint32_t>>(queue, a, m);
    case type::i64:
    case type::u64:
      return start_reduction<load_least<std::uint64_t, integer_key>, least<std::uint64_t>>(queue, a, m);
    case type::f16:
    case type::bf16:
      return start_reduction<load_least<std::uint16_t, float_key>, least<std::uint32_t>>(queue, a, m);
    case type::f32:
      return start_reduction<load_least<std::uint32_t, float_key>, least<std::uint32_t>>(queue, a, m);
    default:
      return start_reduction<load_least<std::uint64_t, float_key>, least<std::uint64_t>>(queue, a, m);
  }
}

}  // namespace twill::TWILL_BACKEND
