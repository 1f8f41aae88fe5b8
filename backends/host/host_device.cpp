#include "host_device.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <new>
#include <string>

#include "backends/error.hpp"
#include "machine.hpp"

namespace twill::host {
namespace {

using clock = std::chrono::steady_clock;

struct host_event {
  std::atomic<clock::duration> stamp{clock::duration::zero()};
};

host_event& event_of(void* handle) {
  return *static_cast<host_event*>(handle);
}

constexpr std::size_t least_alignment = 256;
constexpr std::size_t huge_page = std::size_t{2} << 20;

std::align_val_t alignment_for(std::size_t bytes) {
  return std::align_val_t(bytes >= 2 * huge_page ? huge_page : least_alignment);
}

}  // namespace

host_device::host_device(device_properties properties, int threads)
    : properties_(std::move(properties)), team_(threads) {}

device_properties host_device::cpu_properties(std::string name, std::string backend) {
  auto properties = machine_properties();
  properties.name = std::move(name);
  properties.backend = std::move(backend);
  return properties;
}

memory_info host_device::memory() const {
  const std::size_t used = allocations_.live_bytes(), total = properties_.memory_bytes;
  return {std::min(machine_memory().free_bytes, total > used ? total - used : 0), total};
}

void* host_device::allocate(std::size_t bytes) {
  const auto info = memory();
  void* memory = nullptr;
  // Asked first: the system would give more memory than there is, and kill the process when it is used.
  if (bytes <= info.free_bytes) memory = ::operator new(bytes, alignment_for(bytes), std::nothrow);
  if (memory == nullptr) {
    detail::fail(errc::out_of_memory,
                 "allocation of " + std::to_string(bytes) + " bytes on " + properties_.name + " failed",
                 std::to_string(info.free_bytes) + " of " + std::to_string(info.total_bytes) + " bytes are free",
                 "free device memory or ask for less");
  }
  // Transposes touch a page for each row or column: with small pages they wait for translations.
  if (bytes >= 2 * huge_page) (void)madvise(memory, bytes, MADV_HUGEPAGE);
  allocations_.add(memory, bytes);
  return memory;
}

void host_device::release(void* memory) noexcept {
  const auto known = allocations_.remove(memory);
  if (known) ::operator delete(memory, alignment_for(*known));
}

host_stream& host_device::stream_of(void* handle) noexcept {
  return handle == nullptr ? default_stream_ : *static_cast<host_stream*>(handle);
}

void* host_device::create_stream() {
  return new host_stream;
}

void host_device::destroy_stream(void* stream) noexcept {
  delete static_cast<host_stream*>(stream);
}

void host_device::wait_stream(void* stream) {
  stream_of(stream).wait();
}

void* host_device::create_event() {
  return new host_event;
}

void host_device::destroy_event(void* event) noexcept {
  delete static_cast<host_event*>(event);
}

void host_device::record_event(void* event, void*) {
  event_of(event).stamp = clock::now().time_since_epoch();
}

// All work is done before a call returns: there is nothing to wait for.
void host_device::wait_event(void*) {}
void host_device::hold_stream(void*, void*) {}

double host_device::seconds_between(void* start, void* end) {
  return std::chrono::duration<double>(event_of(end).stamp.load() - event_of(start).stamp.load()).count();
}

void host_device::copy(void*, void* to, const void* from, std::size_t bytes, detail::copy_direction) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

void host_device::copy_rows(void*, const detail::pitched_rows& a, detail::copy_direction) {
  for (std::int64_t row = 0; row < a.rows; ++row) {
    std::memcpy(static_cast<char*>(a.out) + row * a.out_pitch, static_cast<const char*>(a.in) + row * a.in_pitch,
                static_cast<std::size_t>(a.row_bytes));
  }
}

void host_device::fill(void*, void* to, unsigned char value, std::size_t bytes) {
  if (bytes > 0) std::memset(to, value, bytes);
}

namespace {

[[noreturn]] void fail_other_process(const std::string& name) {
  detail::fail(errc::unsupported, "memory of " + name + " is its own process' alone", "it is no shared memory",
               "use transport mpi");
}

}  // namespace

detail::collectives& host_device::messages() {
  detail::fail(errc::unsupported, properties_.name + " has no library of collectives", "NCCL and RCCL are of GPUs",
               "use transport direct or mpi");
}

detail::exported_memory host_device::export_memory(const void*) {
  fail_other_process(properties_.name);
}
void* host_device::open_memory(const detail::exported_memory&) {
  fail_other_process(properties_.name);
}

void* host_device::allocate_pinned(std::size_t bytes) {
  void* const memory = ::operator new(bytes, std::align_val_t(least_alignment), std::nothrow);
  if (memory != nullptr) return memory;
  detail::fail(errc::out_of_memory, "allocation of " + std::to_string(bytes) + " bytes of host memory failed",
               "the host has no more", "free some or ask for less");
}
void host_device::release_pinned(void* memory) noexcept {
  ::operator delete(memory, std::align_val_t(least_alignment));
}

}  // namespace twill::host
