#include <twill/ladder/transpose.hpp>
#include <twill/transpose.hpp>

#include <string>

#include "backends/backend.hpp"
#include "core/arguments.hpp"
#include "core/check.hpp"

namespace twill {
namespace {

using detail::transpose_rung_args;
using detail::transpose_rung_entry;

void run_memcpy(const detail::work_queue& queue, const transpose_rung_args& args) {
  const auto bytes = static_cast<std::size_t>(args.rows * args.cols * args.element_bytes);
  for (int i = 0; i < args.repeats; ++i) {
    queue.device->copy(queue.native, args.out, args.in, bytes, detail::copy_direction::device_to_device);
  }
}

void run_tuned(const detail::work_queue& queue, const transpose_rung_args& a) {
  const std::int64_t elements = a.rows * a.cols;
  for (int i = 0; i < a.repeats; ++i) {
    queue.device->operations().transpose(
        queue, {a.in, a.out, a.element_bytes, a.rows, a.cols, 1, a.cols, a.rows, elements, elements});
  }
}

// The top of every ladder of a GPU; the CPU's is called cpu-tuned.
const transpose_rung_entry tuned_rung{{"transpose",
                                       "tuned",
                                       "twill::transpose: 16 bytes an access, transposed in registers",
                                       "this library",
                                       rung_promise::transpose,
                                       {},
                                       true},
                                      nullptr,
                                      nullptr,
                                      &run_tuned};

bool has_tuned(const device& on) {
  return on.properties().backend != "cpu";
}

// The roof beside every ladder: the device's own memcpy of the same bytes.
const transpose_rung_entry memcpy_rung{{"transpose",
                                        "memcpy",
                                        "the device's own copy of the same bytes: the roof",
                                        "the runtime",
                                        rung_promise::copy,
                                        {},
                                        false},
                                       nullptr,
                                       nullptr,
                                       &run_memcpy};

const transpose_rung_entry& find(const device& on, std::string_view name) {
  if (name == memcpy_rung.info.name) return memcpy_rung;
  if (name == tuned_rung.info.name && has_tuned(on)) return tuned_rung;
  std::string known;
  for (const auto& entry : on.impl()->ladders().transpose) {
    if (entry.info.name == name) return entry;
    known.append(entry.info.name).append(", ");
  }
  detail::fail(errc::invalid_argument, "no transpose rung \"" + std::string(name) + "\" on " + on.properties().name,
               "there are: " + known + (has_tuned(on) ? "tuned, memcpy" : "memcpy"), "name one of those");
}

std::string text(block_shape block) {
  return std::to_string(block.x) + "x" + std::to_string(block.y);
}

bool fits(const device& on, const transpose_rung_entry& entry, std::int64_t element_bytes, block_shape block) {
  const auto& device = on.properties();
  if (block.x * block.y > device.max_threads_per_block) return false;
  return entry.shared_bytes == nullptr || entry.shared_bytes(element_bytes, block) <= device.shared_bytes_per_block;
}

// The block asked for, or the rung's default; checked against what the rung and the device have.
block_shape choose_block(const device& on, const transpose_rung_entry& entry, std::int64_t element_bytes,
                         block_shape asked) {
  if (entry.blocks == nullptr) return {};
  const bool is_default = asked.x == 0 && asked.y == 0;
  const block_shape block = is_default ? entry.info.block : asked;
  bool known = false;
  for (const auto* b = entry.blocks; b->x != 0; ++b) known = known || (b->x == block.x && b->y == block.y);
  detail::require(known, std::string(entry.info.name) + " has no block " + text(block),
                  "a tiled rung needs a square tile that the block divides", "ask transpose_rung_blocks");
  if (!fits(on, entry, element_bytes, block)) {
    detail::fail(errc::unsupported, std::string(entry.info.name) + " cannot run with block " + text(block),
                 on.properties().name + " has " + std::to_string(on.properties().max_threads_per_block) +
                     " threads and " + std::to_string(on.properties().shared_bytes_per_block) +
                     " bytes of shared memory a block",
                 "choose a smaller block or element");
  }
  return block;
}

void require_element_bytes(std::int64_t bytes) {
  detail::require(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16,
                  "a rung cannot move elements of " + std::to_string(bytes) + " bytes", "its kernels are simple",
                  "use 1, 2, 4, 8 or 16, or twill::transpose");
}

}  // namespace

std::vector<rung> transpose_rungs(const device& on) {
  std::vector<rung> rungs;
  for (const auto& entry : on.impl()->ladders().transpose) rungs.push_back(entry.info);
  if (has_tuned(on)) rungs.push_back(tuned_rung.info);
  rungs.push_back(memcpy_rung.info);
  return rungs;
}

std::vector<block_shape> transpose_rung_blocks(const device& on, std::string_view name, std::int64_t element_bytes) {
  require_element_bytes(element_bytes);
  const auto& entry = find(on, name);
  std::vector<block_shape> blocks;
  if (entry.blocks == nullptr) return blocks;
  for (const auto* b = entry.blocks; b->x != 0; ++b) {
    if (fits(on, entry, element_bytes, *b)) blocks.push_back(*b);
  }
  return blocks;
}

void transpose_rung(stream_ref stream, std::string_view name, const void* in, void* out, std::int64_t element_bytes,
                    std::int64_t rows, std::int64_t cols, const rung_options& options) {
  const auto& entry = find(stream.on(), name);
  require_element_bytes(element_bytes);
  const auto elements = detail::checked_product(rows, cols, "rows * cols");
  const auto bytes = detail::checked_product(elements, element_bytes, "the size in bytes");
  detail::require(options.repeats >= 1, "no repeats", std::to_string(options.repeats) + " were asked for",
                  "ask for at least 1");
  const auto block = choose_block(stream.on(), entry, element_bytes, options.block);
  if (elements == 0) return;
  detail::require_pointer(in, "in");
  detail::require_pointer(out, "out");
  detail::require_aligned(in, static_cast<std::size_t>(element_bytes), "in");
  detail::require_aligned(out, static_cast<std::size_t>(element_bytes), "out");
  detail::require_disjoint(in, bytes, out, bytes);
  auto& device = *stream.on().impl();
  entry.run({&device, stream.native()}, {in, out, element_bytes, rows, cols, block, options.repeats});
}

}  // namespace twill
