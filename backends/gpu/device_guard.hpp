#pragma once

#include "native.hpp"

namespace twill::TWILL_BACKEND {

/// Clears what a failed call left behind; for places that must not throw.
inline void ignore(native_error error) noexcept {
  if (error != native_success) static_cast<void>(last_error());
}

/// Makes a device the calling thread's current one for a scope, and gives the caller's own back.
class device_guard {
 public:
  explicit device_guard(int ordinal) noexcept {
    error_ = current_device(&before_);
    if (error_ != native_success || before_ == ordinal) return;
    error_ = set_device(ordinal);
    changed_ = error_ == native_success;
  }
  ~device_guard() {
    if (changed_) ignore(set_device(before_));
  }
  device_guard(const device_guard&) = delete;
  device_guard& operator=(const device_guard&) = delete;

  /// Why the device could not be made current, or native_success.
  native_error error() const noexcept { return error_; }

 private:
  int before_ = 0;
  bool changed_ = false;
  native_error error_ = native_success;
};

}  // namespace twill::TWILL_BACKEND
