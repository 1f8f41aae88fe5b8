#pragma once

#include <chrono>
#include <twill/export.hpp>
#include <twill/stream.hpp>

namespace twill {

/// A mark in a stream, for timing and for ordering one stream after another (`stream.wait(event)`).
/// An empty object (default-constructed or moved from) may be destroyed and assigned to; everything else throws
/// invalid_argument.
class TWILL_API event {
 public:
  event() noexcept = default;
  /// Throws: out_of_memory, device_fault.
  explicit event(const device& on);
  ~event();
  event(event&& other) noexcept;
  event& operator=(event&& other) noexcept;
  event(const event&) = delete;
  event& operator=(const event&) = delete;

  /// Order: the event happens when all work given to `stream` before is done. Does not block.
  /// Throws: invalid_argument when the stream belongs to another device.
  void record(stream_ref stream);

  /// Blocks until the event has happened; at once when it was never recorded. Throws: device_fault.
  void wait() const;

  /// Device time from `start` to this event; waits for both. Resolution about 0.5 us on GPUs.
  /// Throws: invalid_argument when one of them was never recorded.
  std::chrono::duration<double> elapsed(const event& start) const;

 private:
  friend class stream_ref;
  void reset() noexcept;
  device device_;
  void* native_ = nullptr;
  bool recorded_ = false;
};

}  // namespace twill
