#include <twill/reverse.hpp>

#include <string>

#include "backends/error.hpp"
#include "core/arguments.hpp"
#include "core/operations.hpp"
#include "move/operations.hpp"

namespace twill {
namespace {

constexpr std::int64_t largest_element_bytes = 64;

// Returns the size in bytes; 0 for none.
std::int64_t checked_bytes(std::int64_t count, std::int64_t element_bytes) {
  detail::require_extent(count, "count");
  detail::require(element_bytes >= 1 && element_bytes <= largest_element_bytes, "elements of this size cannot be moved",
                  std::to_string(element_bytes) + " bytes", "use 1 to 64 bytes");
  return detail::checked_product(count, element_bytes, "the size in bytes");
}

}  // namespace

void reverse_bytes(stream_ref stream, const void* in, void* out, std::int64_t count, std::int64_t element_bytes) {
  const std::int64_t bytes = checked_bytes(count, element_bytes);
  if (bytes == 0) return;
  detail::require_pointer(in, "in");
  detail::require_pointer(out, "out");
  detail::require_disjoint(in, bytes, out, bytes);
  auto& device = *stream.on().impl();
  if (count == 1) {
    device.copy(stream.native(), out, in, static_cast<std::size_t>(bytes), detail::copy_direction::device_to_device);
    return;
  }
  detail::operations_of(stream.on()).move.reverse(detail::queue_of(stream), {in, out, count, element_bytes});
}

void reverse_in_place_bytes(stream_ref stream, void* data, std::int64_t count, std::int64_t element_bytes) {
  if (checked_bytes(count, element_bytes) == 0) return;
  detail::require_pointer(data, "data");
  if (count == 1) return;
  detail::operations_of(stream.on()).move.reverse(detail::queue_of(stream), {data, data, count, element_bytes});
}

}  // namespace twill
