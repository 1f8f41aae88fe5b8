#pragma once

#include <stdexcept>
#include <string>

#include <twill/export.hpp>

namespace twill {

/// What kind of thing went wrong; the message of the `error` says what and what to do.
enum class errc {
  invalid_argument,  ///< a call's own arguments are wrong; nothing was launched or changed
  out_of_memory,     ///< the device has less memory than was asked for
  no_device,         ///< no such device on this machine or in this build
  unsupported,       ///< right in itself, but more than this device can do
  launch_failed,     ///< the device refused a launch
  device_fault,      ///< work that was launched earlier went wrong; found at `stream::wait`
};

/// The name of an error code, as written in `errc`.
TWILL_API const char* name(errc code) noexcept;

/// The one exception that Twill throws. `what()` is a single line: OPERATION: PROBLEM (WHY) SUGGESTION.
class TWILL_API error : public std::runtime_error {
 public:
  error(errc code, const std::string& message) : std::runtime_error(message), code_(code) {}
  errc code() const noexcept { return code_; }

 private:
  errc code_;
};

}  // namespace twill
