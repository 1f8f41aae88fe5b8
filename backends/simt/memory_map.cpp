#include "memory_map.hpp"

#include <link.h>

#include <algorithm>
#include <iterator>

#include "memory_shadow.hpp"

namespace twill::simt {
namespace {

constexpr std::uint64_t large_page = std::uint64_t{2} << 20, small_alignment = 512;

struct module_search {
  std::uintptr_t code;
  byte_range found;
};

int visit_module(dl_phdr_info* info, std::size_t, void* data) {
  auto& search = *static_cast<module_search*>(data);
  bool holds_code = false;
  std::size_t bytes = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type == PT_LOAD) {
      holds_code = holds_code || byte_range{info->dlpi_addr + part.p_vaddr, part.p_memsz}.holds(search.code);
    } else if (part.p_type == PT_TLS) {
      bytes = part.p_memsz;
    }
  }
  if (!holds_code) return 0;
  if (info->dlpi_tls_data != nullptr) {
    search.found = {reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data), bytes};
  }
  return 1;
}

int add_module(dl_phdr_info* info, std::size_t, void* data) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    static_cast<std::vector<byte_range>*>(data)->push_back({info->dlpi_addr + part.p_vaddr, part.p_memsz});
  }
  return 0;
}

bool is_lower(const byte_range& a, const byte_range& b) {
  return a.base < b.base;
}

// The last range that begins at or before `address`; nullptr when there is none.
template <class Range>
const Range* range_at(const std::vector<Range>& ranges, std::uintptr_t address) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                      [](std::uintptr_t at, const Range& r) { return at < r.base; });
  return after == ranges.begin() ? nullptr : &*std::prev(after);
}

}  // namespace

memory_map::memory_map(const host::allocations& given, memory_shadow* shadow) {
  std::uint64_t next = large_page;
  for (const auto& one : given.live_by_age()) {
    const std::uint64_t alignment = one.bytes >= large_page / 2 ? large_page : small_alignment;
    next = (next + alignment - 1) / alignment * alignment;
    range r;
    r.base = one.base;
    r.bytes = one.bytes;
    r.device_address = next;
    if (shadow != nullptr) r.written = shadow->flags_of(one.base);
    ranges_.push_back(r);
    next += one.bytes;
  }
  std::sort(ranges_.begin(), ranges_.end(), is_lower);
  dl_iterate_phdr(&add_module, &program_);
  std::sort(program_.begin(), program_.end(), is_lower);
}

const memory_map::range* memory_map::find(std::uintptr_t address) const {
  const auto* at = range_at(ranges_, address);
  return at != nullptr && at->holds(address) ? at : nullptr;
}

const memory_map::range* memory_map::last_before(std::uintptr_t address) const {
  return range_at(ranges_, address);
}

const memory_map::range* memory_map::first_after(std::uintptr_t address) const {
  const auto* before = range_at(ranges_, address);
  const auto next = before == nullptr ? std::size_t{0} : static_cast<std::size_t>(before - ranges_.data()) + 1;
  return next < ranges_.size() ? &ranges_[next] : nullptr;
}

bool memory_map::is_of_program(std::uintptr_t address) const {
  const auto* at = range_at(program_, address);
  return at != nullptr && at->holds(address);
}

byte_range thread_locals_of(const void* code) {
  module_search search{reinterpret_cast<std::uintptr_t>(code), {}};
  dl_iterate_phdr(&visit_module, &search);
  return search.found;
}

}  // namespace twill::simt
