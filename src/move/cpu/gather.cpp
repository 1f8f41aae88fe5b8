#include <cstring>

#include "element_size.hpp"
#include "families.hpp"

namespace twill::cpu {
namespace {

template <class Size, bool Widened>
void gather(const unsigned char* in, unsigned char* out, const std::int64_t* offsets, std::int64_t count,
            std::int64_t element_bytes) {
  const Size bytes = size_as<Size>(element_bytes);
  const std::size_t moved = Widened ? widened(bytes) : static_cast<std::size_t>(static_cast<std::int64_t>(bytes));
  for (std::int64_t i = 0; i + 1 < count; ++i, out += bytes) std::memcpy(out, in + offsets[i], moved);
  copy_element(out, in + offsets[count - 1], bytes);
}

}  // namespace

gather_function gather_of(std::int64_t element_bytes, bool last_is_furthest) {
  gather_function chosen = nullptr;
  with_size(element_bytes, [&](auto bytes) {
    using size = decltype(bytes);
    chosen = last_is_furthest ? &gather<size, true> : &gather<size, false>;
  });
  return chosen;
}

}  // namespace twill::cpu
