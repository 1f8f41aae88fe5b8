#include <twill/error.hpp>

namespace twill {

const char* name(errc code) noexcept {
  switch (code) {
    case errc::invalid_argument:
      return "invalid_argument";
    case errc::out_of_memory:
      return "out_of_memory";
    case errc::no_device:
      return "no_device";
    case errc::unsupported:
      return "unsupported";
    case errc::launch_failed:
      return "launch_failed";
    case errc::device_fault:
      return "device_fault";
  }
  return "unknown";
}

}  // namespace twill
