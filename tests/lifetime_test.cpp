// How long things live (docs/lifetime.md): empty objects, handles that outlive their device variable, forks, static
// objects, the default stream. tests/process_test.cpp has the process: threads, CPUs, exit while threads are in calls.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <twill/twill.hpp>

#include "support/cases.hpp"
#include "support/child_process.hpp"
#include "support/devices.hpp"

namespace {

using support::code_of;
using support::on_each_device;
using support::on_each_stream;

const auto invalid = twill::errc::invalid_argument;

std::vector<std::uint32_t> numbers(std::size_t count) {
  std::vector<std::uint32_t> all(count);
  std::iota(all.begin(), all.end(), 1u);
  return all;
}

/// Whether the stream and both buffers, of 6 elements, still do what they are for.
bool transposes(twill::stream_ref stream, twill::buffer<std::uint32_t>& in, twill::buffer<std::uint32_t>& out) {
  in.upload(numbers(6), stream);
  twill::transpose(stream, in.data(), out.data(), {2, 3});
  std::vector<std::uint32_t> found(6);
  out.download(found, stream);
  stream.wait();
  return found == std::vector<std::uint32_t>{1, 4, 2, 5, 3, 6};
}

/// A stream and memory, as an application keeps them.
struct owned {
  explicit owned(const twill::device& on) : stream(on), in(on, 6), out(on, 6) {}
  twill::stream stream;
  twill::buffer<std::uint32_t> in, out;
  bool works() { return transposes(stream, in, out); }
};

bool on_a_gpu(const twill::device& device) {
  return device.properties().is_gpu;
}

// Constructed before main(), and before every other static object of the program.
struct first_words {
  bool worked = false;
  std::string problem;
  first_words() {
    try {
      const auto device = twill::device::open("cpu");
      worked = owned(device).works();
    } catch (const std::exception& e) {
      problem = e.what();
    }
  }
};
[[gnu::init_priority(102)]] const first_words before_main;

}  // namespace

// NOLINTBEGIN(bugprone-use-after-move): what objects are after a move is the subject here.
TEST_SUITE_BEGIN("lifetime");

TEST_CASE("a moved-from stream: its work goes on in the other, and it throws until it is assigned to") {
  on_each_device([](const twill::device& device) {
    twill::buffer<std::uint32_t> in(device, 6), out(device, 6);
    std::optional<twill::stream> first(std::in_place, device);
    twill::stream second(std::move(*first));
    for (const twill::stream_ref& empty : {twill::stream_ref(*first), twill::stream_ref()}) {
      CHECK(empty.native() == nullptr);
      CHECK_FALSE(empty.on().is_open());
      CHECK(code_of([&] { empty.wait(); }) == invalid);
      CHECK(code_of([&] { twill::fill_bytes(empty, in.data(), 0, 24); }) == invalid);
      CHECK(code_of([&] { twill::copy(empty, in.data(), out.data(), 6); }) == invalid);
      CHECK(code_of([&] { twill::permute(empty, in.data(), out.data(), {{2, 3}, {1, 0}}); }) == invalid);
      CHECK(code_of([&] { twill::reverse(empty, in.data(), out.data(), 6); }) == invalid);
      CHECK(code_of([&] { twill::transpose_in_place(empty, in.data(), {2, 2}); }) == invalid);
      CHECK(code_of([&] { twill::scan(empty, in.data(), out.data(), 6, {}); }) == invalid);
      CHECK(code_of([&] { twill::reduce(empty, in.data(), out.data(), 6, {}); }) == invalid);
      CHECK(code_of([&] { in.upload(numbers(6), empty); }) == invalid);
    }
    first.reset();  // the handle is the other's now
    CHECK(transposes(second, in, out));
    twill::stream third(device);
    third = std::move(second);
    CHECK(code_of([&] { second.wait(); }) == invalid);
    CHECK(transposes(third, in, out));
    second = std::move(third);
    CHECK(transposes(second, in, out));
    auto& same = second;
    second = std::move(same);  // to itself: still usable, or empty, but never another's
    CHECK_NOTHROW(second = twill::stream(device));
    CHECK(transposes(second, in, out));
  });
}

TEST_CASE("a moved-from buffer: null, of size 0, and of no device") {
  on_each_stream([](const twill::device& device, twill::stream_ref stream) {
    twill::raw_buffer raw(device, 512);
    void* const where = raw.data();
    twill::raw_buffer other(std::move(raw));
    CHECK(raw.data() == nullptr);
    CHECK(raw.size_bytes() == 0);
    CHECK_FALSE(raw.on().is_open());
    CHECK(other.data() == where);
    const twill::scratch_ref none = raw;
    CHECK(none.data == nullptr);
    CHECK(none.bytes == 0);
    raw = std::move(other);
    CHECK(raw.data() == where);
    CHECK(other.size_bytes() == 0);

    twill::buffer<std::uint32_t> from(device, 6), to(std::move(from)), out(device, 6);
    std::vector<std::uint32_t> host(6), nothing;
    CHECK(from.size() == 0);
    CHECK(code_of([&] { from.upload(host, stream); }) == invalid);
    CHECK(code_of([&] { from.upload(nothing, stream); }) == invalid);
    CHECK(code_of([&] { from.download(host, stream); }) == invalid);
    CHECK(code_of([&] { from.download(host.data(), 0, 0, stream); }) == invalid);
    CHECK(code_of([&] { twill::transpose(stream, from.data(), out.data(), {2, 3}); }) == invalid);
    CHECK(transposes(stream, to, out));
    from = std::move(to);
    CHECK(transposes(stream, from, out));
  });
}

TEST_CASE("a moved-from event and device throw until they are assigned to") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    twill::event start(device), end(device);
    start.record(stream);
    twill::event other(std::move(start));
    CHECK(code_of([&] { start.record(stream); }) == invalid);
    CHECK(code_of([&] { start.wait(); }) == invalid);
    CHECK(code_of([&] { stream.wait(start); }) == invalid);
    end.record(stream);
    CHECK(code_of([&] { (void)end.elapsed(start); }) == invalid);
    CHECK(end.elapsed(other).count() >= 0);  // what was recorded went along
    start = std::move(other);
    CHECK(end.elapsed(start).count() >= 0);
    twill::device copy = device, moved = std::move(copy);
    CHECK(moved == device);
    CHECK_FALSE(copy.is_open());  // NOLINT(bugprone-use-after-move)
    CHECK(code_of([&] { (void)copy.properties(); }) == invalid);
    CHECK(code_of([&] { (void)copy.memory(); }) == invalid);
    CHECK(code_of([&] { twill::stream made(copy); }) == invalid);
    CHECK(code_of([&] { twill::event made(copy); }) == invalid);
    CHECK(code_of([&] { twill::raw_buffer made(copy, 8); }) == invalid);
    copy = moved;
    CHECK_NOTHROW(twill::raw_buffer(copy, 8));
  });
}

TEST_CASE("a device that is opened twice is one device, by any of its names") {
  auto names = support::test_devices();
  names.emplace_back("cpu");
  for (const char* each : {"simt", "simt:h200", "simt:mi300x"}) {
    const auto all = twill::device::list();
    if (std::find(all.begin(), all.end(), each) != all.end()) names.emplace_back(each);
  }
  for (const std::string& name : names) {
    CAPTURE(name);
    const auto first = twill::device::open(name), second = twill::device::open(name);
    CHECK(first == second);
    CHECK(twill::device::open(first.properties().name) == first);
    owned things(first);
    const twill::stream stream(second);
    CHECK(transposes(stream, things.in, things.out));
    twill::event event(second);
    CHECK_NOTHROW(event.record(things.stream));
    CHECK_NOTHROW(stream.wait(event));
  }
}

TEST_CASE("streams and memory outlive the device variable, and each other, in any order") {
  for (const auto& name : support::test_devices()) {
    CAPTURE(name);
    auto device = twill::device::open(name);
    const std::string full_name = device.properties().name;  // "cuda" is "cuda:0"
    auto stream = std::make_unique<twill::stream>(device);
    auto event = std::make_unique<twill::event>(device);
    auto in = std::make_unique<twill::buffer<std::uint32_t>>(device, 6);
    twill::buffer<std::uint32_t> out(device, 6);
    device = twill::device();
    CHECK(transposes(*stream, *in, out));
    event->record(*stream);
    event.reset();  // recorded, and never waited for
    in->upload(numbers(6), *stream);
    twill::copy(*stream, in->data(), out.data(), 6);
    stream->wait();
    in.reset();
    std::vector<std::uint32_t> found(6);
    out.download(found, *stream);
    stream->wait();
    CHECK(found == numbers(6));
    const twill::device kept = out.on();
    stream.reset();
    out = {};
    CHECK(kept.properties().name == full_name);
  }
}

TEST_CASE("the child of a fork uses and destroys what its parent made, and its parent what it kept") {
  if (!support::children_may_have_threads) return;
  on_each_device([](const twill::device& device) {
    if (on_a_gpu(device)) return;  // a vendor's context does not survive a fork
    owned things(device);
    const auto before = numbers(6);
    things.in.upload(before, things.stream);
    const int code = support::run_in_child([&] {
      std::vector<std::uint32_t> seen(6);
      things.in.download(seen, things.stream);
      if (seen != numbers(6)) return 1;
      if (!things.works()) return 2;
      twill::fill_bytes(things.stream, things.in.data(), 0, 24);
      const owned moved = std::move(things);  // and is destroyed here
      return moved.in.size() == 6 && things.in.size() == 0 ? 0 : 3;
    });
    CHECK(code == 0);
    std::vector<std::uint32_t> seen(6);
    things.in.download(seen, things.stream);
    things.stream.wait();
    CHECK(seen == before);  // the child had a copy
    CHECK(things.works());
  });
}

TEST_CASE("static objects keep devices open to the end, and are destroyed without harm") {
  on_each_device([](const twill::device& device) {
    if (on_a_gpu(device)) return;
    const std::string name = device.properties().name;
    const int code = support::run_in_child([&] {
      static owned things(twill::device::open(name));
      static std::vector<owned> more;
      more.emplace_back(things.stream.on());
      if (!things.works() || !more.front().works()) return 1;
      std::exit(42);
      return 2;
    });
    CHECK(code == 42);
  });
  INFO(before_main.problem);
  CHECK(before_main.worked);
}

TEST_CASE("a process that ends with work in flight ends well") {
  on_each_device([](const twill::device& device) {
    if (on_a_gpu(device)) return;
    const std::string name = device.properties().name;
    const int code = support::run_in_child([&] {
      static owned things(twill::device::open(name));
      twill::transpose(things.stream, things.in.data(), things.out.data(), {2, 3});
      std::exit(42);  // nobody waited
      return 2;
    });
    CHECK(code == 42);
  });
}

TEST_CASE("the default stream takes calls of several threads, in order for each of them") {
  on_each_device([](const twill::device& device) {
    const twill::stream_ref shared(device, nullptr);
    std::vector<std::thread> users;
    std::vector<int> right(4);
    for (int& mine : right) {
      users.emplace_back([&device, shared, &mine] {
        twill::buffer<std::uint32_t> in(device, 6), out(device, 6);
        for (int i = 0; i < 20; ++i) mine += transposes(shared, in, out) ? 1 : 0;
      });
    }
    for (auto& user : users) user.join();
    CHECK(right == std::vector<int>(4, 20));
  });
}

// NOLINTEND(bugprone-use-after-move)
TEST_SUITE_END();
