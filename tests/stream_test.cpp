#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include <twill/buffer.hpp>
#include <twill/cuda.hpp>
#include <twill/error.hpp>
#include <twill/event.hpp>
#include <twill/hip.hpp>

#include "support/backends.hpp"
#include "support/devices.hpp"

TEST_SUITE_BEGIN("stream");

TEST_CASE("events: they time, order and wait") {
  for (const auto& name : support::test_devices()) {
    CAPTURE(name);
    const auto device = twill::device::open(name);
    twill::stream first(device), second(device);
    twill::event start(device), end(device);
    CHECK_THROWS_AS(end.elapsed(start), twill::error);  // never recorded
    twill::buffer<unsigned char> a(device, 1 << 22), b(device, 1 << 22);
    start.record(first);
    twill::fill_bytes(first, a.data(), 7, a.size_bytes());
    end.record(first);
    second.wait(end);  // the copy follows the fill
    twill::copy_bytes(second, a.data(), b.data(), a.size_bytes());
    second.wait();
    CHECK(end.elapsed(start).count() >= 0);
    std::vector<unsigned char> host(a.size());
    b.download(host, second);
    second.wait();
    CHECK(host.front() == 7);
    CHECK(host.back() == 7);
    twill::stream moved(std::move(first));
    first = twill::stream(device);
    CHECK_NOTHROW(moved.wait());
    CHECK_NOTHROW(first.wait());
    // A second handle of the same device is the same device.
    CHECK_NOTHROW(start.record(twill::stream(twill::device::open(name))));
  }
}

TEST_CASE("events: not across devices" * doctest::skip(!support::has_cpu || !support::has_simt)) {
  const auto cpu = twill::device::open("cpu"), simt = twill::device::open("simt");
  twill::event on_cpu(cpu), on_simt(simt);
  const twill::stream stream(simt);
  CHECK_THROWS_AS(on_cpu.record(stream), twill::error);
  CHECK_THROWS_AS(stream.wait(on_cpu), twill::error);
  on_cpu.record(twill::stream(cpu));
  on_simt.record(stream);
  CHECK_THROWS_AS(on_cpu.elapsed(on_simt), twill::error);
}

TEST_CASE("borrow: the application's stream, or no_device where the backend or its device is missing") {
  const auto borrowed_works = [](const char* backend, auto borrow) {
    CAPTURE(backend);
    bool there = false;
    for (const auto& name : twill::device::list()) there = there || name == std::string(backend) + ":0";
    if (!there) {
      CHECK_THROWS_AS(borrow(), twill::error);
      return;
    }
    const twill::stream_ref stream = borrow();
    CHECK(stream.on().properties().backend == backend);
    twill::buffer<int> a(stream.on(), 3);
    std::vector<int> host{1, 2, 3}, result(3);
    a.upload(host, stream);
    a.download(result, stream);
    stream.wait();
    CHECK(result == host);
  };
  borrowed_works("cuda", [] { return twill::cuda::borrow(nullptr); });
  borrowed_works("hip", [] { return twill::hip::borrow(nullptr); });
}

TEST_SUITE_END();
