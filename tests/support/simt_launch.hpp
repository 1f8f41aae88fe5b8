#pragma once

// For tests of the simulated device itself: kernels are launched as the operations launch theirs.

#include <string>
#include <utility>

#include <twill/simt.hpp>
#include <twill/twill.hpp>

#include "device.hpp"
#include "launch.hpp"

namespace support {

/// Launches `kernel` and throws when it is refused.
template <class... Params, class... Args>
void launch(twill::stream_ref stream, const twill::detail::launch_config& config, void (*kernel)(Params...),
            Args... args) {
  const twill::detail::work_queue queue{stream.on().impl().get(), stream.native()};
  twill::simt::check(twill::simt::launch(queue, config, kernel, args...), "launch of a test kernel");
}

/// For kernels that touch the test's own variables, which checks of device memory would refuse.
inline twill::device unchecked_simt() {
  const auto on = twill::device::open("simt");
  twill::set_checks(on, false);
  return on;
}

inline twill::detail::launch_config line(unsigned blocks, unsigned threads, std::size_t shared_bytes = 0) {
  return {{blocks, 1, 1}, {threads, 1, 1}, shared_bytes};
}

/// The message of the twill::error that `f` throws, after its code; empty when it throws none.
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const twill::error& e) {
    return std::string(name(e.code())) + ": " + e.what();
  }
  return {};
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace support
