#pragma once

// What the control groups of this process allow it: Linux' cgroups of version 1 and 2.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace twill::host {

struct memory_allowance {
  std::uint64_t limit_bytes;  ///< the tightest limit
  std::uint64_t free_bytes;   ///< what may still be used before the first limit is met, page cache not counted as used
};

class cgroup {
 public:
  /// Finds the groups of the process, from /proc/self below `root`. Where there are none, nothing is limited.
  explicit cgroup(const std::string& root = "");

  /// CPUs' worth of time that its quota allows, such as 1.5; none without a quota.
  std::optional<double> cpu_quota() const;

  /// None without a limit.
  std::optional<memory_allowance> memory() const;

 private:
  struct controller {
    int version = 0;                   // 0: not mounted
    std::vector<std::string> folders;  // the process's own group first, then those above it: all their limits hold
  };

  controller cpu_, memory_;
};

}  // namespace twill::host
