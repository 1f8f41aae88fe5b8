// What limits the devices on the CPU: control groups, read from made-up systems, and environment variables.

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <twill/twill.hpp>

#include "backends/host/cgroup.hpp"
#include "backends/host/environment.hpp"
#include "backends/host/machine.hpp"
#include "support/backends.hpp"
#include "support/child_process.hpp"
#include "support/environment.hpp"

using namespace twill;

namespace {

// A folder that stands for "/", with /proc/self and /sys as they are given.
class made_up_system {
 public:
  made_up_system() {
    std::string pattern = (std::filesystem::temp_directory_path() / "twill-cgroup-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
  }
  ~made_up_system() { std::filesystem::remove_all(root_); }
  made_up_system(const made_up_system&) = delete;
  made_up_system& operator=(const made_up_system&) = delete;

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  // A group with its files, "NAME TEXT" each.
  void group(const std::string& folder, std::initializer_list<std::pair<const char*, const char*>> files) const {
    write(folder + "/cgroup.procs", "1\n");
    for (const auto& [name, text] : files) write(folder + "/" + name, text);
  }
  host::cgroup read() const { return host::cgroup(root_); }

 private:
  std::string root_;
};

constexpr const char* mount_v2 =
    "24 1 0:20 / /proc rw shared:5 - proc proc rw\n"
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 master:2 - cgroup2 cgroup2 rw,nsdelegate\n";

std::string open_error(const char* variable, const char* value) {
  const support::environment set(variable, value);
  try {
    device::open(support::has_simt ? "simt" : "cpu");
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

bool begins_with(const std::string& text, const std::string& what) {
  return text.rfind(what, 0) == 0;
}

}  // namespace

TEST_SUITE_BEGIN("host limits");

TEST_CASE("no control groups: no limit") {
  const made_up_system system;
  CHECK_FALSE(system.read().cpu_quota());
  CHECK_FALSE(system.read().memory());
  system.write("/proc/self/mountinfo", "cut off");
  system.write("/proc/self/cgroup", "::::\n0:");
  CHECK_FALSE(system.read().cpu_quota());
  CHECK_FALSE(system.read().memory());
}

TEST_CASE("version 2: the tightest limit from the own group up to the root") {
  const made_up_system system;
  system.write("/proc/self/mountinfo", mount_v2);
  system.write("/proc/self/cgroup", "0::/batch/job/step\n");
  system.group("/sys/fs/cgroup", {});
  system.group("/sys/fs/cgroup/batch", {{"cpu.max", "max 100000\n"}, {"memory.max", "max\n"}});
  system.group("/sys/fs/cgroup/batch/job", {{"cpu.max", "150000 100000\n"},
                                            {"memory.max", "1000000\n"},
                                            {"memory.current", "900000\n"},
                                            {"memory.stat", "anon 100000\nfile 800000\ninactive_file 700000\n"}});
  system.group("/sys/fs/cgroup/batch/job/step",
               {{"cpu.max", "800000 100000\n"}, {"memory.max", "2000000\n"}, {"memory.current", "300000\n"}});
  CHECK(system.read().cpu_quota().value() == 1.5);
  CHECK(system.read().memory().value().limit_bytes == 1000000);
  CHECK(system.read().memory().value().free_bytes == 800000);
  system.group("/sys/fs/cgroup/batch/job/step",
               {{"cpu.max", "50000 100000\n"}, {"memory.max", "600000\n"}, {"memory.current", "700000\n"}});
  CHECK(system.read().cpu_quota().value() == 0.5);
  CHECK(system.read().memory().value().limit_bytes == 600000);
  CHECK(system.read().memory().value().free_bytes == 0);
}

TEST_CASE("version 1: each controller has its hierarchy; -1 and the largest number are no limit") {
  const made_up_system system;
  system.write("/proc/self/mountinfo",
               "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
               "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
               "33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
               "34 31 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
               "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  system.write("/proc/self/cgroup", "4:memory:/a\n3:cpuset:/other\n2:cpu,cpuacct:/b/c\n1:name=systemd:/\n0::/\n");
  const std::string cpu = "/sys/fs/cgroup/cpu,cpuacct", memory = "/sys/fs/cgroup/memory";
  system.group(cpu, {{"cpu.cfs_quota_us", "-1\n"}, {"cpu.cfs_period_us", "100000\n"}});
  system.group(memory, {{"memory.limit_in_bytes", "9223372036854771712\n"}, {"memory.usage_in_bytes", "12345\n"}});
  CHECK_FALSE(system.read().cpu_quota());
  CHECK_FALSE(system.read().memory());
  system.group(cpu + "/b/c", {{"cpu.cfs_quota_us", "250000\n"}, {"cpu.cfs_period_us", "100000\n"}});
  system.group(memory + "/a", {{"memory.limit_in_bytes", "1000000\n"},
                               {"memory.usage_in_bytes", "600000\n"},
                               {"memory.stat", "inactive_file 1\ntotal_inactive_file 100000\n"}});
  CHECK(system.read().cpu_quota().value() == 2.5);
  CHECK(system.read().memory().value().limit_bytes == 1000000);
  CHECK(system.read().memory().value().free_bytes == 500000);
}

TEST_CASE("a container sees its group as the mount's root, or not at all") {
  const made_up_system system;
  const std::string line = " /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  system.group("/sys/fs/cgroup", {{"cpu.max", "300000 100000\n"}});
  system.group("/sys/fs/cgroup/inner", {{"cpu.max", "200000 100000\n"}});
  system.write("/proc/self/mountinfo", "30 23 0:26 /docker/abc" + line);
  system.write("/proc/self/cgroup", "0::/docker/abc/inner\n");
  CHECK(system.read().cpu_quota().value() == 2);
  system.write("/proc/self/cgroup", "0::/docker/abcdef\n");  // another group, not one below
  CHECK(system.read().cpu_quota().value() == 3);
  system.write("/proc/self/mountinfo", "30 23 0:26 /" + line);
  system.write("/proc/self/cgroup", "0::/../elsewhere\n");
  CHECK(system.read().cpu_quota().value() == 3);
}

TEST_CASE("memory: no more than the address space that is left") {
  const int code = support::run_in_child([] {
    const rlimit limit{std::size_t{1} << 30, std::size_t{1} << 30};
    if (setrlimit(RLIMIT_AS, &limit) != 0) return 1;
    return host::machine_memory().free_bytes < (std::size_t{1} << 30) ? 0 : 2;
  });
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static_cast<void>(code);  // a sanitizer's own address space is far larger
#else
  CHECK(code == 0);
#endif
  const auto memory = host::machine_memory();
  CHECK(memory.free_bytes <= memory.total_bytes);
  CHECK(host::usable_cpus() >= 1);
}

TEST_CASE("TWILL_THREADS is an integer from 1 to 1024") {
  for (const char* wrong : {"", "0", "-1", "+2", "two", "1025", "3 ", " 3", "3.0", "0x3", "99999999999999999999"}) {
    CHECK(begins_with(open_error("TWILL_THREADS", wrong),
                      "device::open: TWILL_THREADS is \"" + std::string(wrong) + "\""));
  }
  for (const char* right : {"1", "1024", "007"}) {
    const support::environment set("TWILL_THREADS", right);
    CHECK(host::default_thread_count() == std::atoi(right));
  }
  CHECK(open_error("TWILL_THREADS", "1\n2").find('\n') == std::string::npos);
}

TEST_CASE("TWILL_SIMT_CHECK is on or off, and nothing else") {
  for (const char* on : {"1", "on", "yes"}) {
    const support::environment set("TWILL_SIMT_CHECK", on);
    CHECK(host::environment_switch("TWILL_SIMT_CHECK"));
  }
  for (const char* off : {"0", "off", "no"}) {
    const support::environment set("TWILL_SIMT_CHECK", off);
    CHECK_FALSE(host::environment_switch("TWILL_SIMT_CHECK"));
  }
  CHECK_FALSE(host::environment_switch("TWILL_NOT_SET"));
}

TEST_CASE("errors: TWILL_SIMT_CHECK neither on nor off" * doctest::skip(!support::has_simt)) {
  for (const char* wrong : {"", "2", "ON", "true", "yes ", "\n"}) {
    const std::string text = open_error("TWILL_SIMT_CHECK", wrong);
    CHECK(begins_with(text, "device::open: TWILL_SIMT_CHECK is \""));
    CHECK(text.find('\n') == std::string::npos);
  }
}

TEST_SUITE_END();
