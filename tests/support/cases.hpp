#pragma once

// What test files of operations share.

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include <twill/error.hpp>

#include "support/devices.hpp"

namespace support {

/// Calls f with each device under test.
template <class F>
void on_each_device(F&& f) {
  for (const auto& name : test_devices()) {
    CAPTURE(name);
    const auto device = twill::device::open(name);
    f(device);
  }
}

/// Calls f with each device and a stream of it.
template <class F>
void on_each_stream(F&& f) {
  on_each_device([&](const twill::device& device) {
    const twill::stream stream(device);
    f(device, twill::stream_ref(stream));
  });
}

/// The code of the twill::error that `call` throws, whose message is one line.
inline twill::errc code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const twill::error& e) {
    const std::string text = e.what();
    CHECK(text.find('\n') == std::string::npos);
    return e.code();
  }
  FAIL("nothing was thrown");
  return {};
}

}  // namespace support
