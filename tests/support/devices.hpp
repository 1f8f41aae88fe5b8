#pragma once

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include <twill/device.hpp>

namespace support {

/// The devices that tests run on: every real GPU, "cpu" and "simt"; or those that TWILL_TEST_DEVICES names, separated
/// by commas.
inline std::vector<std::string> test_devices() {
  std::vector<std::string> names;
  if (const char* chosen = std::getenv("TWILL_TEST_DEVICES")) {
    std::istringstream list(chosen);
    for (std::string name; std::getline(list, name, ',');) names.push_back(name);
    return names;
  }
  for (const auto& name : twill::device::list()) {
    if (name.rfind("simt:", 0) != 0) names.push_back(name);
  }
  return names;
}

/// Those of the test devices that run in this process.
inline std::vector<std::string> devices_on_the_cpu() {
  std::vector<std::string> names;
  for (const std::string& name : test_devices()) {
    if (name == "cpu" || name == "simt") names.push_back(name);
  }
  return names;
}

}  // namespace support
