#include "memory_checker.hpp"

#include <algorithm>

namespace twill::simt {
namespace {

const char* verb_of(access_kind kind) {
  if (!writes(kind)) return "loads";
  return reads(kind) ? "changes" : "stores";
}

std::string byte_count(std::size_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

constexpr char bounds_advice[] = "compare indices with the extents before each access";
constexpr char near_advice[] =
    "compare indices with the extents before each access, and upload host memory to a buffer";
constexpr char uninitialised_advice[] = "write, upload or fill memory before it is read";
constexpr char unstored_advice[] =
    "store it before it is read, or put a __syncthreads() between the store and this load";

}  // namespace

memory_checker::memory_checker(const memory_map& memory, const host::allocations& given, source_lines& lines,
                               detail::extent3 block, access_histories& histories)
    : memory_(memory), given_(given), lines_(lines), block_(block), histories_(histories) {
  histories_.begin_launch();
}

void memory_checker::begin_block(byte_range dynamic_shared, byte_range static_shared) {
  dynamic_ = dynamic_shared;
  static_ = static_shared;
  ++histories_.block_number;
  allows_uninitialised_ = false;
  const std::size_t bytes = dynamic_.bytes + static_.bytes;
  if (histories_.shared_written.size() < bytes) histories_.shared_written.resize(bytes, 0);
  histories_.races.reserve_direct(bytes);
  histories_.races.begin_interval();
}

std::string memory_checker::thread_text(unsigned thread) const {
  return "(" + std::to_string(thread % block_.x) + "," + std::to_string(thread / block_.x % block_.y) + "," +
         std::to_string(thread / block_.x / block_.y) + ")";
}

std::string memory_checker::text(const checked_access& access) const {
  return "thread " + thread_text(access.thread) + " " + verb_of(access.kind) + " " + byte_count(access.bytes) + " at " +
         short_text(lines_.of_call(access.place));
}

access_fault memory_checker::check_race(const char* memory, bool direct, std::uintptr_t first,
                                        const checked_access& access) {
  const auto earlier = histories_.races.add(direct, first, access.bytes, access.thread, access.kind, access.place);
  if (!earlier) return {};
  std::string other = earlier->by_several ? "other threads" : "thread " + thread_text(earlier->thread);
  other += earlier->store ? " stored" : " loaded";
  return {"race on " + std::string(memory) + " memory: " + text(access) + ", which " + other + " at " +
              short_text(lines_.of_call(earlier->place)) + " since the last barrier",
          "put a __syncthreads() between the two, or make both atomic"};
}

access_fault memory_checker::check_alignment(const checked_access& access) const {
  if (access.at % access.alignment == 0) return {};
  return {text(access) + ", at an address that is " + std::to_string(access.at % access.alignment) +
              " past a multiple of " + std::to_string(access.alignment),
          "GPUs fault there: align the address, or take the value in parts"};
}

access_fault memory_checker::check_global(const checked_access& access, const memory_map::range& range) {
  if (auto fault = check_alignment(access); !fault.why.empty()) return fault;
  const std::size_t offset = access.at - range.base;
  if (range.bytes - offset < access.bytes) {
    return {text(access) + ", the last of them " + byte_count(access.bytes - (range.bytes - offset)) +
                " past an allocation of " + byte_count(range.bytes),
            bounds_advice};
  }
  if (range.written != nullptr) {
    std::uint8_t* const flags = range.written + offset;
    if (reads(access.kind)) {
      for (std::size_t i = 0; i < access.bytes; ++i) {
        if (__atomic_load_n(flags + i, __ATOMIC_RELAXED) != 0) continue;
        return {text(access) + " of uninitialised device memory (byte " + std::to_string(offset + i) +
                    " of an allocation of " + byte_count(range.bytes) + ")",
                uninitialised_advice};
      }
    }
    for (std::size_t i = 0; writes(access.kind) && i < access.bytes; ++i) {
      __atomic_store_n(flags + i, std::uint8_t{1}, __ATOMIC_RELAXED);
    }
  }
  return check_race("global", false, access.at, access);
}

access_fault memory_checker::check_shared(const checked_access& access) {
  if (auto fault = check_alignment(access); !fault.why.empty()) return fault;
  const bool is_dynamic = dynamic_.holds(access.at);
  const std::size_t offset = access.at - (is_dynamic ? dynamic_.base : static_.base);
  if (is_dynamic && dynamic_.bytes - offset < access.bytes) {
    return {text(access) + ", past the " + byte_count(dynamic_.bytes) + " of dynamic shared memory", bounds_advice};
  }
  const std::size_t first = is_dynamic ? offset : dynamic_.bytes + offset;
  if (first + access.bytes > histories_.shared_written.size()) return {};
  for (std::size_t i = first; reads(access.kind) && !allows_uninitialised_ && i < first + access.bytes; ++i) {
    if (histories_.shared_written[i] == histories_.block_number) continue;
    return {text(access) + " of uninitialised shared memory", unstored_advice};
  }
  if (writes(access.kind)) {
    std::fill_n(histories_.shared_written.begin() + static_cast<std::ptrdiff_t>(first), access.bytes,
                histories_.block_number);
  }
  return check_race("shared", true, first, access);
}

access_fault memory_checker::check_unmapped(const checked_access& access) const {
  if (memory_.is_of_program(access.at)) return {};
  // Behind, or before, something of the device's? Looked for where an index that is one off would lead.
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that a kernel used, never followed here.
  const auto released = given_.find(reinterpret_cast<const void*>(access.at));
  if (released && released->released) {
    return {text(access) + " of a released allocation of " + byte_count(released->bytes),
            "release memory only when the work that uses it is done"};
  }
  if (access.at - dynamic_.base - dynamic_.bytes < 4096 && dynamic_.bytes > 0) {
    return {text(access) + ", " + byte_count(access.at - dynamic_.base - dynamic_.bytes) + " past the " +
                byte_count(dynamic_.bytes) + " of dynamic shared memory",
            bounds_advice};
  }
  // Further away than an index would lead, it is rather memory of the host.
  const auto is_near = [](std::size_t distance, const memory_map::range& of) {
    return distance < std::max<std::size_t>(of.bytes, 4096);
  };
  if (const auto* before = memory_.last_before(access.at)) {
    const std::size_t distance = access.at - before->base - before->bytes;
    if (is_near(distance, *before)) {
      return {
          text(access) + ", " + byte_count(distance) + " past the end of an allocation of " + byte_count(before->bytes),
          near_advice};
    }
  }
  if (const auto* after = memory_.first_after(access.at)) {
    const std::size_t distance = after->base - access.at;
    if (is_near(distance, *after)) {
      return {text(access) + ", " + byte_count(distance) + " before an allocation of " + byte_count(after->bytes),
              near_advice};
    }
  }
  return {text(access) + ", which is not device memory of this device",
          "host memory is not checked: upload it to a buffer; compare indices with the extents before each access"};
}

}  // namespace twill::simt
