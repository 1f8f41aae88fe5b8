// Streams and events of a simulated device: their work is done when it is given, and what orders it is kept for the
// checks.

#include <exception>
#include <optional>

#include "backends/error.hpp"
#include "simt_device.hpp"

namespace twill::simt {

void* simt_device::create_stream() {
  void* const stream = host_device::create_stream();
  order_.add_stream(stream);
  return stream;
}

void simt_device::destroy_stream(void* stream) noexcept {
  order_.remove_stream(stream);
  host_device::destroy_stream(stream);
}

void simt_device::wait_stream(void* stream) {
  order_.wait_on_host_for_stream(stream);
  host_device::wait_stream(stream);
}

void simt_device::destroy_event(void* event) noexcept {
  order_.remove_event(event);
  host_device::destroy_event(event);
}

void simt_device::record_event(void* event, void* stream) {
  order_.record(event, stream);
  host_device::record_event(event, stream);
}

void simt_device::wait_event(void* event) {
  order_.wait_on_host_for_event(event);
  host_device::wait_event(event);
}

void simt_device::hold_stream(void* stream, void* event) {
  order_.hold(stream, event);
  host_device::hold_stream(stream, event);
}

// A fault of the stream, as that of a kernel is.
void simt_device::compare_streams(void* stream, const detail::pitched_rows& rows, detail::copy_direction direction,
                                  const char* call) {
  if (!chosen_settings().checks || !order_.begin(stream, {nullptr, call})) return;
  const auto compare = [&](const void* memory, std::int64_t pitch, access_kind kind) {
    const auto whole = memory_given().find_live(memory);
    if (!whole || whole->bytes > stream_order::most_bytes) return;
    const auto first = reinterpret_cast<std::uintptr_t>(memory);
    for (std::int64_t row = 0; row < rows.rows; ++row) {
      const auto other = order_.touch(stream, first + static_cast<std::uintptr_t>(row * pitch),
                                      static_cast<std::size_t>(rows.row_bytes), kind);
      if (!other) continue;
      detail::fail(errc::device_fault,
                   std::string("race between streams: ") + call + (writes(kind) ? " stores" : " loads") + " what " +
                       text_of(*other) + " in another stream",
                   "nothing orders the two", unordered_advice);
    }
  };
  try {
    if (direction != detail::copy_direction::host_to_device) compare(rows.in, rows.in_pitch, access_kind::load);
    if (direction != detail::copy_direction::device_to_host) compare(rows.out, rows.out_pitch, access_kind::store);
  } catch (const error&) {
    stream_of(stream).hold_fault(std::current_exception());
  }
}

std::size_t simt_device::unwritten_bytes(const void* memory, std::size_t bytes) {
  return shadow_.unwritten(memory, bytes);
}

}  // namespace twill::simt
