// What a call allocates on the host: nothing on cpu, whatever its shape. Every operator new of the program counts.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <twill/twill.hpp>

#include "support/allocations.hpp"
#include "support/devices.hpp"
#include "support/mirror_link.hpp"

namespace {

std::atomic<std::uint64_t> allocations{0};

void* allocated(std::size_t bytes, std::size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* const memory =
      alignment > alignof(std::max_align_t) ? std::aligned_alloc(alignment, rounded) : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

std::uint64_t support::host_allocations() {
  return allocations.load();
}

void* operator new(std::size_t bytes) {
  return allocated(bytes == 0 ? 1 : bytes, 1);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocated(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace {

/// The least that one of several calls allocates, in all threads: a worker's first task allocates the buffer it keeps.
std::uint64_t allocations_of(const std::function<void()>& call) {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < 6 && least > 0; ++i) {
    const std::uint64_t before = allocations.load();
    call();
    least = std::min(least, allocations.load() - before);
  }
  return least;
}

bool on_the_cpu() {
  for (const std::string& name : support::test_devices()) {
    if (name == "cpu") return true;
  }
  return false;
}

}  // namespace

TEST_SUITE_BEGIN("allocations");

TEST_CASE("the count counts") {
  CHECK(allocations_of([] { (void)std::vector<int>(100, 1).data(); }) == 1);
  CHECK(allocations_of([] { delete new std::string(100, 'x'); }) == 2);
}

TEST_CASE("no operation on cpu allocates, small or large") {
  if (!on_the_cpu()) return;
  const auto cpu = twill::device::open("cpu");
  const twill::stream owner(cpu);
  const twill::stream_ref stream = owner;
  for (const std::int64_t n : {10, 1030}) {  // one thread, and all of them
    CAPTURE(n);
    const auto count = static_cast<std::size_t>(n * n + n);
    twill::buffer<float> in(cpu, count), out(cpu, count);
    twill::buffer<std::int64_t> offsets(cpu, 3);
    offsets.upload({0, n, n * n}, stream);
    twill::fill_bytes(stream, in.data(), 0, in.size_bytes());
    const twill::raw_buffer scratch(cpu, std::size_t{16} << 20);
    const float* a = in.data();
    float* b = out.data();
    const twill::permute_shape deep{{2, n, 1, 2, 1, n / 4, 1, 1}, {5, 1, 3, 0, 2, 4, 6, 7}};
    const twill::permute_shape strided =
        twill::permute_shape{{2, n, n / 3}, {2, 1, 0}}.with_in_strides({n * (n / 3), n / 3, 1});
    const std::pair<const char*, std::function<void()>> calls[] = {
        {"transpose", [&] { twill::transpose(stream, a, b, {n, n}); }},
        {"transpose of a padded batch", [&] { twill::transpose(stream, a, b, {n / 3, n / 2, 3, n}); }},
        {"transpose of bytes", [&] { twill::transpose_bytes(stream, a, b, 3, {n, n}); }},
        {"transpose of a vector", [&] { twill::transpose(stream, a, b, {1, n * n}); }},
        {"transpose_in_place", [&] { twill::transpose_in_place(stream, b, {n, n}); }},
        {"transpose_in_place with scratch", [&] { twill::transpose_in_place(stream, b, {n, n + 1}, scratch); }},
        {"permute of rank 8", [&] { twill::permute(stream, a, b, deep); }},
        {"permute with strides", [&] { twill::permute(stream, a, b, strided); }},
        {"copy", [&] { twill::copy(stream, a, b, {n, n - 1, n, n}); }},
        {"upload", [&] { twill::upload(stream, a, b, n * n); }},
        {"fill_bytes", [&] { twill::fill_bytes(stream, b, 1, out.size_bytes()); }},
        {"fill", [&] { twill::fill(stream, b, 1.5f, n * n); }},
        {"reverse", [&] { twill::reverse(stream, a, b, n * n); }},
        {"reverse_in_place", [&] { twill::reverse_in_place(stream, b, n * n); }},
        {"scan", [&] { twill::scan(stream, a, b, n * n, scratch); }},
        {"scan of rows", [&] { twill::scan(stream, a, b, {n, n}, scratch); }},
        {"scan_segments", [&] { twill::scan_segments(stream, a, b, n * n, offsets.data(), 2, scratch); }},
        {"reduce", [&] { twill::reduce(stream, a, b, n * n, scratch); }},
        {"reduce_rows", [&] { twill::reduce_rows(stream, a, b, {n, n}, scratch); }},
        {"reduce_columns", [&] { twill::reduce_columns(stream, a, b, {n, n}, scratch); }},
        {"reduce_segments", [&] { twill::reduce_segments(stream, a, b, offsets.data(), 2, scratch); }},
        {"wait", [&] { stream.wait(); }},
    };
    for (const auto& [name, call] : calls) {
      INFO(std::string(name));
      CHECK(allocations_of(call) == 0);
    }
  }
}

TEST_CASE("no run of a global transpose on cpu allocates, whatever the transport") {
  if (!on_the_cpu()) return;
  const auto cpu = twill::device::open("cpu");
  const twill::stream owner(cpu);
  for (const std::int64_t n : {10, 1030}) {
    twill::buffer<double> in(cpu, static_cast<std::size_t>(n * n)), out(cpu, in.size());
    twill::fill_bytes(owner, in.data(), 0, in.size_bytes());
    for (const auto via :
         {twill::transport::direct, twill::transport::copy, twill::transport::mpi, twill::transport::mixed}) {
      CAPTURE(n);
      CAPTURE(std::string(name(via)));
      const bool has_peer = via == twill::transport::mpi || via == twill::transport::mixed;
      const auto team = has_peer ? twill::team::of_link(cpu, support::mirror_link()) : twill::team::of_devices({cpu});
      const int ranks = team.size();
      twill::global_options options;
      options.via = via;
      options.ranks_per_node = 1;
      twill::global_transpose plan(team, sizeof(double), {{n, n}, {{ranks, 1}}, {{1, ranks}, {1, 0}}},
                                   {{in.data(), out.data()}}, options);
      const std::vector<twill::stream_ref> streams{owner};
      CHECK(allocations_of([&] { plan.run(streams); }) == 0);
    }
  }
}

TEST_SUITE_END();
