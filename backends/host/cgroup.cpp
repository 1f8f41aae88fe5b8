#include "cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

namespace twill::host {
namespace {

// Where a hierarchy is mounted, and which group is its root there.
struct mount {
  int version;
  std::string root, point;
};

bool lists(const std::string& names, std::string_view name) {
  std::istringstream all(names);
  for (std::string one; std::getline(all, one, ',');) {
    if (one == name) return true;
  }
  return false;
}

// The mount that has a controller: of version 1, where there is one, else of version 2. Fields as in proc(5):
// ID PARENT DEVICE ROOT POINT OPTIONS [TAG...] - TYPE SOURCE SUPER-OPTIONS
std::optional<mount> mount_of(const std::string& root, std::string_view name) {
  std::optional<mount> found;
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const auto dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream front(line.substr(0, dash)), back(line.substr(dash + 3));
    std::string skipped, group, point, type, source, options;
    front >> skipped >> skipped >> skipped >> group >> point;
    back >> type >> source >> options;
    if (type == "cgroup" && lists(options, name)) return mount{1, group, point};
    if (type == "cgroup2") found = mount{2, group, point};
  }
  return found;
}

// The group of the process in the hierarchy of a controller. Lines are NUMBER:CONTROLLERS:PATH, version 2's 0::PATH.
std::optional<std::string> group_of(const std::string& root, const mount& in, std::string_view name) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (in.version == 1 ? lists(controllers, name) : controllers.empty()) return line.substr(second + 1);
  }
  return std::nullopt;
}

// The folders of the group and of those above it that can be seen. In a container the path may lie outside the mount:
// then the mount's own folder is what there is.
std::vector<std::string> folders_of(const std::string& root, const mount& in, std::string group) {
  const bool below = in.root == "/" || group == in.root || group.rfind(in.root + "/", 0) == 0;
  group = !below ? "" : in.root == "/" ? group : group.substr(in.root.size());
  const std::string point = root + in.point;
  std::vector<std::string> all;
  for (;;) {
    while (!group.empty() && group.back() == '/') group.pop_back();
    std::string folder = point;
    folder += group;
    if (std::ifstream(folder + "/cgroup.procs")) all.push_back(std::move(folder));
    if (group.empty()) return all;
    group.erase(group.rfind('/'));
  }
}

// The numbers at the beginning of a file: none for "max" and where there is no such file.
std::vector<double> numbers_in(const std::string& path) {
  std::ifstream file(path);
  std::vector<double> all;
  for (double each = 0; file >> each;) all.push_back(each);
  return all;
}

std::optional<std::uint64_t> bytes_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t bytes = 0;
  return file >> bytes ? std::optional(bytes) : std::nullopt;
}

// The value behind a key in memory.stat.
std::uint64_t statistic(const std::string& folder, std::string_view key) {
  std::ifstream file(folder + "/memory.stat");
  std::uint64_t value = 0;
  for (std::string name; file >> name >> value;) {
    if (name == key) return value;
  }
  return 0;
}

std::optional<memory_allowance> allowance(const std::string& folder, int version) {
  const auto limit = bytes_in(folder + (version == 1 ? "/memory.limit_in_bytes" : "/memory.max"));
  if (!limit || *limit >= std::uint64_t{1} << 62) return std::nullopt;  // version 1 has no word for "no limit"
  const auto held = bytes_in(folder + (version == 1 ? "/memory.usage_in_bytes" : "/memory.current")).value_or(0);
  const auto cache = statistic(folder, version == 1 ? "total_inactive_file" : "inactive_file");
  const auto used = held - std::min(held, cache);
  return memory_allowance{*limit, *limit - std::min(*limit, used)};
}

}  // namespace

cgroup::cgroup(const std::string& root) {
  const auto find = [&](std::string_view name) -> controller {
    const auto where = mount_of(root, name);
    const auto group = where ? group_of(root, *where, name) : std::nullopt;
    if (!group) return {};
    return {where->version, folders_of(root, *where, *group)};
  };
  cpu_ = find("cpu");
  memory_ = find("memory");
}

std::optional<double> cgroup::cpu_quota() const {
  std::optional<double> least;
  for (const std::string& folder : cpu_.folders) {
    auto quota = numbers_in(folder + (cpu_.version == 1 ? "/cpu.cfs_quota_us" : "/cpu.max"));
    if (cpu_.version == 1) {
      for (const double period : numbers_in(folder + "/cpu.cfs_period_us")) quota.push_back(period);
    }
    if (quota.size() != 2 || quota[0] <= 0 || quota[1] <= 0) continue;  // -1 and "max" are no limit
    const double cpus = quota[0] / quota[1];
    least = std::min(least.value_or(cpus), cpus);
  }
  return least;
}

std::optional<memory_allowance> cgroup::memory() const {
  std::optional<memory_allowance> least;
  for (const std::string& folder : memory_.folders) {
    const auto here = allowance(folder, memory_.version);
    if (!here) continue;
    if (!least) least = here;
    least->limit_bytes = std::min(least->limit_bytes, here->limit_bytes);
    least->free_bytes = std::min(least->free_bytes, here->free_bytes);
  }
  return least;
}

}  // namespace twill::host
