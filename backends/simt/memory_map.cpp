#include "memory_map.hpp"

#include <link.h>

#include <algorithm>

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

}  // namespace

memory_map::memory_map(const host::allocations& given) {
  std::uint64_t next = large_page;
  for (const auto& one : given.live_by_age()) {
    const std::uint64_t alignment = one.bytes >= large_page / 2 ? large_page : small_alignment;
    next = (next + alignment - 1) / alignment * alignment;
    range r;
    r.base = one.base;
    r.bytes = one.bytes;
    r.device_address = next;
    ranges_.push_back(r);
    next += one.bytes;
  }
  std::sort(ranges_.begin(), ranges_.end(), [](const range& a, const range& b) { return a.base < b.base; });
}

const memory_map::range* memory_map::find(std::uintptr_t address) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                      [](std::uintptr_t at, const range& r) { return at < r.base; });
  if (after == ranges_.begin() || !std::prev(after)->holds(address)) return nullptr;
  return &*std::prev(after);
}

byte_range thread_locals_of(const void* code) {
  module_search search{reinterpret_cast<std::uintptr_t>(code), {}};
  dl_iterate_phdr(&visit_module, &search);
  return search.found;
}

}  // namespace twill::simt
