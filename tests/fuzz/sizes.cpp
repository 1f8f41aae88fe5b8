// The words of the tool's command line: sizes, types, blocks, orders, loops.

#include "tool/parse.hpp"

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  fuzz::parse([&] {
    const auto extents = twill::tool::parse_size(text);
    for (const std::int64_t extent : extents) {
      if (extent < 1) __builtin_trap();
    }
    if (twill::tool::checked_product(extents, "elements") < 1) __builtin_trap();
  });
  fuzz::parse([&] {
    if (twill::tool::parse_type(text).bytes < 1) __builtin_trap();
  });
  fuzz::parse([&] {
    const auto block = twill::tool::parse_block(text);
    if (block.x < 1 || block.y < 1) __builtin_trap();
  });
  fuzz::parse([&] { (void)twill::tool::parse_order(text); });
  fuzz::parse([&] { (void)twill::tool::parse_loop(text); });
  return 0;
}
