#include "host_access.hpp"

#include <optional>

#include "backends/error.hpp"

namespace twill::simt {
namespace {

using host::allocation;

struct row_range {
  std::uintptr_t first;
  std::size_t bytes;
};

row_range row_of(const host_access& a, std::int64_t row) {
  return {reinterpret_cast<std::uintptr_t>(a.first) + static_cast<std::uintptr_t>(row * a.pitch), a.row_bytes};
}

bool is_inside(const allocation& memory, const row_range& row) {
  return memory.holds(row.first) && memory.bytes - (row.first - memory.base) >= row.bytes;
}

// Rows lie at equal distances: when the first and the last are inside, all are.
bool is_inside(const allocation& memory, const host_access& a) {
  return is_inside(memory, row_of(a, 0)) && is_inside(memory, row_of(a, a.rows - 1));
}

std::string bytes_text(std::uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::string text_of(const allocation& memory, const std::string& device) {
  return "allocation " + std::to_string(memory.serial) + " of " + device + ", " + bytes_text(memory.bytes);
}

std::string problem(const host_access& a, const char* what) {
  return std::string(a.access) + " " + what;
}

[[noreturn]] void fail_outside(const host_access& a, const allocation& memory, const std::string& device) {
  std::int64_t row = 0;
  while (is_inside(memory, row_of(a, row))) ++row;
  const auto offset = static_cast<std::int64_t>(row_of(a, row).first - memory.base);
  const std::string where = (a.rows > 1 ? "row " + std::to_string(row) + ", " : "") + bytes_text(a.row_bytes) +
                            " at offset " + std::to_string(offset) + " of " + text_of(memory, device);
  detail::fail(errc::invalid_argument, problem(a, "outside an allocation"), where,
               "compare extents and pitches with the size of the allocation");
}

}  // namespace

void require_device_memory(const host_access& a, const host::allocations& all, const std::string& device, bool strict) {
  const std::optional<allocation> memory = strict ? all.find(a.first) : all.find_live(a.first);
  if (!memory) {
    if (!strict) return;
    detail::fail(errc::invalid_argument, problem(a, "memory that is not device memory"),
                 bytes_text(a.row_bytes) + " outside every allocation of " + device, "pass device memory");
  }
  if (memory->released) {
    const auto offset = reinterpret_cast<std::uintptr_t>(a.first) - memory->base;
    detail::fail(errc::invalid_argument, problem(a, "released memory"),
                 bytes_text(a.row_bytes) + " at offset " + std::to_string(offset) + " of " + text_of(*memory, device),
                 "release memory only when the work that uses it is done");
  }
  if (!is_inside(*memory, a)) fail_outside(a, *memory, device);
}

void require_host_memory(const host_access& a, const host::allocations& all, const std::string& device) {
  const std::optional<allocation> memory = all.find_live(a.first);
  if (!memory) return;
  detail::fail(errc::invalid_argument, problem(a, "device memory where host memory is expected"),
               text_of(*memory, device), "pass host memory, or use copy");
}

}  // namespace twill::simt
