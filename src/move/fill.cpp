#include <twill/fill.hpp>

#include <algorithm>

#include "backends/error.hpp"
#include "core/arguments.hpp"
#include "core/operations.hpp"
#include "move/operations.hpp"
#include "move/permute_call.hpp"

namespace twill {

void fill_bytes(stream_ref stream, void* out, unsigned char value, std::size_t bytes) {
  detail::in_call("fill", [&] {
    auto& device = detail::device_of(stream);
    if (detail::checked_bytes(bytes) == 0) return;
    detail::require_pointer(out, "out");
    device.fill(stream.native(), out, value, bytes);
  });
}

void fill_bytes(stream_ref stream, void* out, const void* value, extent element_bytes, extent count) {
  detail::in_call("fill", [&] {
    auto& device = detail::device_of(stream);
    const std::int64_t bytes = detail::checked_array_bytes(element_bytes, count);
    if (bytes == 0) return;
    detail::require_pointer(out, "out");
    detail::require(value != nullptr, "value is null", "count is not 0", "pass host memory");
    const auto* first = static_cast<const unsigned char*>(value);
    if (std::all_of(first, first + element_bytes, [&](unsigned char byte) { return byte == *first; })) {
      device.fill(stream.native(), out, *first, static_cast<std::size_t>(bytes));
    } else {
      detail::operations_of(stream).move.fill(detail::queue_of(stream), {out, count, element_bytes, first});
    }
  });
}

}  // namespace twill
