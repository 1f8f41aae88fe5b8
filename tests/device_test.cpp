#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include <twill/device.hpp>
#include <twill/error.hpp>

#include "support/backends.hpp"
#include "support/devices.hpp"

namespace {

// Before main: static objects may open devices, of libraries that are linked after them too.
std::string error_of_opening(const char* name) {
  try {
    twill::device::open(name);
  } catch (const twill::error& e) {
    return e.what();
  }
  return "";
}
const std::string error_of_simt = error_of_opening("simt");

}  // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("a static object's constructor opens simt") {
  if (support::has_simt) CHECK(error_of_simt == "");
}

TEST_CASE("list: cpu and simt are there when they are built, and every name opens under itself") {
  const auto names = twill::device::list();
  CHECK(std::count(names.begin(), names.end(), "cpu") == (support::has_cpu ? 1 : 0));
  CHECK(std::count(names.begin(), names.end(), "simt") == (support::has_simt ? 1 : 0));
  for (const auto& name : names) {
    CAPTURE(name);
    CHECK(twill::device::open(name).properties().name == name);
  }
}

TEST_CASE("default: a device that is there") {
  CHECK_NOTHROW(twill::device::open(twill::device::default_name()));
}

TEST_CASE("properties: what every device has") {
  for (const auto& name : support::test_devices()) {
    CAPTURE(name);
    const auto device = twill::device::open(name);
    const auto& properties = device.properties();
    CHECK_FALSE(properties.model.empty());
    CHECK_FALSE(properties.architecture.empty());
    CHECK(name.rfind(properties.backend, 0) == 0);
    CHECK(properties.memory_bytes > 0);
    CHECK(properties.max_threads_per_block >= 1);
    const auto memory = device.memory();
    CHECK(memory.free_bytes > 0);
    CHECK(memory.free_bytes <= memory.total_bytes);
  }
}

TEST_CASE("errors: an unknown device is refused with the list of those there are") {
  for (const char* name : {"", "gpu", "cpu:1", "cpu:", "simt:", "simt:nothing", "cuda:", "cuda:99", "hip:x", "cuda:-1",
                           "cpu\n", "simt:\n\t"}) {
    CAPTURE(name);
    try {
      twill::device::open(name);
      FAIL("it opened");
    } catch (const twill::error& e) {
      CHECK(e.code() == twill::errc::no_device);
      CHECK(std::string(e.what()).find('\n') == std::string::npos);
    }
  }
  if (support::has_cpu) CHECK_THROWS_WITH_AS(twill::device::open("gpu"), doctest::Contains("cpu"), twill::error);
  if (support::has_simt)
    CHECK_THROWS_WITH_AS(twill::device::open("gpu"), doctest::Contains("simt:gtx280"), twill::error);
}

TEST_CASE("errors: a backend that the build leaves out is named, with the option that adds it") {
  const std::string built = " " TWILL_TESTS_BACKENDS " ";
  for (const std::string backend : {"cuda", "hip", "cpu", "simt", "pigeon"}) {
    CAPTURE(backend);
    const bool left_out = backend != "pigeon" && built.find(" " + backend + " ") == std::string::npos;
    std::string message;
    try {
      twill::device::open(backend + ":none");
    } catch (const twill::error& e) {
      message = e.what();
    }
    CAPTURE(message);
    CHECK(message.find(backend + ":none") != std::string::npos);
    for (const std::string& part : {"has no " + backend + " backend", "build with " + backend + " in TWILL_BACKENDS"})
      CHECK((message.find(part) != std::string::npos) == left_out);
  }
}

TEST_SUITE_END();
