#include "machine.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

namespace twill::host {
namespace {

std::size_t system_value(int which) {
  const long value = sysconf(which);
  return value > 0 ? static_cast<std::size_t>(value) : 0;
}

// The text behind "KEY :" on the first line of /proc/cpuinfo that has it.
std::string processor_field(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (line.compare(0, key.size(), key) != 0 || colon == std::string::npos) continue;
    const auto text = line.find_first_not_of(" \t", colon + 1);
    return text == std::string::npos ? std::string() : line.substr(text);
  }
  return {};
}

std::string plain_vendor(const std::string& id) {
  if (id == "GenuineIntel") return "Intel";
  if (id == "AuthenticAMD") return "AMD";
  return id;
}

}  // namespace

memory_info machine_memory() {
  const std::size_t page = system_value(_SC_PAGESIZE);
  memory_info info{system_value(_SC_AVPHYS_PAGES) * page, system_value(_SC_PHYS_PAGES) * page};
  std::ifstream file("/proc/meminfo");
  for (std::string key, unit; file >> key;) {
    std::size_t kib = 0;
    if (!(file >> kib)) break;
    std::getline(file, unit);
    if (key != "MemAvailable:") continue;
    info.free_bytes = kib * 1024;  // unlike the free pages, it counts what the page cache would give back
    break;
  }
  return info;
}

device_properties machine_properties() {
  device_properties p;
  p.vendor = plain_vendor(processor_field("vendor_id"));
  p.model = processor_field("model name");
  utsname system{};
  if (uname(&system) == 0) p.architecture = system.machine;
  p.memory_bytes = machine_memory().total_bytes;
#ifdef _SC_LEVEL3_CACHE_SIZE
  p.cache_bytes = system_value(_SC_LEVEL3_CACHE_SIZE);
  if (p.cache_bytes == 0) p.cache_bytes = system_value(_SC_LEVEL2_CACHE_SIZE);
#endif
  p.multiprocessors = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return p;
}

}  // namespace twill::host
