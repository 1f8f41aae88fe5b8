#include <twill/ladder/transpose.hpp>

#include <string>

#include "backends/error.hpp"
#include "core/arguments.hpp"
#include "core/operations.hpp"
#include "ladder.hpp"
#include "ladder/operations.hpp"
#include "move/operations.hpp"
#include "move/plan/normal_form.hpp"
#include "reduce/operations.hpp"
#include "scan/operations.hpp"

namespace twill {
namespace {

using detail::transpose_rung_args;
using detail::transpose_rung_entry;

void run_transpose_memcpy(const detail::work_queue& queue, const transpose_rung_args& args) {
  const auto bytes = static_cast<std::size_t>(args.rows * args.cols * args.element_bytes);
  for (int i = 0; i < args.repeats; ++i) {
    queue.device->copy(queue.native, args.out, args.in, bytes, detail::copy_direction::device_to_device);
  }
}

void run_tuned_transpose(const detail::work_queue& queue, const transpose_rung_args& a) {
  const std::int64_t elements = a.rows * a.cols;
  const detail::permute_args form =
      detail::normal_form_of({a.in, a.out, a.element_bytes, a.rows, a.cols, 1, a.cols, a.rows, elements, elements});
  for (int i = 0; i < a.repeats; ++i) queue.device->operations->move.permute(queue, form);
}

// The top of every ladder of a GPU; the CPU's is called cpu-tuned.
const transpose_rung_entry tuned_transpose{{"transpose",
                                            "tuned",
                                            "twill::transpose: 16 bytes an access, transposed in registers",
                                            "this library",
                                            rung_promise::transpose,
                                            {},
                                            true},
                                           nullptr,
                                           nullptr,
                                           &run_tuned_transpose};

// The roof beside every ladder: the device's own memcpy of the same bytes.
const transpose_rung_entry memcpy_transpose{{"transpose",
                                             "memcpy",
                                             "the device's own copy of the same bytes: the roof",
                                             "the runtime",
                                             rung_promise::copy,
                                             {},
                                             false},
                                            nullptr,
                                            nullptr,
                                            &run_transpose_memcpy};

detail::ladder<transpose_rung_args> transpose_ladder_of(const device& on) {
  return {on,
          detail::ladders_of(*on.impl()).ladders().transpose,
          {detail::has_tuned(on) ? &tuned_transpose : nullptr, &memcpy_transpose}};
}

void require_element_bytes(std::int64_t bytes) {
  if (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16) return;
  detail::fail(errc::invalid_argument, "a rung cannot move elements of " + std::to_string(bytes) + " bytes",
               "its kernels are simple", "use 1, 2, 4, 8 or 16, or twill::transpose");
}

}  // namespace

std::vector<rung> transpose_rungs(const device& on) {
  return detail::in_call("transpose_rungs", [&] { return transpose_ladder_of(on).rungs(); });
}

std::vector<block_shape> transpose_rung_blocks(const device& on, std::string_view name, extent element_bytes) {
  return detail::in_call("transpose_rung_blocks", [&] {
    require_element_bytes(element_bytes);
    return transpose_ladder_of(on).blocks(name, element_bytes);
  });
}

void transpose_rung(stream_ref stream, std::string_view name, const void* in, void* out, extent element_bytes,
                    extent rows, extent cols, const rung_options& options) {
  detail::in_call("transpose_rung", [&] {
    const auto queue = detail::queue_of(stream);
    const auto ladder = transpose_ladder_of(stream.on());
    const auto& entry = ladder.find(name);
    require_element_bytes(element_bytes);
    const auto elements = detail::checked_product(rows, cols, "rows * cols");
    const auto bytes = detail::checked_product(elements, element_bytes, "the size in bytes");
    detail::require_repeats(options.repeats);
    const auto block = ladder.choose_block(entry, element_bytes, options.block);
    if (elements == 0) return;
    const detail::named_memory input{"in", in, bytes}, output{"out", out, bytes};
    detail::require_memory(input, static_cast<std::size_t>(element_bytes));
    detail::require_memory(output, static_cast<std::size_t>(element_bytes));
    detail::require_disjoint(input, output);
    entry.run(queue, {in, out, element_bytes, rows, cols, block, options.repeats});
  });
}

}  // namespace twill
