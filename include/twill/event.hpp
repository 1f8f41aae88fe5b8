#pragma once

#include <chrono>
#include <twill/export.hpp>
#include <twill/stream.hpp>

namespace twill {

/// A mark in a stream, for timing and for ordering one stream after another.
class TWILL_API event {
 public:
  /// Throws: out_of_memory, device_fault.
  explicit event(const device& on);
  ~event();
  event(event&& other) noexcept;
  event& operator=(event&& other) noexcept;
  event(const event&) = delete;
  event& operator=(const event&) = delete;

  /// Order: the event happens when all work given to `stream` before is done. Does not block.
  void record(stream_ref stream);

  /// Order: work given to `stream` after this call starts after the event. Does not block.
  void hold(stream_ref stream) const;

  /// Blocks until the event has happened. Throws: device_fault.
  void wait() const;

  /// Device time from `start` to this event; waits for both. Resolution about 0.5 us on GPUs.
  /// Throws: invalid_argument when one of them was never recorded.
  std::chrono::duration<double> since(const event& start) const;

 private:
  void reset() noexcept;
  device device_;
  void* native_ = nullptr;
  bool recorded_ = false;
};

}  // namespace twill
