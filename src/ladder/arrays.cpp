#include <twill/ladder/array.hpp>
#include <twill/scan.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include "backends/error.hpp"
#include "core/arguments.hpp"
#include "core/operations.hpp"
#include "ladder.hpp"
#include "ladder/operations.hpp"
#include "move/operations.hpp"
#include "reduce/operations.hpp"
#include "scan/operations.hpp"

namespace twill {
namespace {

using detail::array_rung_args;
using detail::array_rung_entry;

void run_memcpy(const detail::work_queue& queue, const array_rung_args& a) {
  const std::size_t bytes = static_cast<std::size_t>(a.count) * element_bytes(a.type);
  for (int i = 0; i < a.repeats; ++i) {
    queue.device->copy(queue.native, a.out, a.in, bytes, detail::copy_direction::device_to_device);
  }
}

void run_fill(const detail::work_queue& queue, const array_rung_args& a) {
  const std::size_t bytes = static_cast<std::size_t>(a.count) * element_bytes(a.type);
  for (int i = 0; i < a.repeats; ++i) queue.device->fill(queue.native, a.out, 0, bytes);
}

void run_scan(const detail::work_queue& queue, const array_rung_args& a) {
  const scan_options exclusive{scan_op::sum, true};
  for (int i = 0; i < a.repeats; ++i) {
    queue.device->operations->scan.scan(
        queue, {a.in, a.out, a.type, exclusive, 1, a.count, a.count, a.count, nullptr, 0, a.scratch});
  }
}

void run_reverse(const detail::work_queue& queue, const array_rung_args& a) {
  const auto bytes = static_cast<std::int64_t>(element_bytes(a.type));
  for (int i = 0; i < a.repeats; ++i) {
    if (a.count == 1) {
      run_memcpy(queue, {a.in, a.out, nullptr, 0, a.type, 1, {}, 1});
    } else {
      queue.device->operations->move.reverse(queue, {a.in, a.out, a.count, bytes});
    }
  }
}

void run_sieve(const detail::work_queue& queue, const array_rung_args& a) {
  detail::sieve_args args{};
  args.last = a.count;
  args.bits = static_cast<std::uint32_t*>(a.out);
  args.scratch = a.scratch;
  for (int i = 0; i < a.repeats; ++i) detail::ladders_of(*queue.device).sieve(queue, args);
}

struct public_operation {
  std::string_view op, lesson;
  void (*run)(const detail::work_queue&, const array_rung_args&);
};

constexpr public_operation tuned_operations[] = {
    {"scan", "twill::scan: one pass, tiles in registers, decoupled look-back over tile sums", &run_scan},
    {"reverse", "twill::reverse: 16 bytes an access, staged, reversed in registers", &run_reverse},
    {"sieve", "twill::sieve_bits: odd numbers as bits in shared memory, sieving primes only", &run_sieve},
};

// One ladder's rungs, by value: a table holds those of all operations.
class array_ladder {
 public:
  array_ladder(const device& on, std::string_view op) : device_(on) {
    for (const auto& each : detail::ladders_of(*on.impl()).ladders().arrays) {
      if (each.info.op == op) entries_.push_back(each);
    }
    if (entries_.empty()) {
      detail::fail(errc::invalid_argument, "no ladder of \"" + std::string(op) + "\"",
                   "there are scan, reverse, "
                   "increment and sieve",
                   "name one of those");
    }
    for (const auto& each : tuned_operations) {
      if (each.op != op) continue;
      const std::string_view name = detail::has_tuned(on) ? "tuned" : "cpu-tuned";
      entries_.push_back(
          {{each.op, name, each.lesson, "this library", rung_promise::result, {}, true}, nullptr, nullptr, each.run});
    }
    if (op == "sieve") {  // which reads nothing
      entries_.push_back({{entries_.front().info.op,
                           "fill",
                           "the device's own memset of the flags: the roof",
                           "the runtime",
                           rung_promise::nothing,
                           {},
                           false},
                          nullptr,
                          nullptr,
                          &run_fill});
      return;
    }
    entries_.push_back({{entries_.front().info.op,
                         "memcpy",
                         "the device's own copy of the same bytes: the roof",
                         "the runtime",
                         rung_promise::copy,
                         {},
                         false},
                        nullptr,
                        nullptr,
                        &run_memcpy});
  }

  std::vector<rung> rungs() const {
    std::vector<rung> list;
    for (const auto& each : entries_) list.push_back(each.info);
    return list;
  }

  const array_rung_entry& find(std::string_view name) const {
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [&](const auto& each) { return each.info.name == name; });
    if (found == entries_.end()) detail::fail_unknown_rung(device_, name, rungs());
    return *found;
  }

 private:
  const device& device_;
  std::vector<array_rung_entry> entries_;
};

void require_type(std::string_view op, element_type type) {
  const bool number =
      type == element_type::i32 || type == element_type::u32 || type == element_type::f32 || type == element_type::f64;
  const bool fits = op == "reverse" || (op == "sieve" ? type == element_type::i32 : number);
  if (fits) return;
  detail::fail(errc::invalid_argument, "the ladder of " + std::string(op) + " cannot take " + std::string(name(type)),
               "its kernels are simple", op == "sieve" ? "use i32" : "use i32, u32, f32 or f64");
}

std::int64_t size_in_bytes(element_type type, std::int64_t count) {
  return detail::checked_product(count, static_cast<std::int64_t>(element_bytes(type)), "the size in bytes");
}

}  // namespace

std::vector<rung> array_rungs(const device& on, std::string_view op) {
  return detail::in_call("array_rungs", [&] { return array_ladder(on, op).rungs(); });
}

std::vector<block_shape> array_rung_blocks(const device& on, std::string_view op, std::string_view name,
                                           element_type type) {
  return detail::in_call("array_rung_blocks", [&] {
    const array_ladder ladder(on, op);
    const auto& entry = ladder.find(name);
    require_type(op, type);
    return detail::fitting_blocks(on, {entry.info, entry.blocks, entry.shared_bytes, entry.is_compiled},
                                  static_cast<std::int64_t>(element_bytes(type)));
  });
}

std::size_t array_rung_scratch_bytes(const device& on, std::string_view op, element_type type, extent count) {
  return detail::in_call("array_rung_scratch_bytes", [&] {
    const array_ladder ladder(on, op);
    require_type(op, type);
    const std::int64_t bytes = size_in_bytes(type, count);
    if (op == "sieve") {
      if (count > std::int64_t{1} << 40) {
        detail::fail(errc::invalid_argument, "the sieve is too long", std::to_string(count) + " is beyond 2^40",
                     "sieve smaller numbers");
      }
      return detail::sieve_scratch(count);
    }
    if (op != "scan") return std::size_t{16};
    // The sums of parts of 128 elements or more, then the sums of such parts of those, and so on.
    const auto levels = static_cast<std::size_t>(bytes / 64 + (1 << 12));
    return std::max(levels, scan_scratch_bytes(on, type, count, {scan_op::sum, true}));
  });
}

void array_rung(stream_ref stream, std::string_view op, std::string_view name, const void* in, void* out,
                element_type type, extent count, scratch_ref scratch, const rung_options& options) {
  detail::in_call("array_rung", [&] {
    const auto queue = detail::queue_of(stream);
    const array_ladder ladder(stream.on(), op);
    const auto& entry = ladder.find(name);
    const std::size_t needed = array_rung_scratch_bytes(stream.on(), op, type, count);
    const std::int64_t bytes = size_in_bytes(type, count);
    detail::require_repeats(options.repeats);
    const auto block =
        detail::choose_block(stream.on(), {entry.info, entry.blocks, entry.shared_bytes, entry.is_compiled},
                             static_cast<std::int64_t>(element_bytes(type)), options.block);
    if (count == 0) return;
    const detail::named_memory input{"in", op == "sieve" ? nullptr : in, op == "sieve" ? 0 : bytes},
        output{"out", out, bytes}, work{"scratch", scratch.data, static_cast<std::int64_t>(scratch.bytes)};
    detail::require_memory(input, 16);
    detail::require_memory(output, 16);
    detail::require_scratch(scratch, needed, "array_rung");
    detail::require_all_disjoint(input, output, work);
    entry.run(queue, {in, out, scratch.data, scratch.bytes, type, count, block, options.repeats});
  });
}

}  // namespace twill
