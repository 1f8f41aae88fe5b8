#pragma once

#include <string_view>

#include "backends/host/host_device.hpp"

namespace twill::cpu {

/// The CPU itself: operations run natively on the team's threads.
class device : public host::host_device {
 public:
  device();
  void copy(void* stream, void* to, const void* from, std::size_t bytes, detail::copy_direction direction) override;
};

/// The team of the device that a queue belongs to.
inline host::thread_team& team_of(const detail::work_queue& queue) {
  return static_cast<device*>(queue.device)->team();
}

}  // namespace twill::cpu
