#pragma once

// Buffers that messages go through: packed on the device, sent from the host.

#include <cstdint>

#include <twill/buffer.hpp>
#include <twill/event.hpp>
#include <twill/stream.hpp>

namespace twill::detail {

/// One message's memory on device and host; the same memory where the host shares the device's.
class staging {
 public:
  staging(const device& on, std::int64_t bytes);
  ~staging();
  staging(staging&& other) noexcept;
  staging& operator=(staging&&) = delete;
  staging(const staging&) = delete;
  staging& operator=(const staging&) = delete;

  void* on_device() const { return memory_.data(); }
  void* on_host() const { return host_; }

  /// In the stream: device to host, or back. `wait` returns when the last of these, and what the stream held before, is
  /// done.
  void download(stream_ref stream, std::int64_t bytes);
  void upload(stream_ref stream, std::int64_t bytes);
  void mark(stream_ref stream) { done_.record(stream); }
  void wait() const { done_.wait(); }

 private:
  raw_buffer memory_;
  event done_;
  void* host_ = nullptr;
};

}  // namespace twill::detail
