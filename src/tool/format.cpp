#include "format.hpp"

#include <sstream>

#include <fmt/format.h>

namespace twill::tool {

std::string joined(const std::vector<std::string>& words, const char* between) {
  return fmt::format("{}", fmt::join(words, between));
}

std::string block_text(block_shape block) {
  return block.x == 0 ? "" : fmt::format("{}x{}", block.x, block.y);
}

std::string extents_text(const std::vector<std::int64_t>& sizes) {
  return fmt::format("{}", fmt::join(sizes, "x"));
}

std::string order_text(const std::vector<std::int64_t>& order) {
  return fmt::format("{}", fmt::join(order, ","));
}

std::string bytes_text(double bytes, int decimals) {
  static const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
  return unit == 0 ? fmt::format("{:.0f} bytes", bytes) : fmt::format("{:.{}f} {}", bytes, decimals, units[unit]);
}

std::string wrapped(const std::string& text, std::size_t width) {
  std::istringstream words(text);
  std::string lines;
  std::string line;
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      lines += line + "\n";
      line = "  " + word;
    } else {
      line += line.empty() ? word : " " + word;
    }
  }
  return lines + line;
}

std::string shortened(const std::string& text, std::size_t width) {
  if (text.size() <= width) return text;
  return width <= 2 ? text.substr(0, width) : text.substr(0, width - 2) + "..";
}

}  // namespace twill::tool
