// Devices on the CPU in the life of a process: its CPUs, threads, children and end (docs/environment.md).

#include <doctest/doctest.h>
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <twill/twill.hpp>

#include "support/child_process.hpp"
#include "support/devices.hpp"
#include "support/environment.hpp"

namespace {

// Set in a process that ends while its threads are in calls: what those hold is no leak.
bool ends_in_calls = false;

}  // namespace

#if defined(__SANITIZE_ADDRESS__)
extern "C" [[gnu::visibility("default")]] int __lsan_is_turned_off() {
  return ends_in_calls ? 1 : 0;
}  // the sanitizer asks at exit
#endif

namespace {

// A transpose that takes all threads, of other numbers for each seed.
bool transposes(const twill::device& on, std::uint32_t seed = 1) {
  constexpr std::size_t rows = 1500, cols = 1700;
  const twill::stream stream(on);
  twill::buffer<std::uint32_t> in(on, rows * cols), out(on, rows * cols);
  std::vector<std::uint32_t> numbers(rows * cols);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = seed + static_cast<std::uint32_t>(i) * 2654435761u;
  in.upload(numbers, stream);
  twill::transpose(stream, in.data(), out.data(), {rows, cols});
  std::vector<std::uint32_t> found(rows * cols);
  out.download(found, stream);
  stream.wait();
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t col = 0; col < cols; ++col) {
      if (found[col * rows + row] != numbers[row * cols + col]) return false;
    }
  }
  return true;
}

// Threads of this process that the library started, in a child of a fork(), which begins with one thread; `before` were
// there at first: a sanitizer may have one of its own.
long threads_since(long before) {
  return support::process_status("Threads:") - before + 1;
}

int cpus_in_mask() {
  cpu_set_t mask;
  return sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : -1;
}

// Leaves the calling thread the first CPU of its mask.
bool pin_to_one_cpu() {
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return false;
  int first = 0;
  while (!CPU_ISSET(first, &mask)) ++first;
  CPU_ZERO(&mask);
  CPU_SET(first, &mask);
  return sched_setaffinity(0, sizeof mask, &mask) == 0;
}

// Constructed before, and so destroyed after, every other static object of the program.
struct last_words {
  bool armed = false;
  ~last_words() {
    if (!armed) return;
    int code = 98;
    try {
      if (transposes(twill::device::open("cpu"))) code = 42;
    } catch (const std::exception& e) {
      std::fprintf(stderr, "in a static destructor: %s\n", e.what());
    }
    _exit(code);
  }
};
[[gnu::init_priority(101)]] last_words at_exit;

}  // namespace

TEST_SUITE_BEGIN("process");

TEST_CASE("a device has a thread for each CPU of the affinity mask, of which the caller is one") {
  for (const std::string& name : support::devices_on_the_cpu()) {
    CAPTURE(name);
    const int code = support::run_in_child([&] {
      unsetenv("TWILL_THREADS");
      const long before = support::process_status("Threads:");
      if (!pin_to_one_cpu()) return 1;
      const auto device = twill::device::open(name);
      if (device.properties().multiprocessors != 1) return 2;
      if (support::children_may_have_threads && !transposes(device)) return 3;
      const long most = name == "cpu" ? 1 : 2;
      return threads_since(before) <= most ? 0 : 4;
    });
    CHECK(code == 0);
  }
  const int all = support::run_in_child([] {
    unsetenv("TWILL_THREADS");
    const long before = support::process_status("Threads:");
    const auto device = twill::device::open("cpu");
    if (device.properties().multiprocessors > cpus_in_mask()) return 1;
    if (support::children_may_have_threads && !transposes(device)) return 2;
    return threads_since(before) <= cpus_in_mask() ? 0 : 3;
  });
  CHECK(all == 0);
}

TEST_CASE("TWILL_THREADS is the number of threads, of which the caller is one") {
  for (const int threads : {1, 3}) {
    CAPTURE(threads);
    const int code = support::run_in_child([&] {
      const long before = support::process_status("Threads:");
      const support::environment set("TWILL_THREADS", std::to_string(threads).c_str());
      const auto device = twill::device::open("cpu");
      if (threads_since(before) != 1) return 1;  // opening starts none
      if (!support::children_may_have_threads) return 0;
      if (!transposes(device)) return 2;
      return threads_since(before) == threads ? 0 : 3;
    });
    CHECK(code == 0);
  }
}

TEST_CASE("devices share the threads of the process") {
  for (const std::string& name : support::devices_on_the_cpu()) {
    CAPTURE(name);
    CHECK(transposes(twill::device::open(name)));
    const long threads = support::process_status("Threads:");
    std::vector<twill::device> open;
    for (std::uint32_t i = 0; i < 50; ++i) {
      open.push_back(twill::device::open(name));
      if (i % 10 == 0) CHECK(transposes(open.back(), i));
    }
    CHECK(support::process_status("Threads:") == threads);
  }
}

TEST_CASE("a fork's child may use devices that its parent opened and used") {
  if (!support::children_may_have_threads) return;
  for (const std::string& name : support::devices_on_the_cpu()) {
    CAPTURE(name);
    const auto device = twill::device::open(name);
    CHECK(transposes(device));
    for (int i = 0; i < 3; ++i) {
      const int code = support::run_in_child([&] {
        if (!transposes(device, 2) || !transposes(twill::device::open(name), 3)) return 1;
        return support::run_in_child([&] { return transposes(device, 4) ? 0 : 1; });  // and its own children
      });
      CHECK(code == 0);
    }
    CHECK(transposes(device, 5));
  }
}

TEST_CASE("threads use one device at the same time, each by a stream of its own") {
  for (const std::string& name : support::devices_on_the_cpu()) {
    CAPTURE(name);
    const auto device = twill::device::open(name);
    std::atomic<int> right{0};
    std::vector<std::thread> users;
    for (std::uint32_t user = 0; user < 6; ++user) {
      users.emplace_back([&, user] {
        for (std::uint32_t i = 0; i < 4; ++i) right += transposes(device, 100 * user + i) ? 1 : 0;
      });
    }
    for (auto& user : users) user.join();
    CHECK(right == 24);
  }
}

TEST_CASE("a device may be opened and used in the destructor of a static object") {
  if (!support::children_may_have_threads) return;
  for (const bool used_before : {false, true}) {
    const int code = support::run_in_child([&] {
      if (used_before) transposes(twill::device::open("cpu"));
      at_exit.armed = true;
      std::exit(0);
      return 1;
    });
    CHECK(code == 42);
  }
}

TEST_CASE("a process may end while threads are in calls") {
  if (!support::children_may_have_threads) return;
  for (const std::string& name : support::devices_on_the_cpu()) {
    CAPTURE(name);
    const int code = support::run_in_child([&] {
      std::atomic<int> begun{0};
      for (int user = 0; user < 3; ++user) {
        std::thread([&begun, name] {
          const auto device = twill::device::open(name);
          for (;;) {
            ++begun;
            transposes(device);
          }
        }).detach();
      }
      while (begun < 6) std::this_thread::yield();
      ends_in_calls = true;
      std::exit(0);
      return 1;
    });
    CHECK(code == 0);
  }
}

TEST_SUITE_END();
