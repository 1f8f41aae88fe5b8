#include <twill/ladder/reduce.hpp>
#include <twill/reduce.hpp>

#include <string>

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

using detail::reduce_rung_args;
using detail::reduce_rung_entry;

void run_reduce_memcpy(const detail::work_queue& queue, const reduce_rung_args& a) {
  const std::size_t bytes = static_cast<std::size_t>(a.count) * element_bytes(a.type);
  for (int i = 0; i < a.repeats; ++i) {
    queue.device->copy(queue.native, a.scratch, a.in, bytes, detail::copy_direction::device_to_device);
  }
}

const reduce_rung_entry memcpy_reduce{{"reduce",
                                       "memcpy",
                                       "the device's own copy of the same bytes: they are written, too",
                                       "the runtime",
                                       rung_promise::nothing,
                                       {},
                                       false},
                                      nullptr,
                                      nullptr,
                                      &run_reduce_memcpy};

void run_tuned_reduce(const detail::work_queue& queue, const reduce_rung_args& a) {
  const detail::reduce_args args{detail::reduce_over::rows,
                                 reduce_op::sum,
                                 a.type,
                                 a.type,
                                 a.in,
                                 a.out,
                                 1,
                                 a.count,
                                 a.count,
                                 nullptr,
                                 a.scratch,
                                 static_cast<std::int64_t>(detail::reduce_scratch_limit),
                                 false};
  for (int i = 0; i < a.repeats; ++i) queue.device->operations->reduce.reduce(queue, args);
}

const reduce_rung_entry tuned_reduce{{"reduce",
                                      "tuned",
                                      "twill::reduce: one launch, 16 bytes a load, one tree on every device",
                                      "this library",
                                      rung_promise::result,
                                      {},
                                      true},
                                     nullptr,
                                     nullptr,
                                     &run_tuned_reduce};

detail::ladder<reduce_rung_args> reduce_ladder_of(const device& on) {
  return {on,
          detail::ladders_of(*on.impl()).ladders().reduce,
          {detail::has_tuned(on) ? &tuned_reduce : nullptr, &memcpy_reduce}};
}

void require_summed(element_type type) {
  switch (type) {
    case element_type::i32:
    case element_type::u32:
    case element_type::i64:
    case element_type::u64:
    case element_type::f32:
    case element_type::f64:
      return;
    default:
      detail::fail(errc::invalid_argument, "a rung cannot sum " + std::string(name(type)), "its kernels are simple",
                   "use i32, u32, i64, u64, f32 or f64");
  }
}

std::size_t scratch_bytes_of(const reduce_rung_entry& entry, element_type type, std::int64_t count) {
  const auto bytes =
      detail::checked_product(count, static_cast<std::int64_t>(element_bytes(type)), "the size in bytes");
  // Passes leave at most 1/64 of their input, the next ones 1/64 of that; the tuned rung has its own need.
  const std::int64_t passes =
      bytes / 32 + (std::int64_t{1} << 16) + static_cast<std::int64_t>(detail::reduce_scratch_limit);
  return static_cast<std::size_t>(entry.info.name == memcpy_reduce.info.name ? bytes : passes);
}

}  // namespace

std::vector<rung> reduce_rungs(const device& on) {
  return detail::in_call("reduce_rungs", [&] { return reduce_ladder_of(on).rungs(); });
}

std::vector<block_shape> reduce_rung_blocks(const device& on, std::string_view name, element_type type) {
  return detail::in_call("reduce_rung_blocks", [&] {
    require_summed(type);
    return reduce_ladder_of(on).blocks(name, static_cast<std::int64_t>(element_bytes(type)));
  });
}

std::size_t reduce_rung_scratch_bytes(const device& on, std::string_view name, element_type type, extent count) {
  return detail::in_call("reduce_rung_scratch_bytes", [&] {
    require_summed(type);
    const auto ladder = reduce_ladder_of(on);
    return scratch_bytes_of(ladder.find(name), type, count);
  });
}

namespace {

void run(const detail::work_queue& queue, const reduce_rung_entry& entry, const reduce_rung_args& a,
         std::size_t needed) {
  const auto each = static_cast<std::int64_t>(element_bytes(a.type));
  if (a.count == 0) {
    if (entry.info.promise != rung_promise::result) return;
    detail::require_pointer(a.out, "out");
    queue.device->fill(queue.native, a.out, 0, static_cast<std::size_t>(each));
    return;
  }
  const detail::named_memory input{"in", a.in, a.count * each}, output{"out", a.out, each},
      work{"scratch", a.scratch, static_cast<std::int64_t>(a.scratch_bytes)};
  detail::require_memory(input, 16);
  detail::require_memory(output, 16);
  detail::require_scratch({a.scratch, a.scratch_bytes}, needed, "reduce_rung");
  detail::require_all_disjoint(input, output, work);
  entry.run(queue, a);
}

}  // namespace

void reduce_rung(stream_ref stream, std::string_view name, const void* in, void* out, element_type type, extent count,
                 scratch_ref scratch, const rung_options& options) {
  detail::in_call("reduce_rung", [&] {
    const auto queue = detail::queue_of(stream);
    const auto ladder = reduce_ladder_of(stream.on());
    const auto& entry = ladder.find(name);
    require_summed(type);
    const std::size_t needed = scratch_bytes_of(entry, type, count);
    detail::require_repeats(options.repeats);
    const auto block = ladder.choose_block(entry, static_cast<std::int64_t>(element_bytes(type)), options.block);
    run(queue, entry, {in, out, scratch.data, scratch.bytes, type, count, block, options.repeats}, needed);
  });
}

}  // namespace twill
