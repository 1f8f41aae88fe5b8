#pragma once

// Buffers that messages go through: packed on the device, sent from the host.

#include <cstdint>

#include <twill/buffer.hpp>
#include <twill/event.hpp>
#include <twill/stream.hpp>

namespace twill::detail {

/// One message's memory on device, and that which is sent: the same where the host shares the device's memory, or the
/// link takes it; else on the host.
class staging {
 public:
  /// `sends_device_memory`: the host's memory is not needed.
  staging(const device& on, std::int64_t bytes, bool sends_device_memory);
  ~staging();
  staging(staging&& other) noexcept;
  staging& operator=(staging&&) = delete;
  staging(const staging&) = delete;
  staging& operator=(const staging&) = delete;

  void* on_device() const { return memory_.data(); }
  void* sent() const { return sent_; }

  /// In the stream: device to host, or back, where these differ. `wait` returns when the last of these, and what the
  /// stream held before, is done.
  void download(stream_ref stream, std::int64_t bytes);
  void upload(stream_ref stream, std::int64_t bytes);
  void mark(stream_ref stream) { done_.record(stream); }
  void wait() const { done_.wait(); }

 private:
  raw_buffer memory_;
  event done_;
  void* sent_ = nullptr;
};

}  // namespace twill::detail
