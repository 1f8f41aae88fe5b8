#include "machine.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "cgroup.hpp"

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

// The groups that this process began in. Kept: they are asked about at each allocation.
const cgroup& own_cgroup() {
  static const auto* const own = new cgroup;  // never destroyed: devices may be used while the program ends
  return *own;
}

// CPUs of the calling thread's affinity mask; the kernel refuses masks with room for fewer CPUs than it knows.
int affine_cpus() {
  for (std::size_t most = 1024; most <= (std::size_t{1} << 20); most *= 2) {
    std::vector<cpu_set_t> mask(most / CPU_SETSIZE);
    const std::size_t bytes = mask.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, mask.data()) == 0) return CPU_COUNT_S(bytes, mask.data());
    if (errno != EINVAL) break;
  }
  return static_cast<int>(system_value(_SC_NPROCESSORS_ONLN));
}

// Bytes of address space that the process may still map; SIZE_MAX without a limit.
std::size_t free_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const std::size_t mapped = pages * system_value(_SC_PAGESIZE);
  return limit.rlim_cur > mapped ? limit.rlim_cur - mapped : 0;
}

}  // namespace

int usable_cpus() {
  const int affine = std::max(1, affine_cpus());
  const auto quota = own_cgroup().cpu_quota();
  return quota && *quota < affine ? std::max(1, static_cast<int>(std::ceil(*quota))) : affine;
}

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
  if (const auto allowed = own_cgroup().memory()) {
    info.total_bytes = std::min<std::size_t>(info.total_bytes, allowed->limit_bytes);
    info.free_bytes = std::min<std::size_t>(info.free_bytes, allowed->free_bytes);
  }
  info.free_bytes = std::min({info.free_bytes, info.total_bytes, free_address_space()});
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
  p.multiprocessors = usable_cpus();
  return p;
}

}  // namespace twill::host
