#pragma once

#include <twill/device.hpp>
#include <twill/export.hpp>

namespace twill {

class event;

/// A stream that somebody else owns: what every operation takes. Copied freely; valid while its owner keeps it; used by
/// one thread at a time. Work on one stream runs in order. On the devices "cpu" and "simt" a call has done its work
/// when it returns. An empty object may be destroyed and assigned to; everything else throws invalid_argument.
class TWILL_API stream_ref {
 public:
  stream_ref() noexcept = default;
  stream_ref(device owner, void* native) noexcept : device_(std::move(owner)), native_(native) {}

  /// Blocks until all work given to the stream is done.
  /// Throws: device_fault when work launched earlier went wrong (asynchronous faults surface here).
  void wait() const;

  /// Order: work given to the stream after this call starts after `until`. Does not block.
  /// Throws: invalid_argument when the event belongs to another backend.
  void wait(const event& until) const;

  const device& on() const noexcept { return device_; }

  /// The backend's own handle: what twill::cuda::borrow took; nullptr is the default stream.
  void* native() const noexcept { return native_; }

 private:
  device device_;
  void* native_ = nullptr;
};

/// A stream of its own; destroyed with the object, which does not wait for work in flight.
/// An empty object (default-constructed or moved from) may be destroyed and assigned to; everything else throws
/// invalid_argument.
class TWILL_API stream {
 public:
  stream() noexcept = default;
  /// Throws: out_of_memory, device_fault.
  explicit stream(const device& on);
  ~stream();
  stream(stream&& other) noexcept;
  stream& operator=(stream&& other) noexcept;
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  operator stream_ref() const noexcept { return ref_; }
  void wait() const { ref_.wait(); }
  void wait(const event& until) const { ref_.wait(until); }
  const device& on() const noexcept { return ref_.on(); }
  void* native() const noexcept { return ref_.native(); }

 private:
  void reset() noexcept;
  stream_ref ref_;
};

}  // namespace twill
