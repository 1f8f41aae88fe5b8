#include "parse.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "text.hpp"

namespace twill::tool {
namespace {

const std::vector<element_type>& known_types() {
  static const std::vector<element_type> types = [] {
    using kind = twill::element_type;
    std::vector<element_type> list;
    for (const kind each : {kind::u8, kind::u16, kind::u32, kind::u64, kind::i8, kind::i16, kind::i32, kind::i64,
                            kind::f16, kind::bf16, kind::f32, kind::f64, kind::c64, kind::c128}) {
      list.push_back({std::string(name(each)), static_cast<std::int64_t>(element_bytes(each)), each});
    }
    return list;
  }();
  return types;
}

/// What stands for a number that 63 bits do not hold.
constexpr std::int64_t beyond = -1;

/// Reads an integer, 0 or more, and moves `at` behind it.
std::optional<std::int64_t> parse_number(const char*& at, const char* end) {
  std::int64_t number = 0;
  if (at != end && *at == '-') return std::nullopt;
  const auto [rest, problem] = std::from_chars(at, end, number);
  if (problem == std::errc::invalid_argument) return std::nullopt;
  at = rest;
  return problem == std::errc{} ? number : beyond;
}

/// Reads "12" or "2^24".
std::optional<std::int64_t> parse_power(const char*& at, const char* end) {
  const auto base = parse_number(at, end);
  if (!base || at == end || *at != '^') return base;
  const auto exponent = parse_number(++at, end);
  if (!exponent) return std::nullopt;
  if (*base == 0 && *exponent == 0) return std::nullopt;  // has no value
  if (*base == 0 || *base == 1) return base;
  if (*base == beyond || *exponent == beyond) return beyond;
  std::int64_t power = 1;
  for (std::int64_t i = 0; i < *exponent; ++i) {
    if (power > std::numeric_limits<std::int64_t>::max() / *base) return beyond;
    power *= *base;
  }
  return power;
}

/// "12x2^5" as {12, 32}, with `beyond` where one does not fit; empty when any part is no integer.
std::vector<std::int64_t> parse_numbers(const std::string& text) {
  std::vector<std::int64_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    const auto number = parse_power(at, end);
    if (!number) return {};
    numbers.push_back(*number);
    if (at == end) return numbers;
    if (*at++ != 'x') return {};
  }
  return {};
}

/// "b3": elements of three bytes, which are moved and not calculated with.
std::optional<element_type> parse_sized_type(const std::string& text) {
  constexpr std::int64_t largest = 64;
  if (text.size() < 2 || text.front() != 'b') return std::nullopt;
  const char* at = text.data() + 1;
  const char* const end = text.data() + text.size();
  const auto bytes = parse_number(at, end);
  if (!bytes || at != end || *bytes < 1 || *bytes > largest) return std::nullopt;
  return element_type{text, *bytes, twill::element_type::u8};
}

}  // namespace

element_type parse_type(const std::string& text) {
  if (const auto sized = parse_sized_type(text)) return *sized;
  std::vector<std::string> names;
  for (const element_type& type : known_types()) {
    if (type.name == text) return type;
    names.push_back(type.name);
  }
  refuse(fmt::format("no element type \"{}\"", text), "known: " + joined(names) + ", b1 to b64",
         "choose one of these with --type");
}

extents parse_size(const std::string& text) {
  extents sizes = parse_numbers(text);
  if (sizes.empty()) {
    refuse(fmt::format("size \"{}\" not understood", text), "expected ROWSxCOLS or a length, in integers",
           "write for example --size 4096x4096 or --size 2^22");
  }
  if (std::find(sizes.begin(), sizes.end(), beyond) != sizes.end()) {
    refuse(fmt::format("size {} is too large", text), "it overflows a 64-bit signed integer",
           "choose a smaller --size");
  }
  for (const std::int64_t extent : sizes) {
    if (extent == 0) {
      refuse(fmt::format("size {} has no elements", text), "nothing to measure",
             "give every extent as 1 or more, for example --size 1x4096");
    }
  }
  return sizes;
}

block_shape parse_block(const std::string& text) {
  const std::vector<std::int64_t> numbers = parse_numbers(text);
  const auto fits = [](std::int64_t extent) { return extent >= 1 && extent <= std::numeric_limits<int>::max(); };
  if (numbers.size() != 2 || !fits(numbers[0]) || !fits(numbers[1])) {
    refuse(fmt::format("block \"{}\" not understood", text), "expected XxY threads, each 1 or more",
           "write for example --block 32x8");
  }
  return {static_cast<int>(numbers[0]), static_cast<int>(numbers[1])};
}

extents parse_order(const std::string& text) {
  std::string with_x = text;
  std::replace(with_x.begin(), with_x.end(), ',', 'x');
  const extents order = text.find('x') == std::string::npos ? parse_numbers(with_x) : extents{};
  if (order.empty() || std::find(order.begin(), order.end(), beyond) != order.end()) {
    refuse(fmt::format("order \"{}\" not understood", text), "expected the dimensions, 0 first, between commas",
           "write for example --order 2,0,1");
  }
  return order;
}

extents parse_strides(const std::string& what, const std::string& text) {
  constexpr std::int64_t largest = std::int64_t{1} << 60;
  if (text.empty() || text == "-") return {};
  extents strides;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::int64_t stride = 0;
    const auto [rest, problem] = std::from_chars(at, end, stride);
    if (problem != std::errc{} || stride == 0 || stride > largest || stride < -largest) break;
    strides.push_back(stride);
    if (rest == end) return strides;
    if (*rest != ',') break;
    at = rest + 1;
  }
  refuse(fmt::format("{} \"{}\" not understood", what, text),
         "expected a stride in elements for each dimension, none of them 0, between commas",
         "write for example 8192,-1");
}

std::vector<loop_kind> parse_loop(const std::string& text) {
  if (text == "over") return {loop_kind::over};
  if (text == "in") return {loop_kind::in};
  if (text == "both") return {loop_kind::over, loop_kind::in};
  refuse(fmt::format("no timing loop \"{}\"", text), "known: over, in, both", "choose one of these with --loop");
}

std::int64_t parse_count(const std::string& option, const std::string& text, std::int64_t least,
                         const std::string& example) {
  const std::vector<std::int64_t> numbers = parse_numbers(text);
  if (numbers.size() == 1 && numbers.front() == beyond) {
    refuse(fmt::format("{} {} is too large", option, text), "it overflows a 64-bit signed integer",
           fmt::format("write for example {} {}", option, example));
  }
  if (numbers.size() != 1 || numbers.front() < least) {
    refuse(fmt::format("{} \"{}\" not understood", option, text), fmt::format("expected an integer from {} on", least),
           fmt::format("write for example {} {}", option, example));
  }
  return numbers.front();
}

std::int64_t checked_product(const std::vector<std::int64_t>& factors, const std::string& what,
                             const std::string& suggestion) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    if (factor != 0 && product > std::numeric_limits<std::int64_t>::max() / factor) {
      refuse(what + " is too large", "its bytes overflow a 64-bit signed integer", suggestion);
    }
    product *= factor;
  }
  return product;
}

}  // namespace twill::tool
