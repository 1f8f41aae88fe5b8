#include "ladder.hpp"

namespace twill::detail {
namespace {

std::string text(block_shape block) {
  return std::to_string(block.x) + "x" + std::to_string(block.y);
}

bool is_compiled(const rung_blocks& rung, std::int64_t element_bytes, block_shape block) {
  return rung.is_compiled == nullptr || rung.is_compiled(element_bytes, block);
}

/// The element sizes that a rung has with a block: "1, 4, 8".
std::string compiled_sizes(const rung_blocks& rung, block_shape block) {
  std::string sizes;
  for (const std::int64_t bytes : {1, 2, 4, 8, 16}) {
    if (is_compiled(rung, bytes, block)) sizes.append(sizes.empty() ? "" : ", ").append(std::to_string(bytes));
  }
  return sizes;
}

bool fits(const device& on, const rung_blocks& rung, std::int64_t element_bytes, block_shape block) {
  const auto& device = on.properties();
  if (block.x * block.y > device.max_threads_per_block) return false;
  return rung.shared_bytes == nullptr || rung.shared_bytes(element_bytes, block) <= device.shared_bytes_per_block;
}

}  // namespace

block_shape choose_block(const device& on, const rung_blocks& rung, std::int64_t element_bytes, block_shape asked) {
  if (rung.blocks == nullptr) return {};
  const bool is_default = asked.x == 0 && asked.y == 0;
  const block_shape block = is_default ? rung.info.block : asked;
  bool known = false;
  std::string there;
  for (const auto* b = rung.blocks; b->x != 0; ++b) {
    known = known || (b->x == block.x && b->y == block.y);
    there.append(there.empty() ? "" : ", ").append(text(*b));
  }
  if (!known) {
    fail(errc::invalid_argument, std::string(rung.info.name) + " has no block " + text(block), "it has " + there,
         "choose one of those");
  }
  if (!is_compiled(rung, element_bytes, block)) {
    fail(errc::unsupported,
         std::string(rung.info.name) + " with block " + text(block) + " is not compiled for elements of " +
             std::to_string(element_bytes) + " bytes",
         "it is for " + compiled_sizes(rung, block),
         "choose another type or block, or use twill::" + std::string(rung.info.op));
  }
  if (!fits(on, rung, element_bytes, block)) {
    fail(errc::unsupported, std::string(rung.info.name) + " cannot run with block " + text(block),
         on.properties().name + " has " + std::to_string(on.properties().max_threads_per_block) + " threads and " +
             std::to_string(on.properties().shared_bytes_per_block) + " bytes of shared memory a block",
         "choose a smaller block or element");
  }
  return block;
}

std::vector<block_shape> fitting_blocks(const device& on, const rung_blocks& rung, std::int64_t element_bytes) {
  std::vector<block_shape> blocks;
  if (rung.blocks == nullptr) return blocks;
  for (const auto* b = rung.blocks; b->x != 0; ++b) {
    if (is_compiled(rung, element_bytes, *b) && fits(on, rung, element_bytes, *b)) blocks.push_back(*b);
  }
  return blocks;
}

void fail_unknown_rung(const device& on, std::string_view name, const std::vector<rung>& known) {
  std::string there;
  for (const auto& each : known) there.append(there.empty() ? "" : ", ").append(each.name);
  const std::string op(known.empty() ? "ladder" : known.front().op);
  fail(errc::invalid_argument, "no " + op + " rung \"" + std::string(name) + "\" on " + on.properties().name,
       "there are: " + there, "name one of those");
}

void require_repeats(int repeats) {
  if (repeats >= 1) return;
  fail(errc::invalid_argument, "no repeats", std::to_string(repeats) + " were asked for", "ask for at least 1");
}

bool has_tuned(const device& on) {
  return on.properties().backend != "cpu";
}

}  // namespace twill::detail
