#include "families.hpp"

#include <cstddef>
#include <cstring>

namespace twill::cpu {
namespace {

// What `Moved` has beyond `Bytes` belongs to the next element, or is overwritten by it.
template <std::size_t Bytes, std::size_t Moved>
void gather(const unsigned char* in, unsigned char* out, const std::int64_t* offsets, std::int64_t count, std::size_t) {
  static_assert(Moved < 2 * Bytes);
  for (std::int64_t i = 0; i + 1 < count; ++i, out += Bytes) std::memcpy(out, in + offsets[i], Moved);
  std::memcpy(out, in + offsets[count - 1], Bytes);
}

void gather_any(const unsigned char* in, unsigned char* out, const std::int64_t* offsets, std::int64_t count,
                std::size_t bytes) {
  for (std::int64_t i = 0; i < count; ++i, out += bytes) std::memcpy(out, in + offsets[i], bytes);
}

using function = decltype(&gather_any);

// The sizes that applications have are known to the compiler.
constexpr function exact[] = {&gather<1, 1>,   &gather<2, 2>,   &gather<3, 3>,   &gather<4, 4>,
                              &gather<5, 5>,   &gather<6, 6>,   &gather<7, 7>,   &gather<8, 8>,
                              &gather<9, 9>,   &gather<10, 10>, &gather<11, 11>, &gather<12, 12>,
                              &gather<13, 13>, &gather<14, 14>, &gather<15, 15>, &gather<16, 16>};
constexpr function widened[] = {&gather<1, 1>,   &gather<2, 2>,   &gather<3, 4>,   &gather<4, 4>,
                                &gather<5, 8>,   &gather<6, 8>,   &gather<7, 8>,   &gather<8, 8>,
                                &gather<9, 16>,  &gather<10, 16>, &gather<11, 16>, &gather<12, 16>,
                                &gather<13, 16>, &gather<14, 16>, &gather<15, 16>, &gather<16, 16>};

}  // namespace

void gather_elements(const unsigned char* in, unsigned char* out, const std::int64_t* offsets, std::int64_t count,
                     std::int64_t element_bytes, bool last_is_furthest) {
  function f = &gather_any;
  if (element_bytes <= 16) f = (last_is_furthest ? widened : exact)[element_bytes - 1];
  if (element_bytes == 24) f = last_is_furthest ? &gather<24, 32> : &gather<24, 24>;
  if (element_bytes == 32) f = &gather<32, 32>;
  f(in, out, offsets, count, static_cast<std::size_t>(element_bytes));
}

}  // namespace twill::cpu
