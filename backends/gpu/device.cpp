#include <algorithm>
#include <cstdint>

#include "device_guard.hpp"
#include "gpu_device.hpp"
#include "launch.hpp"

namespace twill::TWILL_BACKEND {
namespace {

native_stream stream_of(void* handle) {
  return static_cast<native_stream>(handle);
}
native_event event_of(void* handle) {
  return static_cast<native_event>(handle);
}

}  // namespace

// Runs one native call on this device and throws what it reports.
template <class Call>
void gpu_device::call(const char* what, Call native, int line) const {
  const device_guard guard(ordinal_);
  check(guard.error(), what, __FILE__, line);
  check(native(), what, __FILE__, line);
}

memory_info gpu_device::memory() const {
  memory_info info;
  call("asking for free memory", [&] { return TWILL_BACKEND::memory(&info.free_bytes, &info.total_bytes); });
  return info;
}

void* gpu_device::allocate(std::size_t bytes) {
  const device_guard guard(ordinal_);
  check(guard.error(), "allocation");
  void* memory = nullptr;
  const native_error error = TWILL_BACKEND::allocate(&memory, bytes);
  if (error == native_success) return memory;
  static_cast<void>(last_error());
  const errc kind = kind_of(error);
  std::size_t free_bytes = 0, total_bytes = 0;
  ignore(TWILL_BACKEND::memory(&free_bytes, &total_bytes));
  fail_native(kind == errc::invalid_argument ? errc::out_of_memory : kind, error,
              "allocation of " + std::to_string(bytes) + " bytes on " + properties_.name,
              "; " + std::to_string(free_bytes) + " of " + std::to_string(total_bytes) + " bytes are free");
}

void gpu_device::release(void* memory) noexcept {
  const device_guard guard(ordinal_);
  ignore(TWILL_BACKEND::release(memory));
}

void* gpu_device::create_stream() {
  native_stream stream = nullptr;
  call("creation of a stream", [&] { return TWILL_BACKEND::create_stream(&stream); });
  return stream;
}

void gpu_device::destroy_stream(void* stream) noexcept {
  const device_guard guard(ordinal_);
  ignore(destroy(stream_of(stream)));
}

void gpu_device::wait_stream(void* stream) {
  call("work in a stream", [&] { return synchronize(stream_of(stream)); });
}

void* gpu_device::create_event() {
  native_event event = nullptr;
  call("creation of an event", [&] { return TWILL_BACKEND::create_event(&event); });
  return event;
}

void gpu_device::destroy_event(void* event) noexcept {
  const device_guard guard(ordinal_);
  ignore(destroy(event_of(event)));
}

void gpu_device::record_event(void* event, void* stream) {
  call("recording an event", [&] { return record(event_of(event), stream_of(stream)); });
}

void gpu_device::wait_event(void* event) {
  call("work before an event", [&] { return synchronize(event_of(event)); });
}

void gpu_device::hold_stream(void* stream, void* event) {
  call("holding a stream", [&] { return TWILL_BACKEND::wait_event(stream_of(stream), event_of(event)); });
}

double gpu_device::seconds_between(void* start, void* end) {
  float milliseconds = 0;
  call("work before an event", [&] { return synchronize(event_of(start)); });
  call("work before an event", [&] { return synchronize(event_of(end)); });
  call("timing of events", [&] { return elapsed(&milliseconds, event_of(start), event_of(end)); });
  return milliseconds * 1e-3;
}

void gpu_device::copy(void* stream, void* to, const void* from, std::size_t bytes, detail::copy_direction direction) {
  call("memory copy", [&] { return copy_async(to, from, bytes, direction, stream_of(stream)); });
}

// The runtimes take pitches below 2 GiB; larger ones mean few rows, which are copied one by one.
void gpu_device::copy_rows(void* stream, const detail::pitched_rows& a, detail::copy_direction direction) {
  if (std::max(a.in_pitch, a.out_pitch) > INT32_MAX) {
    for (std::int64_t row = 0; row < a.rows; ++row) {
      copy(stream, static_cast<char*>(a.out) + row * a.out_pitch, static_cast<const char*>(a.in) + row * a.in_pitch,
           static_cast<std::size_t>(a.row_bytes), direction);
    }
    return;
  }
  call("copy of rows", [&] {
    return copy_pitched_async(a.out, static_cast<std::size_t>(a.out_pitch), a.in, static_cast<std::size_t>(a.in_pitch),
                              static_cast<std::size_t>(a.row_bytes), static_cast<std::size_t>(a.rows), direction,
                              stream_of(stream));
  });
}

void gpu_device::fill(void* stream, void* to, unsigned char value, std::size_t bytes) {
  call("memory fill", [&] { return fill_async(to, value, bytes, stream_of(stream)); });
}

}  // namespace twill::TWILL_BACKEND
