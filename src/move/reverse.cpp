#include <twill/reverse.hpp>

#include "core/arguments.hpp"
#include "core/operations.hpp"
#include "move/operations.hpp"
#include "move/permute_call.hpp"

namespace twill {

void reverse_bytes(stream_ref stream, const void* in, void* out, extent element_bytes, extent count) {
  detail::in_call("reverse", [&] {
    auto& device = detail::device_of(stream);
    const std::int64_t bytes = detail::checked_array_bytes(element_bytes, count);
    if (bytes == 0) return;
    detail::require_pointer(in, "in");
    detail::require_pointer(out, "out");
    detail::require_disjoint({"in", in, bytes}, {"out", out, bytes});
    if (count == 1) {
      device.copy(stream.native(), out, in, static_cast<std::size_t>(bytes), detail::copy_direction::device_to_device);
      return;
    }
    detail::operations_of(stream).move.reverse(detail::queue_of(stream), {in, out, count, element_bytes});
  });
}

void reverse_in_place_bytes(stream_ref stream, void* data, extent element_bytes, extent count) {
  detail::in_call("reverse_in_place", [&] {
    const auto queue = detail::queue_of(stream);
    if (detail::checked_array_bytes(element_bytes, count) == 0) return;
    detail::require_pointer(data, "data");
    if (count == 1) return;
    detail::operations_of(stream).move.reverse(queue, {data, data, count, element_bytes});
  });
}

}  // namespace twill
