#include "staging.hpp"

#include <utility>

#include "backends/peer_access.hpp"
#include "core/call.hpp"

namespace twill::detail {

staging::staging(const device& on, std::int64_t bytes, bool sends_device_memory)
    : memory_(on, static_cast<std::size_t>(bytes)), done_(on) {
  auto& access = peer_access_of(*on.impl());
  const bool is_one = sends_device_memory || access.shares_host_memory();
  sent_ = is_one ? memory_.data() : access.allocate_pinned(static_cast<std::size_t>(bytes));
}

staging::~staging() {
  if (sent_ != nullptr && sent_ != memory_.data()) peer_access_of(*memory_.on().impl()).release_pinned(sent_);
}

staging::staging(staging&& other) noexcept
    : memory_(std::move(other.memory_)), done_(std::move(other.done_)), sent_(std::exchange(other.sent_, nullptr)) {}

void staging::download(stream_ref stream, std::int64_t bytes) {
  if (sent_ == memory_.data()) return;
  device_of(stream).copy(stream.native(), sent_, memory_.data(), static_cast<std::size_t>(bytes),
                         copy_direction::device_to_host);
}

void staging::upload(stream_ref stream, std::int64_t bytes) {
  if (sent_ == memory_.data()) return;
  device_of(stream).copy(stream.native(), memory_.data(), sent_, static_cast<std::size_t>(bytes),
                         copy_direction::host_to_device);
}

}  // namespace twill::detail
